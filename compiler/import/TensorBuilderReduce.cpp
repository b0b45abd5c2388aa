//===- TensorBuilderReduce.cpp - Reductions and running sums ----------------===//
//
// The graph reduces by ADD, MUL, MAX and MIN alone; means, variances, norms, places of extremes and running sums are
// made of these. An arg max is the least of the places that hold the largest element. A running sum is the sum of the
// window that ends at each element, with zeros before the first; since that takes n² additions, an axis is summed in
// blocks, and the running sum of the blocks' totals is added, which has blocks in turn. Numbers at the edge of a dtype
// decide the details: half precision is summed in float32, exponentials are shifted by the largest, and a NaN counts as
// an extreme.
//
//===------------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/TensorBuilder.h"
#include "ir/base/NarrowDType.h"

using namespace kiln;
using namespace kiln::import;
using namespace mlir;
using llvm::Twine;

Value TensorBuilder::reduce(Alu kind, Value x, Axes axes, bool keepDims) {
  if (!x)
    return {};
  if (isNarrow(element(x)))
    return fail("a reduction of " + dtypeName(element(x)) + " needs a wider dtype", "cast it");
  std::optional<SmallVector<int64_t>> reduced = normalizeAxes(axes, rank(x));
  if (!reduced)
    return {};
  SmallVector<int64_t> longer =
      llvm::filter_to_vector(*reduced, [&](int64_t axis) { return !dim(x, axis).isConst(1); });
  Value result = x;
  if (!longer.empty())
    result = graph::ReduceOp::create(builder_, location_, kind, x, longer);
  return keepDims ? result : squeeze(result, *reduced);
}

Value TensorBuilder::narrowLike(Value x, Type element) {
  return element && (element.isF16() || element.isBF16()) ? cast(x, element) : x;
}

Value TensorBuilder::accumulate(Alu kind, Value x, Axes axes, bool keepDims) {
  return narrowLike(reduce(kind, widen(x), axes, keepDims), element(x));
}

std::optional<Expr> TensorBuilder::countAlong(Value x, Axes axes) {
  std::optional<SmallVector<int64_t>> reduced = normalizeAxes(axes, rank(x));
  if (!x || !reduced)
    return std::nullopt;
  return view::product(llvm::map_to_vector(*reduced, [&](int64_t axis) { return dim(x, axis); }));
}

Operand TensorBuilder::reciprocal(Expr count, Type element) {
  if (std::optional<int64_t> number = count.asConst())
    return *number == 0 ? std::numeric_limits<double>::infinity() : 1.0 / double(*number);
  return recip(cast(size(count), element));
}

Value TensorBuilder::mean(Value x, Axes axes, bool keepDims) {
  std::optional<Expr> count = countAlong(x, axes);
  if (!count)
    return {};
  Value total = reduce(Alu::ADD, widen(x), axes, keepDims);
  if (total && !isFloat(total))
    total = cast(total, float32());
  return total ? narrowLike(mul(total, reciprocal(*count, element(total))), element(x)) : Value();
}

Value TensorBuilder::var(Value x, Axes axes, bool keepDims, int64_t correction) {
  std::optional<Expr> count = countAlong(x, axes);
  if (!count)
    return {};
  Value average = mean(widen(x), axes, /*keepDims=*/true);
  Value squares = average ? square(sub(cast(x, element(average)), average)) : Value();
  Value total = reduce(Alu::ADD, squares, axes, keepDims);
  Expr divisor = view::maximum(*count - correction, 0);
  return total ? narrowLike(mul(total, reciprocal(divisor, element(total))), element(x)) : Value();
}

Value TensorBuilder::stddev(Value x, Axes axes, bool keepDims, int64_t correction) {
  return narrowLike(sqrt(var(widen(x), axes, keepDims, correction)), element(x));
}

Value TensorBuilder::sumSquares(Value x, Axes axes, bool keepDims) {
  return narrowLike(reduce(Alu::ADD, square(widen(x)), axes, keepDims), element(x));
}

Value TensorBuilder::l2(Value x, Axes axes, bool keepDims) {
  Value squares = sumSquares(widen(x), axes, keepDims);
  if (squares && !isFloat(squares))
    squares = cast(squares, float32());
  return narrowLike(sqrt(squares), element(x));
}

Value TensorBuilder::logSumExp(Value x, Axes axes, bool keepDims) {
  Value wide = widen(x);
  Value largest = max(wide, axes, /*keepDims=*/true);
  // An infinite maximum would make inf - inf.
  Value shift = where(isInf(largest), 0, largest);
  Value result = add(log(sum(exp(sub(wide, shift)), axes, /*keepDims=*/true)), shift);
  return narrowLike(keepDims ? result : squeeze(result, axes), element(x));
}

Value TensorBuilder::argExtreme(Alu kind, Value x, int64_t axis, bool keepDims, Type index, bool last) {
  std::optional<int64_t> at = normalizeAxis(axis, rank(x));
  if (!x || !at)
    return {};
  Expr size = dim(x, *at);
  if (size.isConst(0))
    return fail("no largest or smallest along an empty axis of " + describe(shape(x)));
  Value found = equal(x, reduce(kind, x, {*at}, /*keepDims=*/true));
  if (isFloat(x))
    found = bitOr(found, isNaN(x));
  Shape along(rank(x), Expr(1));
  along[*at] = size;
  Value positions = reshape(arange(size, index), along);
  Value miss = cast(this->size(last ? Expr(0) : size - 1), index);
  return reduce(last ? Alu::MAX : Alu::MIN, where(found, positions, miss), {*at}, keepDims);
}

Value TensorBuilder::argMax(Value x, int64_t axis, bool keepDims, Type index, bool last) {
  return argExtreme(Alu::MAX, x, axis, keepDims, index, last);
}

Value TensorBuilder::argMin(Value x, int64_t axis, bool keepDims, Type index, bool last) {
  return argExtreme(Alu::MIN, x, axis, keepDims, index, last);
}

/// The elements of a block of running totals, and how many levels of blocks there are at most: a size that only a run
/// knows gets as many as one that is written, so that both give the same bits. A million elements leave 245 totals to
/// the last level, which takes squared time.
static constexpr int64_t kRunningBlock = 16, kRunningLevels = 3;

/// The sizes of a tensor's padding: so many elements of one axis.
static Shape amountAlong(TensorBuilder &b, Value x, int64_t axis, Expr count) {
  Shape amount(b.rank(x), Expr(0));
  amount[axis] = count;
  return amount;
}

/// Each element in the place after its own, with the identity first.
static Value shifted(TensorBuilder &b, Value x, int64_t axis, Operand identity) {
  return b.narrow(b.pad(x, amountAlong(b, x, axis, 1), amountAlong(b, x, axis, 0), identity), axis, 0, b.dim(x, axis));
}

/// Totals of all that ends at each element of an axis, which stays where it is: other axes may be the lanes.
static Value totalsAlong(TensorBuilder &b, Alu kind, Value x, int64_t axis, int64_t levels) {
  Expr size = b.dim(x, axis);
  Operand identity(kind == Alu::MUL ? 1 : 0);
  Shape none = amountAlong(b, x, axis, 0);
  if (levels > 0 && size.max() > kRunningBlock) {
    Expr blocks = view::ceilDiv(size, kRunningBlock), all = blocks * kRunningBlock;
    Shape split = b.shape(x), flat = split;
    flat[axis] = all;
    split[axis] = blocks;
    split.insert(split.begin() + axis + 1, Expr(kRunningBlock));
    Value parts = b.reshape(b.pad(x, none, amountAlong(b, x, axis, all - size), identity), split);
    Value inside = totalsAlong(b, kind, parts, axis + 1, /*levels=*/0);
    Value ofBlocks = b.squeeze(b.narrow(inside, axis + 1, kRunningBlock - 1, kRunningBlock), {axis + 1});
    Value before = totalsAlong(b, kind, shifted(b, ofBlocks, axis, identity), axis, levels - 1);
    return b.narrow(b.reshape(b.alu(kind, {inside, b.unsqueeze(before, {axis + 1})}), flat), axis, 0, size);
  }
  // One element of padding more than needed if there may be no element, so that no size is negative.
  bool mayBeEmpty = size.min() < 1;
  int64_t rank = b.rank(x);
  Shape kernel(rank - axis, Expr(1));
  kernel.front() = size;
  Value padded = b.pad(x, amountAlong(b, x, axis, mayBeEmpty ? size : size - 1), none, identity);
  Value windows = b.windows(padded, kernel, {}, {});
  if (mayBeEmpty)
    windows = b.narrow(windows, axis, 1, size + 1);
  return b.reduce(kind, windows, llvm::to_vector(llvm::seq(rank, rank + rank - axis)), /*keepDims=*/false);
}

Value TensorBuilder::running(Alu kind, Value x, int64_t axis, bool exclusive, bool reverse) {
  std::optional<int64_t> at = normalizeAxis(axis, rank(x));
  if (!x || !at)
    return {};
  if (llvm::is_contained(shape(x), Expr(0)))
    return x;
  if (reverse)
    return flip(running(kind, flip(x, {*at}), *at, exclusive), {*at});
  if (exclusive)
    x = shifted(*this, x, *at, Operand(kind == Alu::MUL ? 1 : 0));
  return totalsAlong(*this, kind, x, *at, kRunningLevels);
}

Value TensorBuilder::cumsum(Value x, int64_t axis, bool exclusive, bool reverse) {
  Type type = x && isBool(x) ? int32() : element(x);
  return cast(running(Alu::ADD, widen(x), axis, exclusive, reverse), type);
}
