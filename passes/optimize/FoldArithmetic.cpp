//===- FoldArithmetic.cpp - Fold known parts of a kernel's arithmetic ------------===//
// Stage: optimize (kernel → kernel).
// Composite operators leave constants that meet only when they share a kernel: x·2·(-1/ln 2), max(x, x). Each is an
// operation per point. Rules for every value are always applied; rules for real numbers only, such as (x+a)+b =
// x+(a+b), are optional: rounding, infinities and NaN can differ.
// Expects: kernels without opts.
// Guarantees: no op has only constants; no dead arithmetic.
// Position: before opts, which count operations.
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/base/Evaluate.h"
#include "ir/kernel/Normalize.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

#include <cmath>

using namespace kiln;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

namespace kiln {
#define GEN_PASS_DEF_FOLDARITHMETIC
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {
/// A value as x·factor or x + addend; x itself with factor 1 or addend 0.
struct Term {
  Value x;
  TypedAttr number;
};

class Folder {
public:
  Folder(kernel::FuncOp func, bool reals) : func_(func), reals_(reals), builder_(func) {}
  void run();

private:
  /// Folds each op once, operands first; whether it could any.
  bool foldOnce();
  /// The value of a row on operands, by a rule; null if none applies.
  Value fold(Alu kind, ArrayRef<Value> operands, Type type);
  Value foldAdd(Value a, Value b, Type type);
  Value foldMul(Value a, Value b, Type type);
  Value foldQuotient(Value a, Value b, Type type);
  Value foldNegation(Value a, Type type);
  Value foldReduce(kernel::ReduceOp reduce);
  Value make(Alu kind, ArrayRef<Value> operands, Type type);
  Value constant(TypedAttr number) { return kernel::ConstOp::create(builder_, loc_, number.getType(), number); }
  TypedAttr evaluate(Alu kind, ArrayRef<TypedAttr> operands, Type type);
  /// Whether the laws of real numbers hold: always for integers, which wrap, and for floats if that is asked for.
  bool isRing(Type type) const { return isa<IntegerType>(type) ? !type.isInteger(1) : reals_; }
  Term asProduct(Value value);
  Value offsetIndex(Value index, TypedAttr factor, TypedAttr addend);

  kernel::FuncOp func_;
  bool reals_;
  llvm::SetVector<int64_t> summed_; ///< the axes of reduces that are known now
  OpBuilder builder_;
  Location loc_ = builder_.getUnknownLoc();
};

struct FoldArithmetic : kiln::impl::FoldArithmeticBase<FoldArithmetic> {
  using Base::Base;

  void runOnOperation() override {
    for (auto func : getOperation().getOps<kernel::FuncOp>())
      if (func.getOpts().empty())
        Folder(func, reals).run();
  }
};
} // namespace

static TypedAttr numberOf(Value value) {
  auto constant = value.getDefiningOp<kernel::ConstOp>();
  return constant ? constant.getValue() : TypedAttr();
}

static bool isNumber(TypedAttr attr, int64_t number) {
  if (auto integer = dyn_cast_or_null<IntegerAttr>(attr))
    return integer.getValue() == llvm::APInt(integer.getValue().getBitWidth(), number, true, true);
  auto real = dyn_cast_or_null<FloatAttr>(attr);
  return real && real.getValueAsDouble() == double(number);
}

/// The operands of a row if `value` is that row.
static std::optional<std::pair<Value, Value>> match(Value value, Alu kind) {
  auto alu = value.getDefiningOp<kernel::AluOp>();
  if (!alu || alu.getKind().getValue() != kind)
    return std::nullopt;
  Value second = alu->getNumOperands() > 1 ? alu->getOperand(1) : Value();
  return std::pair(alu->getOperand(0), second);
}

/// The other operand and the number if `value` is this commutative row of something and a number.
static std::optional<Term> matchNumber(Value value, Alu kind) {
  auto operands = match(value, kind);
  if (!operands)
    return std::nullopt;
  if (TypedAttr number = numberOf(operands->second))
    return Term{operands->first, number};
  if (TypedAttr number = numberOf(operands->first))
    return Term{operands->second, number};
  return std::nullopt;
}

static TypedAttr small(Type type, int64_t number) {
  if (isa<FloatType>(type))
    return FloatAttr::get(type, double(number));
  return IntegerAttr::get(type, number);
}

TypedAttr Folder::evaluate(Alu kind, ArrayRef<TypedAttr> operands, Type type) {
  SmallVector<Scalar> scalars = llvm::map_to_vector(operands, [](TypedAttr attr) { return Scalar::of(attr); });
  std::optional<DType> dtype = dtypeOf(type);
  std::optional<Scalar> result = dtype ? evaluateAlu(kind, scalars, *dtype) : std::nullopt;
  return result ? result->attribute(func_.getContext()) : TypedAttr();
}

Value Folder::make(Alu kind, ArrayRef<Value> operands, Type type) {
  if (Value known = fold(kind, operands, type))
    return known;
  return kernel::AluOp::create(builder_, loc_, type, AluKindAttr::get(func_.getContext(), kind), operands);
}

namespace {
/// The known bounds of a float's value.
struct Bounds {
  double low = -HUGE_VAL, high = HUGE_VAL;
};
} // namespace

static Bounds boundsOf(Value value, int depth = 0) {
  constexpr int kDeepest = 8;
  if (auto real = dyn_cast_or_null<FloatAttr>(numberOf(value)))
    return {real.getValueAsDouble(), real.getValueAsDouble()};
  auto alu = value.getDefiningOp<kernel::AluOp>();
  if (!alu || depth == kDeepest || !isa<FloatType>(value.getType()))
    return {};
  auto of = [&](unsigned operand) { return boundsOf(alu->getOperand(operand), depth + 1); };
  switch (alu.getKind().getValue()) {
  case Alu::NEG:
    return {-of(0).high, -of(0).low};
  case Alu::ADD:
    return {of(0).low + of(1).low, of(0).high + of(1).high};
  case Alu::MAX:
    return {std::max(of(0).low, of(1).low), std::max(of(0).high, of(1).high)};
  case Alu::WHERE:
    return {std::min(of(1).low, of(2).low), std::max(of(1).high, of(2).high)};
  default:
    return {};
  }
}

/// A factor that joins another must neither overflow nor vanish if the two in turn would not.
static bool isOrdinary(TypedAttr attr) {
  auto real = dyn_cast_or_null<FloatAttr>(attr);
  return attr && (!real || real.getValue().isNormal());
}

Term Folder::asProduct(Value value) {
  if (auto product = matchNumber(value, Alu::MUL); product && isOrdinary(product->number))
    return *product;
  return {value, small(value.getType(), 1)};
}

Value Folder::offsetIndex(Value value, TypedAttr factor, TypedAttr addend) {
  auto index = value.getDefiningOp<kernel::IndexOp>();
  if (!index || !isa<IntegerType>(value.getType()))
    return nullptr;
  ShapeTracker tracker = index.getTracker().getValue();
  if (tracker.views().size() != 1)
    return nullptr;
  auto number = [](TypedAttr attr) {
    llvm::APInt bits = cast<IntegerAttr>(attr).getValue();
    return attr.getType().isUnsignedInteger() ? int64_t(bits.getZExtValue()) : bits.getSExtValue();
  };
  const view::View &view = tracker.views().front();
  // The program's integers wrap, sizes do not: only small values are the same as both.
  constexpr int64_t kMost = int64_t(1) << 31;
  Expr times = number(factor), plus = number(addend), where = tracker.at().index;
  for (Expr part : {times, plus, where})
    if (part.max() > kMost || part.min() < -kMost)
      return nullptr;
  view::Shape strides(view.strides());
  for (Expr &stride : strides)
    stride = stride * times;
  ShapeTracker moved({view::View::make(view.shape(), ArrayRef<Expr>(strides), view.offset() * times + plus)});
  return kernel::IndexOp::create(builder_, loc_, value.getType(), TrackerAttr::get(func_.getContext(), moved));
}

Value Folder::foldAdd(Value a, Value b, Type type) {
  TypedAttr addend = numberOf(b);
  if (!isRing(type))
    return nullptr;
  if (isNumber(addend, 0))
    return a;
  if (addend) {
    if (Value moved = offsetIndex(a, small(type, 1), addend))
      return moved;
    if (auto sum = matchNumber(a, Alu::ADD))
      return make(Alu::ADD, {sum->x, constant(evaluate(Alu::ADD, {sum->number, addend}, type))}, type);
    return nullptr;
  }
  Term left = asProduct(a), right = asProduct(b);
  bool scaled = left.x != a || right.x != b; // x + x stays a sum
  if (left.x == right.x && scaled)
    return make(Alu::MUL, {left.x, constant(evaluate(Alu::ADD, {left.number, right.number}, type))}, type);
  for (auto [one, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (auto negated = match(other, Alu::NEG); negated && negated->first == one)
      return constant(small(type, 0));
    // Numbers go outwards, where they meet.
    if (auto sum = matchNumber(one, Alu::ADD); sum && reals_)
      return make(Alu::ADD, {make(Alu::ADD, {sum->x, other}, type), constant(sum->number)}, type);
  }
  return nullptr;
}

/// x·y/y is x, and a quotient of a quotient one of a product: one reciprocal less.
Value Folder::foldQuotient(Value a, Value b, Type type) {
  for (auto [one, other] : {std::pair(a, b), std::pair(b, a)}) {
    auto divisor = match(other, Alu::RECIP);
    if (!divisor)
      continue;
    if (one == divisor->first)
      return constant(small(type, 1));
    auto product = match(one, Alu::MUL);
    if (!product)
      continue;
    for (auto [factor, rest] : {*product, std::pair(product->second, product->first)}) {
      if (factor == divisor->first)
        return rest;
      if (auto inner = match(factor, Alu::RECIP))
        return make(Alu::MUL, {rest, make(Alu::RECIP, {make(Alu::MUL, {inner->first, divisor->first}, type)}, type)},
                    type);
    }
  }
  return nullptr;
}

Value Folder::foldMul(Value a, Value b, Type type) {
  TypedAttr factor = numberOf(b);
  if (!factor)
    return reals_ && isa<FloatType>(type) ? foldQuotient(a, b, type) : Value();
  if (isNumber(factor, 1) && !type.isInteger(1))
    return a;
  if (!isRing(type))
    return nullptr;
  if (isNumber(factor, 0))
    return b;
  if (Value moved = offsetIndex(a, factor, small(type, 0)))
    return moved;
  auto product = matchNumber(a, Alu::MUL);
  TypedAttr both = product ? evaluate(Alu::MUL, {product->number, factor}, type) : TypedAttr();
  return isOrdinary(both) ? make(Alu::MUL, {product->x, constant(both)}, type) : Value();
}

/// Whether the negation of a value takes no more operations than the value.
static bool isNegatedFreely(Value value) {
  if (numberOf(value) || match(value, Alu::NEG) || matchNumber(value, Alu::MUL))
    return true;
  auto sum = match(value, Alu::ADD);
  return sum && isNegatedFreely(sum->first) && isNegatedFreely(sum->second);
}

Value Folder::foldNegation(Value a, Type type) {
  if (auto negated = match(a, Alu::NEG))
    return negated->first;
  if (type.isInteger(1))
    return nullptr;
  if (auto product = matchNumber(a, Alu::MUL))
    return make(Alu::MUL, {product->x, constant(evaluate(Alu::NEG, {product->number}, type))}, type);
  // -(x + y) = -x + -y, if one of the two takes it in.
  if (auto sum = match(a, Alu::ADD); sum && reals_ && (isNegatedFreely(sum->first) || isNegatedFreely(sum->second)))
    return make(Alu::ADD, {make(Alu::NEG, {sum->first}, type), make(Alu::NEG, {sum->second}, type)}, type);
  return nullptr;
}

Value Folder::fold(Alu kind, ArrayRef<Value> operands, Type type) {
  SmallVector<TypedAttr> numbers = llvm::map_to_vector(operands, numberOf);
  if (llvm::all_of(numbers, [](TypedAttr attr) { return bool(attr); }))
    if (TypedAttr known = evaluate(kind, numbers, type))
      return constant(known);
  Value a = operands.front(), b = operands.back();
  bool swapped = operands.size() == 2 && numbers[0]; // a number comes second
  if (swapped)
    std::swap(a, b);
  bool isFloat = isa<FloatType>(operands.front().getType());
  switch (kind) {
  case Alu::ADD:
    return foldAdd(a, b, type);
  case Alu::MUL:
    return foldMul(a, b, type);
  case Alu::MAX:
  case Alu::MIN:
    if (a == b)
      return a;
    if (Bounds x = boundsOf(a), y = boundsOf(b); reals_ && kind == Alu::MAX && isFloat) {
      if (x.low >= y.high)
        return a;
      if (y.low >= x.high)
        return b;
    }
    if (auto bound = matchNumber(a, kind); bound && numberOf(b))
      return make(kind, {bound->x, constant(evaluate(kind, {bound->number, numberOf(b)}, type))}, type);
    return nullptr;
  case Alu::NEG:
    return foldNegation(a, type);
  case Alu::WHERE:
    if (numbers[0])
      return isNumber(numbers[0], 0) ? operands[2] : operands[1];
    return operands[1] == operands[2] || (numbers[1] && numbers[1] == numbers[2]) ? operands[1] : Value();
  case Alu::CMPLT:
    return operands[0] == operands[1] ? constant(small(type, 0)) : Value();
  case Alu::CMPNE:
    // A conversion to bool asks the same question, and counts as no operation.
    if (reals_ && isNumber(numberOf(b), 0) && !operands.front().getType().isInteger(1))
      return make(Alu::CAST, {a}, type);
    [[fallthrough]];
  case Alu::CMPEQ:
    // A NaN differs from itself.
    return operands[0] == operands[1] && (!isFloat || reals_) ? constant(small(type, kind == Alu::CMPEQ)) : Value();
  default:
    return nullptr;
  }
}

/// A sum of a number is a number, and so is its largest. CollapseSums removed those that existed before; this handles
/// values that have only become a number, as x/x does.
Value Folder::foldReduce(kernel::ReduceOp reduce) {
  TypedAttr number = numberOf(reduce.getInput());
  auto real = dyn_cast_or_null<FloatAttr>(number);
  if (!reals_ || !real || !real.getValue().isFinite() || reduce.getScore())
    return nullptr;
  double points = 1;
  for (int64_t axis : reduce.getAxes()) {
    Expr size = func_.getDomain().getSizes()[axis];
    if (!size.isConst() || size.isConst(0))
      return nullptr;
    points *= double(size.constant());
  }
  Type type = reduce.getResult().getType();
  switch (reduce.getKind().getValue()) {
  case Alu::ADD: {
    TypedAttr sum = evaluate(Alu::MUL, {number, FloatAttr::get(type, points)}, type);
    return sum ? constant(sum) : Value();
  }
  case Alu::MAX:
    return reduce.getInput();
  default:
    return nullptr;
  }
}

bool Folder::foldOnce() {
  bool any = false;
  for (Operation &op : llvm::make_early_inc_range(func_.getBody().front())) {
    auto alu = dyn_cast<kernel::AluOp>(op);
    auto reduce = dyn_cast<kernel::ReduceOp>(op);
    if (!alu && !reduce)
      continue;
    builder_.setInsertionPoint(&op);
    loc_ = op.getLoc();
    SmallVector<Value> operands(op.getOperands());
    Value known = alu ? fold(alu.getKind().getValue(), operands, alu.getResult().getType()) : foldReduce(reduce);
    if (!known)
      continue;
    if (reduce)
      summed_.insert(reduce.getAxes().begin(), reduce.getAxes().end());
    op.getResult(0).replaceAllUsesWith(known);
    any = true;
  }
  return any;
}

void Folder::run() {
  constexpr int kMostRounds = 8; // rules of reals might undo each other's work for ever
  for (int round = 0; round < kMostRounds; ++round) {
    bool any = foldOnce();
    if (reals_) { // its rules may have written a duplicate
      DominanceInfo dominance(func_);
      IRRewriter rewriter(func_.getContext());
      eliminateCommonSubExpressions(rewriter, dominance, func_);
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(func_.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
    if (!any || !reals_)
      break;
  }
  for (int64_t axis : summed_)
    kernel::dropUnusedAxis(func_, axis);
  if (!summed_.empty())
    kernel::applyNormalization(func_, kernel::planNormalization(func_));
}
