//===- MultiplyBytes.cpp - Multiply bytes, and correct for their zero points -------===//
// Stage: schedule (graph → graph).
// A quantised model adds up products of bytes less their zero points. Instructions multiply bytes as they are, and
//   Σ (a + p)·(b + q) = Σ a·b + p·Σ b + q·Σ a + n·p·q,
// where p and q stand still along the n terms. All of it wraps around in 32 bits, as the sum itself does, so both sides
// are the same bits. Σ b of a weight is known at compile time; q is mostly 0, and Σ a costs as much as one more column.
//   An instruction takes bytes with and without a sign in one order. The others are moved by 128, and so is their zero
// point. Padding was 0 after the zero point: bytes that are read so hold -p there. They are taken to 0 before they are
// padded, and back afterwards, in bytes that wrap around.
// Expects: views folded.
// Guarantees: the same sums; both factors of those that it changes are cast from bytes.
// Position: before factors are narrowed to 16 bits, which half as many of fit a register.
//===-------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/graph/DeadOps.h"

#include "passes/schedule/Domain.h"
#include "passes/schedule/IntegerBounds.h"
#include "passes/schedule/KnownConstants.h"
#include "passes/schedule/Products.h"

#include "target/Target.h"
#include "view/Layout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::Expr;
using view::Layout;
using view::ShapeTracker;

namespace kiln {
#define GEN_PASS_DEF_MULTIPLYBYTES
#include "passes/Passes.h.inc"
} // namespace kiln

/// From bytes with a sign to those without.
static constexpr int64_t kSign = 128;

namespace {
/// What is added to the bytes of a factor: a number, and a tensor of int32 if there is one.
struct Offset {
  int64_t number = 0;
  std::optional<Edge> tensor; ///< from the shape of the sum's input
  bool isTaken = false;       ///< the tensor is subtracted

  bool isZero() const { return !tensor && number == 0; }
};

/// A factor of the sum: bytes and an offset; 0 where its view is padding.
struct Factor {
  Edge bytes; ///< from the shape of the sum's input
  Offset offset;

  Type element() const { return getElementTypeOrSelf(bytes.base); }
  bool isMasked() const { return bytes.tracker.isMasked(); }
};
} // namespace

static bool isByte(Value tensor) { return getElementTypeOrSelf(tensor).isInteger(8); }

/// Bytes widened to 32 bits, which a value shows; nullopt if it does not, or shows them among padding.
static std::optional<Edge> bytesOf(Value value) {
  Edge wide = edgeOf(value);
  graph::AluOp cast = aluOf(wide.base, Alu::CAST);
  if (!cast || !isByte(cast->getOperand(0)))
    return std::nullopt;
  Edge bytes = through(cast->getOperand(0), wide.tracker);
  return wide.tracker.isMasked() || bytes.tracker.isMasked() ? std::nullopt : std::optional(bytes);
}

static bool isOneNumber(Value tensor) {
  return tensor.getDefiningOp<graph::ConstOp>() || view::product(shapeOf(tensor)).isConst(1);
}

/// The bytes and the offset that an operand of a sum's product is made of.
static std::optional<Factor> factorOf(Value operand, const ShapeTracker &around) {
  Edge edge = through(operand, around);
  Offset offset;
  auto bytesAt = [&](Value value) {
    std::optional<Edge> bytes = bytesOf(value);
    return bytes ? std::optional(Edge{bytes->base, bytes->tracker.compose(edge.tracker).simplify()}) : std::nullopt;
  };
  graph::AluOp add = aluOf(edge.base, Alu::ADD);
  std::optional<Edge> bytes = bytesAt(edge.base);
  for (unsigned side = 0; add && !bytes && side < 2; ++side) {
    bytes = bytesAt(add->getOperand(side));
    Edge other = edgeOf(add->getOperand(1 - side));
    // As many zero points as there are, before they are repeated.
    bool isTaken = false;
    for (graph::AluOp neg = aluOf(other.base, Alu::NEG); neg; neg = aluOf(other.base, Alu::NEG), isTaken = !isTaken)
      other = through(neg->getOperand(0), other.tracker);
    if (other.tracker.isMasked()) // some of the bytes have no zero point
      return std::nullopt;
    other.tracker = other.tracker.compose(edge.tracker).simplify();
    auto constant = other.base.getDefiningOp<graph::ConstOp>();
    bool isKnown = constant && !isTaken;
    offset = isKnown ? Offset{numberOf(cast<IntegerAttr>(constant.getValue())), {}} : Offset{0, other, isTaken};
  }
  return bytes ? std::optional(Factor{*bytes, offset}) : std::nullopt;
}

/// The tracker at the first point of some axes.
static ShapeTracker firstOf(const ShapeTracker &tracker, llvm::function_ref<bool(int64_t)> isCut) {
  SmallVector<view::Range> ranges;
  for (auto [axis, size] : llvm::enumerate(tracker.shape()))
    ranges.push_back({0, isCut(axis) ? Expr(1) : size});
  return tracker.shrink(ranges).simplify();
}

namespace {
class Rewriter {
public:
  Rewriter(graph::ReduceOp sum, KnownConstants &constants)
      : sum_(sum), constants_(constants), builder_(sum), loc_(sum.getLoc()), input_(shapeOf(sum.getInput())),
        result_(shapeOf(sum.getResult())) {}

  /// Finds the factors of a sum of products, data first; false: they are not bytes, or their offsets move.
  bool match();
  /// Chooses the dtypes that an instruction of the target takes; false: no instruction is worth it.
  bool choose(TargetAttr target);
  /// Whether the factors already are what the instruction takes.
  bool isDone() const;
  /// The sum, in terms of bytes; null if padding cannot hold a zero point.
  Value rewrite();

private:
  bool isReduced(int64_t axis) const { return llvm::is_contained(sum_.getAxes(), axis); }
  Value row(Alu kind, ValueRange operands, Type element = {});
  Value number(ArrayRef<Expr> shape, Type element, int64_t value);
  /// Bytes of the dtype, padded with what stands for 0; false: that is not possible.
  bool convert(Factor &factor, Type element);
  bool fillPadding(Factor &factor, Type element);
  Value widened(const Factor &factor);
  /// The offset at the points of the result.
  Value at(const Offset &offset);
  /// Σ of a factor's bytes at the points of the result, times a number.
  Value total(const Factor &factor, int64_t times);
  /// The offset times the sum of the other factor; null if it is 0.
  Value correction(const Offset &offset, const Factor &other);
  /// How many times a factor's sum counts each of its elements: the terms along which it stands still. 0: not known.
  int64_t repeats(const Factor &factor) const;

  mutable graph::ReduceOp sum_;
  KnownConstants &constants_;
  OpBuilder builder_;
  Location loc_;
  view::Shape input_, result_;
  SmallVector<Factor, 2> factors_; ///< rows, columns
  bool areSwapped_ = false;        ///< columns are the product's first operand
  Type elements_[2];               ///< that the instruction takes
};
} // namespace

bool Rewriter::match() {
  Edge input = edgeOf(sum_.getInput());
  graph::AluOp product = multiplicationOf(sum_);
  if (!product || !getElementTypeOrSelf(sum_).isSignlessInteger(32) || input.tracker.isMasked())
    return false;
  for (unsigned side : {0, 1}) {
    std::optional<Factor> factor = factorOf(product->getOperand(side), input.tracker);
    if (!factor)
      return false;
    factors_.push_back(*factor);
  }
  if (factors_[0].bytes.base == factors_[1].bytes.base)
    return false;
  // Columns are the second: a weight, or what moves along the last axis of the result.
  auto isColumns = [&](unsigned side) {
    bool isWeight = constants_.isConstant(factors_[side].bytes.base);
    if (isWeight != constants_.isConstant(factors_[1 - side].bytes.base))
      return isWeight;
    llvm::SmallBitVector own = axesOf(factors_[side].bytes.tracker), others = axesOf(factors_[1 - side].bytes.tracker);
    for (int64_t axis = int64_t(result_.size()) - 1; axis >= 0; --axis)
      if (own.test(axis) != others.test(axis) && !isReduced(axis))
        return bool(own.test(axis));
    return side == 1;
  };
  areSwapped_ = isColumns(0);
  if (areSwapped_)
    std::swap(factors_[0], factors_[1]);
  return llvm::all_of(factors_, [&](const Factor &factor) {
    const std::optional<Edge> &offset = factor.offset.tensor;
    if (!offset || isOneNumber(offset->base))
      return true;
    llvm::SmallBitVector moves = axesOf(offset->tracker);
    return !factor.isMasked() && llvm::none_of(sum_.getAxes(), [&](int64_t axis) { return moves.test(axis); });
  });
}

bool Rewriter::choose(TargetAttr target) {
  auto isConstant = [&](Value value) { return constants_.isConstant(value); };
  Type sum = getElementTypeOrSelf(sum_), with = IntegerType::get(sum.getContext(), 8),
       without = IntegerType::get(sum.getContext(), 8, IntegerType::Unsigned);
  Value first = edgeOf(edgeOf(sum_.getInput()).base.getDefiningOp()->getOperand(0)).base;
  // The dots of a block take bytes as they are, the unsigned ones first.
  auto asTheyAre = [&](Value value) { return factors_[(value != first) != areSwapped_].element(); };
  if (llvm::all_of(factors_, [](const Factor &factor) { return factor.offset.isZero(); }) && sumOfBlocks(sum_) &&
      target.dotProduct(factors_[0].element(), factors_[1].element(), sum) &&
      mayMultiplyBytes(sum_, target, asTheyAre, isConstant)) {
    for (auto [element, factor] : llvm::zip(elements_, factors_))
      element = factor.element();
    areSwapped_ = false;
    return true;
  }
  // Weights cost nothing to move by 128; data is left as it is where there is an instruction for it.
  Type data[] = {factors_[0].element(), without, with};
  for (Type element : data) {
    if (!target.fastProduct(element, with, sum))
      continue;
    auto elementOf = [&](Value value) { return (value == first) == areSwapped_ ? with : element; };
    if (!mayMultiplyBytes(sum_, target, elementOf, isConstant))
      continue;
    elements_[0] = element;
    elements_[1] = with;
    return true;
  }
  return false;
}

bool Rewriter::isDone() const {
  return !areSwapped_ && llvm::all_of(llvm::zip(factors_, elements_), [](auto pair) {
    auto [factor, element] = pair;
    return factor.element() == element && factor.offset.isZero();
  });
}

Value Rewriter::row(Alu kind, ValueRange operands, Type element) {
  auto made = element ? graph::AluOp::create(builder_, loc_, kind, operands, element)
                      : graph::AluOp::create(builder_, loc_, kind, operands);
  constants_.add(made);
  return made;
}

Value Rewriter::number(ArrayRef<Expr> shape, Type element, int64_t value) {
  auto type = cast<IntegerType>(element);
  APInt bits = APInt(64, value, /*isSigned=*/true).trunc(type.getWidth());
  return graph::ConstOp::create(builder_, loc_, tensorType(shape, element), IntegerAttr::get(type, bits));
}

bool Rewriter::convert(Factor &factor, Type element) {
  // Numbers that both dtypes have need no offset.
  std::optional<llvm::ConstantRange> bounds = boundsOf(factor.bytes.base);
  if (factor.element() != element && bounds && between(0, kSign - 1).contains(*bounds)) {
    factor.bytes.base = row(Alu::CAST, factor.bytes.base, element);
    return factor.offset.isZero() || !factor.isMasked() || fillPadding(factor, element);
  }
  if (factor.element() != element)
    factor.offset.number += element.isUnsignedInteger() ? -kSign : kSign;
  if (factor.isMasked() && !factor.offset.isZero())
    return fillPadding(factor, element);
  if (factor.element() != element) {
    Value bytes = row(Alu::CAST, factor.bytes.base, element);
    factor.bytes.base = row(Alu::ADD, {bytes, number(shapeOf(bytes), element, kSign)});
  }
  return true;
}

bool Rewriter::fillPadding(Factor &factor, Type element) {
  // The padding, -p, is one of the dtype's numbers.
  const Offset &offset = factor.offset;
  llvm::ConstantRange padding = between(-offset.number, -offset.number);
  if (offset.tensor) {
    std::optional<llvm::ConstantRange> bounds = boundsOf(offset.tensor->base);
    if (!bounds)
      return false;
    padding = padding.sub(*bounds);
  }
  view::Shape shape = shapeOf(factor.bytes.base);
  llvm::erase_if(shape, [](Expr size) { return size.isConst(1); });
  auto halo = view::haloFor(factor.bytes.tracker, shape);
  if (!halo || !boundsOf(element)->contains(padding))
    return false;
  Layout layout = Layout::rowMajor(shape);
  layout.halo = *halo;
  std::optional<ShapeTracker> place = view::relaid(factor.bytes.tracker, layout);
  if (!place || place->isMasked())
    return false;
  auto added = [&](Value to, int64_t number, std::optional<Edge> tensor) {
    view::Shape sizes = shapeOf(to), ones(sizes.size(), 1);
    if (number != 0)
      to = row(Alu::ADD, {to, this->number(sizes, element, number)});
    if (!tensor)
      return to;
    ShapeTracker spread = ShapeTracker::contiguous(shapeOf(tensor->base)).reshape(ones).expand(sizes);
    return row(Alu::ADD, {to, tensorOf(builder_, loc_, {row(Alu::CAST, tensor->base, element), spread})});
  };
  // In bytes that wrap around, the dtype makes no difference of 128 to a zero.
  bool isOwn = factor.element() == element;
  int64_t own = isOwn ? offset.number : offset.number + kSign;
  Value zeroed = added(isOwn ? factor.bytes.base : row(Alu::CAST, factor.bytes.base, element), own, offset.tensor);
  auto around =
      llvm::map_to_vector(*halo, [](Layout::Room room) { return std::pair<Expr, Expr>(room.before, room.after); });
  ShapeTracker among = ShapeTracker::contiguous(shapeOf(zeroed)).reshape(shape).pad(around).simplify();
  Value padded = tensorOf(builder_, loc_, {zeroed, among});
  std::optional<Edge> back;
  if (offset.tensor)
    back = Edge{row(Alu::NEG, offset.tensor->base), offset.tensor->tracker};
  factor.bytes = {added(padded, -offset.number, back), *place};
  return true;
}

Value Rewriter::widened(const Factor &factor) {
  return tensorOf(builder_, loc_,
                  {row(Alu::CAST, factor.bytes.base, getElementTypeOrSelf(sum_)), factor.bytes.tracker});
}

Value Rewriter::at(const Offset &offset) {
  Type element = getElementTypeOrSelf(sum_);
  if (!offset.tensor)
    return number(result_, element, offset.number);
  Value tensor = offset.tensor->base;
  if (offset.number != 0)
    tensor = row(Alu::ADD, {tensor, number(shapeOf(tensor), element, offset.number)});
  view::Shape ones(result_.size(), 1);
  ShapeTracker spread = isOneNumber(tensor)
                            ? ShapeTracker::contiguous(shapeOf(tensor)).reshape(ones).expand(result_)
                            : firstOf(offset.tensor->tracker, [&](int64_t axis) { return isReduced(axis); });
  return tensorOf(builder_, loc_, {tensor, spread});
}

int64_t Rewriter::repeats(const Factor &factor) const {
  llvm::SmallBitVector moves = axesOf(factor.bytes.tracker);
  int64_t count = 1;
  for (int64_t axis : sum_.getAxes())
    if (!moves.test(axis))
      count = input_[axis].isConst() ? count * input_[axis].constant() : 0;
  return count;
}

Value Rewriter::total(const Factor &factor, int64_t times) {
  llvm::SmallBitVector moves = axesOf(factor.bytes.tracker);
  Type element = getElementTypeOrSelf(sum_);
  Value wide = row(Alu::CAST, factor.bytes.base, element);
  ShapeTracker once = firstOf(factor.bytes.tracker, [&](int64_t axis) { return !moves.test(axis); });
  auto sum = graph::ReduceOp::create(builder_, loc_, Alu::ADD, tensorOf(builder_, loc_, {wide, once}), sum_.getAxes());
  constants_.add(sum);
  Value result = sum;
  if (int64_t factors = times * repeats(factor); factors != 1)
    result = row(Alu::MUL, {result, number(shapeOf(result), element, factors)});
  // In memory, whether a recipe computes it or a run: a kernel with two sums gets no register tile.
  result = graph::ContiguousOp::create(builder_, loc_, result.getType(), result);
  constants_.add(result.getDefiningOp());
  return tensorOf(builder_, loc_, {result, ShapeTracker::contiguous(shapeOf(result)).expand(result_)});
}

Value Rewriter::correction(const Offset &offset, const Factor &other) {
  if (offset.isZero())
    return {};
  return offset.tensor ? row(Alu::MUL, {at(offset), total(other, 1)}) : total(other, offset.number);
}

Value Rewriter::rewrite() {
  for (Factor &factor : factors_)
    if (Offset &offset = factor.offset; offset.isTaken) {
      offset.tensor->base = row(Alu::NEG, offset.tensor->base);
      offset.isTaken = false;
    }
  auto isFixed = [&](int64_t axis) { return input_[axis].isConst(); };
  for (unsigned side : {0, 1})
    if (!convert(factors_[side], elements_[side]) || repeats(factors_[side]) == 0)
      return {};
  // Windows would add up each element of the data several times.
  auto isLong = [&](int64_t axis) { return !input_[axis].isConst(1); };
  if (!factors_[1].offset.isZero() &&
      (!llvm::all_of(sum_.getAxes(), isFixed) || llvm::count_if(sum_.getAxes(), isLong) > 1))
    return {};
  Value product = row(Alu::MUL, {widened(factors_[0]), widened(factors_[1])});
  Value sum = graph::ReduceOp::create(builder_, loc_, Alu::ADD, product, sum_.getAxes());
  Value corrections[] = {correction(factors_[0].offset, factors_[1]), correction(factors_[1].offset, factors_[0])};
  for (Value added : corrections)
    if (added)
      sum = row(Alu::ADD, {sum, added});
  if (corrections[0] && corrections[1]) {
    int64_t terms = 1;
    for (int64_t axis : sum_.getAxes())
      terms *= input_[axis].constant();
    Value both = row(Alu::MUL, {at(factors_[0].offset), at(factors_[1].offset)});
    sum = row(Alu::ADD, {sum, row(Alu::MUL, {both, number(result_, getElementTypeOrSelf(sum), terms)})});
  }
  return sum;
}

namespace {
struct MultiplyBytes : kiln::impl::MultiplyBytesBase<MultiplyBytes> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    TargetAttr target = targetOf(getOperation());
    bool hasBytes = llvm::any_of(target.getProducts(), [](ProductAttr product) { return product.getB().isInteger(8); });
    if (!main || !hasBytes)
      return;
    KnownConstants constants(main);
    SmallVector<graph::ReduceOp> sums;
    main.walk([&](graph::ReduceOp sum) { sums.push_back(sum); });
    for (graph::ReduceOp sum : sums) {
      Rewriter rewriter(sum, constants);
      if (!rewriter.match() || !rewriter.choose(target) || rewriter.isDone())
        continue;
      if (Value bytes = rewriter.rewrite()) {
        sum.getResult().replaceAllUsesWith(bytes);
        sum.erase();
      }
    }
    graph::eraseDeadOps(main);
  }
};
} // namespace
