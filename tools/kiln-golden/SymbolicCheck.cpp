//===- SymbolicCheck.cpp - The simplifier against the reference's --------===//
//
// A simplifier can go wrong in two ways: its result has another value, or it is not simple, so that masks stay in
// kernels that need none. Each case is an expression, built bottom-up with kiln's constructors. The result must have
// the same value for all values of its variables, by the operators' definitions and not by any simplifier's; no more
// nodes than the reference's; and bounds no looser than the reference's and no tighter than the truth.
//
//===----------------------------------------------------------------------===//
#include "tools/kiln-golden/Report.h"
#include "view/Expr.h"

#include <map>
#include <sstream>

using namespace kiln::golden;
using kiln::view::Expr;

namespace {

/// An S-expression: a leaf or an operator with operands.
struct Tree {
  std::string text;
  std::vector<Tree> operands;
};

class TreeReader {
public:
  explicit TreeReader(const std::string &text) {
    for (char c : text) {
      if (c == '(' || c == ')')
        spaced_ << ' ' << c << ' ';
      else
        spaced_ << c;
    }
  }
  Tree read() {
    std::string token;
    spaced_ >> token;
    if (token != "(")
      return {token, {}};
    Tree tree;
    spaced_ >> tree.text;
    while ((spaced_ >> std::ws).peek() != ')' && spaced_)
      tree.operands.push_back(read());
    spaced_ >> token;
    return tree;
  }

private:
  std::stringstream spaced_;
};

using Environment = std::map<std::string, std::pair<Expr, int64_t>>;

bool isNumber(const std::string &text) {
  return !text.empty() && (std::isdigit((unsigned char)text[0]) || (text[0] == '-' && text.size() > 1));
}

std::optional<Expr> build(const Tree &tree, const Environment &variables, Report &report) {
  if (tree.operands.empty()) {
    if (isNumber(tree.text))
      return Expr(int64_t(std::stoll(tree.text)));
    auto it = variables.find(tree.text);
    if (it == variables.end()) {
      report.mismatch("unknown variable '" + tree.text + "'");
      return std::nullopt;
    }
    return it->second.first;
  }
  std::vector<Expr> v;
  for (const Tree &operand : tree.operands) {
    std::optional<Expr> e = build(operand, variables, report);
    if (!e)
      return std::nullopt;
    v.push_back(*e);
  }
  if (tree.text == "+")
    return sum(v);
  if (tree.text == "and")
    return logicalAnd(v);
  if (v.size() == 2) {
    if (tree.text == "*")
      return v[0] * v[1];
    if (tree.text == "//")
      return floorDiv(v[0], v[1]);
    if (tree.text == "%")
      return mod(v[0], v[1]);
    if (tree.text == "<")
      return less(v[0], v[1]);
    if (tree.text == ">=")
      return greaterEqual(v[0], v[1]);
  }
  report.mismatch("unknown operator '" + tree.text + "'");
  return std::nullopt;
}

/// The value by the definition of each operator, no simplifier between.
int64_t value(const Tree &tree, const Environment &variables) {
  if (tree.operands.empty())
    return isNumber(tree.text) ? std::stoll(tree.text) : variables.at(tree.text).second;
  std::vector<int64_t> v;
  for (const Tree &operand : tree.operands)
    v.push_back(value(operand, variables));
  int64_t result = v[0];
  for (size_t i = 1; i < v.size(); ++i) {
    int64_t b = v[i], rest = tree.text == "//" || tree.text == "%" ? ((result % b) + b) % b : 0;
    result = tree.text == "+"    ? result + b
             : tree.text == "*"  ? result * b
             : tree.text == "//" ? (result - rest) / b
             : tree.text == "%"  ? rest
             : tree.text == "<"  ? result < b
             : tree.text == ">=" ? result >= b
                                 : result && b;
  }
  return result;
}

void checkEverywhere(const Tree &tree, Expr e, const Json &vars, Environment &variables, Report &report) {
  std::vector<int64_t> lows, highs;
  std::vector<std::string> names;
  for (const Json &v : vars) {
    names.push_back(v["name"]);
    lows.push_back(v["min"]);
    highs.push_back(v["max"]);
    variables[names.back()].second = lows.back();
  }
  while (true) {
    llvm::DenseMap<Expr, int64_t> values;
    for (auto &[name, variable] : variables)
      values[variable.first] = variable.second;
    int64_t want = value(tree, variables);
    std::optional<int64_t> got = e.evaluate(values);
    if (got != want) {
      std::string where;
      for (auto &[name, variable] : variables)
        where += " " + name + "=" + std::to_string(variable.second);
      return report.mismatch(e.render() + " is " + (got ? std::to_string(*got) : "undefined") + ", not " +
                             std::to_string(want) + ", at" + where);
    }
    size_t i = 0;
    for (; i < names.size() && variables[names[i]].second == highs[i]; ++i)
      variables[names[i]].second = lows[i];
    if (i == names.size())
      return;
    ++variables[names[i]].second;
  }
}

void checkCase(const Json &c, Report &report) {
  report.expectFields(c, {"kind", "vars", "expr", "sexpr", "simplified", "min", "max", "true_min", "true_max"});
  Environment variables;
  for (const Json &v : c.at("vars")) {
    report.expectFields(v, {"name", "min", "max"});
    variables[v.at("name")] = {Expr::variable(v.at("name").get<std::string>(), v.at("min"), v.at("max").get<int64_t>()),
                               0};
  }
  Tree tree = TreeReader(c.at("sexpr").get<std::string>()).read();
  std::optional<Expr> built = build(tree, variables, report);
  if (!built)
    return;
  Expr e = *built;
  std::string simplified = c.at("simplified");
  if (countNodes(e.render()) > countNodes(simplified))
    report.mismatch(e.render() + " has more nodes than " + simplified);
  auto expectBound = [&](const char *name, bool loose, bool tight, int64_t got) {
    if (loose || tight)
      report.mismatch(std::string(name) + " of " + e.render() + " is " + std::to_string(got) +
                      (loose ? ", looser than " : ", tighter than the true ") +
                      c.at(loose ? name : std::string("true_") + name).dump());
  };
  expectBound("min", e.min() < c.at("min"), e.min() > c.at("true_min"), e.min());
  expectBound("max", e.max() > c.at("max"), e.max() < c.at("true_max"), e.max());
  checkEverywhere(tree, e, c.at("vars"), variables, report);
  llvm::Expected<Expr> again = Expr::parse(e.print());
  if (!again)
    report.mismatch(llvm::toString(again.takeError()));
  else if (*again != e)
    report.mismatch(e.print() + " reads back as " + again->print());
}

} // namespace

void kiln::golden::checkSymbolic(const Json &file, Report &report) {
  for (const auto &item : file.items())
    if (item.key() != "source" && item.key() != "commit" && item.key() != "cases") {
      report.begin("file");
      report.mismatch("unknown field '" + item.key() + "'");
      report.end();
    }
  size_t number = 0;
  for (const Json &c : file.at("cases")) {
    report.begin("case " + std::to_string(number++) + " " + c.value("expr", "?"));
    checkCase(c, report);
    report.end();
  }
}
