#include "render/llvm/IntegerBounds.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln;
using namespace kiln::render;

using Bounds = std::optional<Interval>;

/// The range of an integer dtype, as far as int64 reaches.
static Bounds rangeOf(mlir::Type type) {
  auto integer = llvm::dyn_cast<mlir::IntegerType>(mlir::getElementTypeOrSelf(type));
  if (!integer)
    return std::nullopt;
  unsigned width = integer.getWidth();
  if (width == 1 || integer.isUnsigned())
    return width < 64 ? Bounds({0, int64_t(llvm::maxUIntN(width))}) : std::nullopt;
  return Interval{llvm::minIntN(width), llvm::maxIntN(width)};
}

static bool within(Bounds inner, Bounds outer) {
  return inner && outer && outer->min <= inner->min && inner->max <= outer->max;
}

static Bounds add(Interval a, Interval b) {
  Interval sum;
  if (llvm::AddOverflow(a.min, b.min, sum.min) || llvm::AddOverflow(a.max, b.max, sum.max))
    return std::nullopt;
  return sum;
}

static Bounds multiply(Interval a, Interval b) {
  int64_t products[4];
  if (llvm::MulOverflow(a.min, b.min, products[0]) || llvm::MulOverflow(a.min, b.max, products[1]) ||
      llvm::MulOverflow(a.max, b.min, products[2]) || llvm::MulOverflow(a.max, b.max, products[3]))
    return std::nullopt;
  return Interval{*llvm::min_element(products), *llvm::max_element(products)};
}

/// By a positive divisor; `floors` says which way negative quotients round.
static Bounds divide(Interval a, Interval b, bool floors) {
  if (b.min < 1)
    return std::nullopt;
  auto quotient = [&](int64_t x, int64_t y) { return floors ? llvm::divideFloorSigned(x, y) : x / y; };
  return Interval{quotient(a.min, a.min < 0 ? b.min : b.max), quotient(a.max, a.max < 0 ? b.max : b.min)};
}

static Bounds remainder(Interval a, Interval b, bool floors) {
  if (b.min < 1)
    return std::nullopt;
  if (a.min >= 0)
    return Interval{0, std::min(a.max, b.max - 1)};
  if (floors)
    return Interval{0, b.max - 1};
  return Interval{std::max(a.min, 1 - b.max), a.max < 0 ? 0 : std::min(a.max, b.max - 1)};
}

Bounds IntegerBounds::exact(uop::AluOp op) {
  Alu kind = op.getKind().getValue();
  llvm::SmallVector<Interval, 3> operands;
  for (mlir::Value operand : op.getOperands()) {
    Bounds bounds = of(operand);
    if (!bounds)
      return std::nullopt;
    operands.push_back(*bounds);
  }
  Interval a = operands[0], b = operands.size() > 1 ? operands[1] : a;
  switch (kind) {
  case Alu::CAST:
    return a;
  case Alu::NEG:
    return multiply(a, {-1, -1});
  case Alu::ADD:
    return add(a, b);
  case Alu::MUL:
    return multiply(a, b);
  case Alu::MULACC: {
    Bounds product = multiply(a, b);
    return within(product, rangeOf(op.getType())) ? add(*product, operands[2]) : std::nullopt;
  }
  case Alu::IDIV:
  case Alu::FLOORDIV:
    return divide(a, b, kind == Alu::FLOORDIV);
  case Alu::MOD:
  case Alu::FLOORMOD:
    return remainder(a, b, kind == Alu::FLOORMOD);
  case Alu::MAX:
    return Interval{std::max(a.min, b.min), std::max(a.max, b.max)};
  case Alu::MIN:
    return Interval{std::min(a.min, b.min), std::min(a.max, b.max)};
  case Alu::WHERE: {
    Interval c = operands[2];
    return Interval{std::min(b.min, c.min), std::max(b.max, c.max)};
  }
  case Alu::AND:
    if (b.min >= 0 && a.min >= 0)
      return Interval{0, std::min(a.max, b.max)};
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

Bounds IntegerBounds::compute(mlir::Value value) {
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
    mlir::Operation *parent = argument.getOwner()->getParentOp();
    if (auto range = llvm::dyn_cast<uop::RangeOp>(parent); range && argument.getArgNumber() == 0) {
      Bounds from = of(range.getFrom()), to = of(range.getTo());
      // A loop that never runs has no index; any interval is true of it.
      return Interval{from->min, std::max(from->min, to->max == INT64_MIN ? INT64_MIN : to->max - 1)};
    }
    if (auto function = llvm::dyn_cast<uop::FuncOp>(parent)) {
      view::Expr size = function.getSizes().getSizes()[argument.getArgNumber() - function.getBufferCount()];
      return Interval{size.min(), size.max()};
    }
    return std::nullopt;
  }
  return llvm::TypeSwitch<mlir::Operation *, Bounds>(value.getDefiningOp())
      .Case([&](uop::ConstOp op) -> Bounds {
        auto number = llvm::dyn_cast<mlir::IntegerAttr>(op.getValue());
        if (!number)
          return std::nullopt;
        auto type = llvm::cast<mlir::IntegerType>(op.getType());
        bool hasSign = type.getWidth() > 1 && !type.isUnsigned();
        llvm::APInt bits = number.getValue();
        int64_t constant = hasSign ? bits.getSExtValue() : int64_t(bits.getZExtValue());
        return Interval{constant, constant};
      })
      .Case([&](uop::SpecialOp op) { return Interval{0, std::max<int64_t>(0, op.getSize().getValue().max() - 1)}; })
      .Case([&](uop::VectorizeOp op) -> Bounds {
        Bounds all;
        for (mlir::Value lane : op.getLanes()) {
          Bounds bounds = of(lane);
          if (!bounds)
            return std::nullopt;
          all = all ? Interval{std::min(all->min, bounds->min), std::max(all->max, bounds->max)} : *bounds;
        }
        return all;
      })
      .Case([&](uop::GepOp op) { return of(op.getVector()); })
      .Case([&](uop::AluOp op) { return exact(op); })
      .Default([](mlir::Operation *) { return Bounds(); });
}

Bounds IntegerBounds::of(mlir::Value value) {
  auto found = known_.find(value);
  if (found != known_.end())
    return found->second;
  Bounds whole = rangeOf(value.getType());
  Bounds bounds = whole ? compute(value) : std::nullopt;
  if (!within(bounds, whole))
    bounds = whole;
  known_[value] = bounds;
  return bounds;
}

bool IntegerBounds::cannotWrap(uop::AluOp op) { return within(exact(op), rangeOf(op.getType())); }
