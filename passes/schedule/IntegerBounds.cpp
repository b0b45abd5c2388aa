#include "passes/schedule/IntegerBounds.h"

#include "mlir/IR/TypeUtilities.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using llvm::APInt;
using llvm::ConstantRange;

/// A chain that is longer is not looked through.
static constexpr unsigned kMostSteps = 8;

static constexpr unsigned kBits = 64; ///< of bounds

ConstantRange schedule::between(int64_t min, int64_t max) {
  return ConstantRange(APInt(kBits, min, /*isSigned=*/true), APInt(kBits, max, /*isSigned=*/true) + 1);
}

std::optional<ConstantRange> schedule::boundsOf(Type element) {
  auto type = dyn_cast<IntegerType>(element);
  if (!type || type.getWidth() > 32)
    return std::nullopt;
  unsigned width = type.getWidth();
  if (type.isUnsigned() || width == 1)
    return between(0, (int64_t(1) << width) - 1);
  return between(-(int64_t(1) << (width - 1)), (int64_t(1) << (width - 1)) - 1);
}

int64_t schedule::numberOf(IntegerAttr number) {
  auto type = cast<IntegerType>(number.getType());
  bool isUnsigned = type.isUnsigned() || type.getWidth() == 1;
  return isUnsigned ? int64_t(number.getValue().getZExtValue()) : number.getValue().getSExtValue();
}

static std::optional<ConstantRange> boundsAfter(Value value, unsigned steps);

/// The bounds of results, whose operands' last `steps` operations are looked through.
static std::optional<ConstantRange> exactBoundsAfter(graph::AluOp alu, unsigned steps) {
  SmallVector<ConstantRange> operands;
  for (Value operand : alu->getOperands()) {
    std::optional<ConstantRange> bounds = boundsAfter(operand, steps);
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
  else if (kind == Alu::AND)
    found = operands[0].binaryAnd(operands[1]);
  else if (kind == Alu::SHR && between(0, 31).contains(operands[1]))
    found = operands[0].ashr(operands[1]);
  std::optional<ConstantRange> dtype = boundsOf(getElementTypeOrSelf(alu.getResult()));
  return found && dtype && dtype->contains(*found) ? found : std::nullopt;
}

static std::optional<ConstantRange> boundsAfter(Value value, unsigned steps) {
  std::optional<ConstantRange> dtype = boundsOf(getElementTypeOrSelf(value)), found;
  Operation *op = value.getDefiningOp();
  if (!dtype || !op || steps == 0)
    return dtype;
  if (auto view = dyn_cast<graph::ViewOp>(op)) {
    found = boundsAfter(view.getInput(), steps - 1);
    return found ? found->unionWith(between(0, 0), ConstantRange::Signed) : dtype;
  }
  if (auto constant = dyn_cast<graph::ConstOp>(op))
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      return between(numberOf(number), numberOf(number));
  if (auto alu = dyn_cast<graph::AluOp>(op))
    found = exactBoundsAfter(alu, steps - 1);
  return found ? found : dtype;
}

std::optional<ConstantRange> schedule::boundsOf(Value tensor) { return boundsAfter(tensor, kMostSteps); }

std::optional<ConstantRange> schedule::exactBoundsOf(graph::AluOp alu) { return exactBoundsAfter(alu, kMostSteps); }
