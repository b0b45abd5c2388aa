//===- TabulateBytes.cpp - Functions of one byte as tables ---------------------------===//
// Stage: lower (uop → uop).
// Between two roundings to 8 bits a quantised model computes functions of one byte: a GELU or SiLU of a dequantised
// tensor, which is quantised again. Such a function has 256 values, whatever it is made of. They are computed here, by
// the definitions that the graph interpreter has, too, and become a weight. The kernel looks them up.
// Expects: lowered kernels, whose operations are still those of the graph; a target that looks up bytes of vectors.
// Guarantees: a byte that follows from another one alone is looked up, if that takes fewer operations.
// Position: before uops are rewritten, which makes many operations of a function; scales and zero points that are part
// of a table are no numbers any more by which kernels differ.
//===---------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/lower/LaunchWeights.h"
#include "passes/lower/RewriteSets.h"

#include "ir/base/AluTraits.h"
#include "ir/base/Evaluate.h"
#include "ir/base/Target.h"

using namespace kiln;
using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_TABULATEBYTES
#include "passes/Passes.h.inc"
} // namespace kiln

static constexpr unsigned kBytes = 256;
/// A look-up is two permutations and a choice. It replaces operations that take at least so many steps (Alu.def).
static constexpr double kLeastSteps = 8;
/// Functions between two bytes are shorter, so longer ones are not looked at.
static constexpr size_t kMostOperations = 128;

namespace {
/// A byte that operations of constants make of another byte.
struct ByteFunction {
  Value from;
  SmallVector<uop::AluOp> operations; ///< operands first; the last one makes the byte
};

struct TabulateBytes : kiln::impl::TabulateBytesBase<TabulateBytes> {
  void runOnOperation() override;
};
} // namespace

static bool isByte(Value value) { return getElementTypeOrSelf(value.getType()).isInteger(8); }

/// The bytes that an operation's result follows from, lane by lane; nullopt if it follows from other values, too.
static std::optional<llvm::SetVector<Value>> bytesBefore(uop::AluOp result) {
  llvm::SetVector<Value> bytes, seen;
  seen.insert(result->operand_begin(), result->operand_end());
  for (size_t i = 0; i < seen.size(); ++i) {
    Value value = seen[i];
    if (lower::constantOf(value))
      continue;
    auto alu = value.getDefiningOp<uop::AluOp>();
    if (isByte(value))
      bytes.insert(value);
    else if (alu && seen.size() <= kMostOperations)
      seen.insert(alu->operand_begin(), alu->operand_end());
    else
      return std::nullopt;
  }
  return bytes;
}

/// The one byte that a result follows from, as far back as possible; null if it follows from several values.
static Value originOf(uop::AluOp result, const llvm::DenseMap<Operation *, unsigned> &order) {
  std::optional<llvm::SetVector<Value>> bytes = bytesBefore(result);
  Value origin;
  while (bytes && !bytes->empty()) {
    if (bytes->size() == 1)
      origin = bytes->front();
    // The last of them may be a function of the others.
    auto placeOf = [&](Value byte) { return byte.getDefiningOp() ? order.lookup(byte.getDefiningOp()) : 0; };
    Value last = *llvm::max_element(*bytes, [&](Value a, Value b) { return placeOf(a) < placeOf(b); });
    auto alu = last.getDefiningOp<uop::AluOp>();
    std::optional<llvm::SetVector<Value>> before = alu ? bytesBefore(alu) : std::nullopt;
    if (!before)
      break;
    bytes->remove(last);
    bytes->insert_range(*before);
  }
  return origin;
}

static void collect(Value value, Value from, llvm::SetVector<Operation *> &operations) {
  auto alu = value == from || lower::constantOf(value) ? uop::AluOp() : value.getDefiningOp<uop::AluOp>();
  if (!alu || operations.contains(alu))
    return;
  for (Value operand : alu->getOperands())
    collect(operand, from, operations);
  operations.insert(alu);
}

/// The result as a function of one byte; nullopt if it follows from other values, or takes as little time as a look-up.
static std::optional<ByteFunction> functionOf(uop::AluOp result, const llvm::DenseMap<Operation *, unsigned> &order) {
  Value from = isByte(result) && isa<VectorType>(result.getType()) ? originOf(result, order) : Value();
  if (!from)
    return std::nullopt;
  llvm::SetVector<Operation *> operations;
  collect(result, from, operations);
  ByteFunction function{from, {}};
  double steps = 0;
  for (Operation *op : operations) {
    function.operations.push_back(cast<uop::AluOp>(op));
    steps += aluTraits(function.operations.back().getKind().getValue()).steps;
  }
  return steps >= kLeastSteps ? std::optional(function) : std::nullopt;
}

/// The result for one byte; nullopt if an operation is not defined for its dtype.
static std::optional<Scalar> valueOf(const ByteFunction &function, uint8_t byte) {
  llvm::DenseMap<Value, Scalar> values;
  values[function.from] = Scalar::of(*dtypeOf(getElementTypeOrSelf(function.from.getType())), byte);
  for (uop::AluOp op : function.operations) {
    SmallVector<Scalar> operands = llvm::map_to_vector(op.getOperands(), [&](Value operand) {
      auto known = values.find(operand);
      return known == values.end() ? Scalar::of(lower::constantOf(operand)) : known->second;
    });
    std::optional<DType> dtype = dtypeOf(getElementTypeOrSelf(op.getType()));
    std::optional<Scalar> result = dtype ? evaluateAlu(op.getKind().getValue(), operands, *dtype) : std::nullopt;
    if (!result)
      return std::nullopt;
    values[op] = *result;
  }
  uop::AluOp last = function.operations.back();
  return values.at(last);
}

/// The results for all bytes; null if an operation is not defined for its dtype.
static DenseElementsAttr tableOf(const ByteFunction &function) {
  SmallVector<Attribute> table;
  uop::AluOp last = function.operations.back();
  for (unsigned byte = 0; byte < kBytes; ++byte) {
    std::optional<Scalar> value = valueOf(function, uint8_t(byte));
    if (!value)
      return {};
    table.push_back(value->attribute(last.getContext()));
  }
  return DenseElementsAttr::get(RankedTensorType::get({kBytes}, getElementTypeOrSelf(last.getType())), table);
}

void TabulateBytes::runOnOperation() {
  if (!targetOf(getOperation()).hasLookups())
    return;
  lower::LaunchWeights weights(getOperation());
  for (auto func : getOperation().getOps<uop::FuncOp>()) {
    if (weights.launchesOf(func).empty())
      continue;
    llvm::DenseMap<Operation *, unsigned> order;
    SmallVector<uop::AluOp> results;
    func.walk<WalkOrder::PreOrder>([&](Operation *op) {
      order[op] = order.size() + 1;
      if (auto alu = dyn_cast<uop::AluOp>(op))
        results.push_back(alu);
    });
    llvm::MapVector<Attribute, Value> tables;
    // The last results first: what leads to them is not computed any more.
    for (uop::AluOp result : llvm::reverse(results)) {
      std::optional<ByteFunction> function = result->use_empty() ? std::nullopt : functionOf(result, order);
      DenseElementsAttr table = function ? tableOf(*function) : DenseElementsAttr();
      if (!table)
        continue;
      auto [known, isNew] = tables.try_emplace(table);
      if (isNew) {
        known->second = weights.receive(func, table.getElementType());
        for (host::LaunchOp launch : weights.launchesOf(func))
          weights.pass(launch, table, "table");
      }
      OpBuilder builder(result);
      auto lookup = uop::LookupOp::create(builder, result.getLoc(), result.getType(), known->second, function->from);
      result.replaceAllUsesWith(lookup.getResult());
    }
  }
  weights.finish();
}
