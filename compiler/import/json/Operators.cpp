#include "import/json/Operators.h"

#include "support/Nearest.h"
#include "support/Page.h"

#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::json;
using namespace mlir;
using llvm::StringRef;
using llvm::Twine;

static std::array<ArrayRef<Operator>, 5> families() {
  return {elementwiseOperators(), movementOperators(), reduceOperators(), windowOperators(), modelOperators()};
}

static const Operator *findOperator(StringRef name) {
  static const llvm::StringMap<const Operator *> table = [] {
    llvm::StringMap<const Operator *> rows;
    for (ArrayRef<Operator> family : families())
      for (const Operator &row : family)
        rows[row.name] = &row;
    return rows;
  }();
  return table.lookup(name);
}

/// The rows of Alu.def whose operands and result follow from the operands alone.
static bool isPrimitive(Alu kind) {
  AluRule rule = aluInfo(kind).rule;
  return rule == AluRule::Same || rule == AluRule::Compare;
}

std::vector<std::string> kiln::import::json::operatorNames() {
  std::vector<std::string> names;
  for (ArrayRef<Operator> family : families())
    for (const Operator &row : family)
      names.push_back(row.name.str());
#define KILN_ALU(NAME, mnemonic, ...)                                                                                  \
  if (isPrimitive(Alu::NAME) && !findOperator(#mnemonic))                                                              \
    names.push_back(#mnemonic);
#include "ir/base/Alu.def"
  llvm::sort(names);
  return names;
}

std::vector<std::string> kiln::import::json::attributesOf(StringRef op) {
  const Operator *row = findOperator(op);
  return row ? std::vector<std::string>(row->attributes.begin(), row->attributes.end()) : std::vector<std::string>();
}

static bool checkInputs(Node &node, unsigned least, unsigned most) {
  if (node.inputs() >= least && node.inputs() <= most)
    return true;
  std::string wanted = least == most           ? std::to_string(least)
                       : most == Operator::any ? std::to_string(least) + " or more"
                                               : std::to_string(least) + " to " + std::to_string(most);
  node.b.fail("there are " + Twine(node.inputs()) + " inputs", "the operator takes " + wanted);
  return false;
}

static bool checkAttributes(Node &node, const Json &json, ArrayRef<StringLiteral> known) {
  static constexpr StringLiteral structure[] = {"name", "op", "inputs", "output", "outputs", "description"};
  for (const auto &[key, value] : json.items())
    if (!llvm::is_contained(structure, key) && !llvm::is_contained(known, key)) {
      node.b.fail("the operator has no attribute '" + key + "'",
                  known.empty() ? Twine("it has none") : "it has " + Twine(llvm::join(known, ", ")));
      return false;
    }
  return true;
}

SmallVector<Value> kiln::import::json::buildOperator(StringRef op, const Json &json, Node &node) {
  SmallVector<Value> results;
  if (const Operator *row = findOperator(op)) {
    if (!checkInputs(node, row->minInputs, row->maxInputs) || !checkAttributes(node, json, row->attributes))
      return {};
    results = row->build(node).values;
  } else if (std::optional<Alu> kind = symbolizeAlu(op); kind && isPrimitive(*kind)) {
    unsigned arity = aluInfo(*kind).arity;
    if (!checkInputs(node, arity, arity) || !checkAttributes(node, json, {}))
      return {};
    SmallVector<Operand> operands;
    for (unsigned i = 0; i < arity; ++i)
      operands.push_back(node.operand(i));
    results = {node.b.alu(*kind, operands)};
  } else {
    std::vector<std::string> names = operatorNames();
    node.b.fail("unknown operator '" + op + "'", didYouMean(op, llvm::to_vector_of<StringRef>(names),
                                                            pagePath("json-graph.md") + " lists the operators"));
    return {};
  }
  if (node.b.ok() && results.size() != node.outputs())
    node.b.fail("the operator has " + Twine(results.size()) + " results, the node names " + Twine(node.outputs()),
                "name them all in outputs");
  return results;
}
