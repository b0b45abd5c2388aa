//===- NarrowIntegers.cpp - Multiply integers in the dtype that an instruction takes ---===//
// Stage: schedule (graph → graph).
// A quantised model multiplies bytes less their zero points, as 32 bits. Such differences fit into 16 bits, whose
// products some instructions add up in pairs, exactly. So the factors of a sum are computed in 16 bits, if their bounds
// prove that nothing is lost, and widened where they are multiplied. Padding stays 0, as it comes after the zero point.
// A sum that no instruction is for stays as it is: narrow factors alone would have to be widened one by one.
// Expects: views folded.
// Guarantees: the same sums.
// Position: before constants are told from the rest, as factors of weights become narrow, too.
//===-----------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/graph/DeadOps.h"
#include "passes/schedule/KnownConstants.h"
#include "passes/schedule/Products.h"

#include "target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/IR/ConstantRange.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using llvm::APInt;
using llvm::ConstantRange;

namespace kiln {
#define GEN_PASS_DEF_NARROWINTEGERS
#include "passes/Passes.h.inc"
} // namespace kiln

/// A chain that is longer is not looked through.
static constexpr unsigned kMostSteps = 8;

static constexpr unsigned kBits = 64; ///< of bounds: sums and products of 32 bits fit

/// From one number to another, both included.
static ConstantRange between(int64_t min, int64_t max) {
  return ConstantRange(APInt(kBits, min, /*isSigned=*/true), APInt(kBits, max, /*isSigned=*/true) + 1);
}

static std::optional<ConstantRange> boundsOf(Type element) {
  auto type = dyn_cast<IntegerType>(element);
  if (!type || type.getWidth() > 32)
    return std::nullopt;
  unsigned width = type.getWidth();
  if (type.isUnsigned() || width == 1)
    return between(0, (int64_t(1) << width) - 1);
  return between(-(int64_t(1) << (width - 1)), (int64_t(1) << (width - 1)) - 1);
}

static int64_t numberOf(IntegerAttr number) {
  auto type = cast<IntegerType>(number.getType());
  bool isUnsigned = type.isUnsigned() || type.getWidth() == 1;
  return isUnsigned ? int64_t(number.getValue().getZExtValue()) : number.getValue().getSExtValue();
}

static std::optional<ConstantRange> boundsOf(Value value, unsigned steps);

/// The bounds of an operation's results; nullopt: not known, or one may wrap around in its dtype.
static std::optional<ConstantRange> exactBoundsOf(graph::AluOp alu, unsigned steps) {
  SmallVector<ConstantRange> operands;
  for (Value operand : alu->getOperands()) {
    std::optional<ConstantRange> bounds = boundsOf(operand, steps);
    if (!bounds)
      return std::nullopt;
    operands.push_back(*bounds);
  }
  std::optional<ConstantRange> found;
  Alu kind = alu.getKind().getValue();
  if (kind == Alu::CAST)
    found = operands[0];
  else if (kind == Alu::NEG)
    found = between(0, 0).sub(operands[0]);
  else if (kind == Alu::ADD)
    found = operands[0].add(operands[1]);
  else if (kind == Alu::MUL)
    found = operands[0].multiply(operands[1]);
  std::optional<ConstantRange> dtype = boundsOf(getElementTypeOrSelf(alu.getResult()));
  return found && dtype && dtype->contains(*found) ? found : std::nullopt;
}

/// The bounds of a tensor's elements; nullopt: they are not integers of 32 bits at most.
static std::optional<ConstantRange> boundsOf(Value value, unsigned steps) {
  std::optional<ConstantRange> dtype = boundsOf(getElementTypeOrSelf(value)), found;
  Operation *op = value.getDefiningOp();
  if (!dtype || !op || steps == 0)
    return dtype;
  if (auto view = dyn_cast<graph::ViewOp>(op)) {
    found = boundsOf(view.getInput(), steps - 1);
    return found ? found->unionWith(between(0, 0), ConstantRange::Signed) : dtype;
  }
  if (auto constant = dyn_cast<graph::ConstOp>(op))
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      return between(numberOf(number), numberOf(number));
  if (auto alu = dyn_cast<graph::AluOp>(op))
    found = exactBoundsOf(alu, steps - 1);
  return found ? found : dtype;
}

namespace {
struct NarrowIntegers : kiln::impl::NarrowIntegersBase<NarrowIntegers> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    TargetAttr target = targetOf(getOperation());
    Type narrow = IntegerType::get(&getContext(), 16), wide = IntegerType::get(&getContext(), 32);
    if (!main || !target.fastProduct(narrow, narrow, wide))
      return;
    KnownConstants constants(main);
    auto isConstant = [&](Value value) { return constants.isConstant(value); };
    SmallVector<graph::AluOp> products;
    main.walk([&](graph::ReduceOp reduce) {
      if (getElementTypeOrSelf(reduce) == wide && mayMultiplyNarrow(reduce, target, narrow, isConstant))
        products.push_back(edgeOf(reduce.getInput()).base.getDefiningOp<graph::AluOp>());
    });
    for (graph::AluOp product : products)
      narrowFactors(product, narrow);
    graph::eraseDeadOps(main);
  }

  void narrowFactors(graph::AluOp product, Type narrow) {
    Edge edges[] = {edgeOf(product->getOperand(0)), edgeOf(product->getOperand(1))};
    for (const Edge &edge : edges) {
      std::optional<ConstantRange> bounds = boundsOf(edge.base, kMostSteps);
      if (!bounds || !boundsOf(narrow)->contains(*bounds))
        return;
    }
    OpBuilder builder(product);
    for (auto [operand, edge] : llvm::zip(product->getOpOperands(), edges)) {
      Location loc = edge.base.getLoc();
      builder.setInsertionPointAfterValue(edge.base);
      Value wide = graph::AluOp::create(builder, loc, Alu::CAST, narrowed(builder, edge.base, narrow),
                                        getElementTypeOrSelf(edge.base));
      if (auto view = operand.get().getDefiningOp<graph::ViewOp>()) {
        builder.setInsertionPoint(product);
        wide = graph::ViewOp::create(builder, view.getLoc(), view.getType(), wide, view.getTrackerAttr());
      }
      operand.set(wide);
    }
  }

  /// The same values in the narrow dtype, computed in it from where they last had fewer bits.
  Value narrowed(OpBuilder &builder, Value value, Type narrow) {
    if (Value known = narrow_.lookup(value))
      return known;
    Location loc = value.getLoc();
    auto alu = value.getDefiningOp<graph::AluOp>();
    Value made;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(value);
    if (auto constant = value.getDefiningOp<graph::ConstOp>()) {
      int64_t number = numberOf(cast<IntegerAttr>(constant.getValue()));
      made = graph::ConstOp::create(builder, loc, constant.getType().clone(narrow),
                                    builder.getIntegerAttr(narrow, number));
    } else if (auto view = value.getDefiningOp<graph::ViewOp>()) {
      Value source = narrowed(builder, view.getInput(), narrow);
      made = graph::ViewOp::create(builder, loc, cast<RankedTensorType>(view.getType()).clone(narrow), source,
                                   view.getTrackerAttr());
    } else if (alu && isNarrowing(alu, narrow)) {
      if (alu.getKind().getValue() == Alu::CAST)
        made = graph::AluOp::create(builder, loc, Alu::CAST, alu->getOperand(0), narrow);
      else {
        SmallVector<Value> operands =
            llvm::map_to_vector(alu->getOperands(), [&](Value operand) { return narrowed(builder, operand, narrow); });
        made = graph::AluOp::create(builder, loc, alu.getKind().getValue(), operands);
      }
    } else {
      made = graph::AluOp::create(builder, loc, Alu::CAST, value, narrow);
    }
    return narrow_[value] = made;
  }

  /// Whether an operation gives the same in the narrow dtype: all that it takes and gives fits, and nothing wraps
  /// around in its own.
  static bool isNarrowing(graph::AluOp alu, Type narrow) {
    ConstantRange fits = *boundsOf(narrow);
    auto isFit = [&](std::optional<ConstantRange> bounds) { return bounds && fits.contains(*bounds); };
    return isFit(exactBoundsOf(alu, kMostSteps)) &&
           llvm::all_of(alu->getOperands(), [&](Value operand) { return isFit(boundsOf(operand, kMostSteps)); });
  }

  llvm::DenseMap<Value, Value> narrow_;
};
} // namespace
