//===- TensorBuilderReduce.cpp - Reductions and running sums ----------------===//
//
// The graph reduces by ADD, MUL, MAX and MIN alone; means, variances, norms, places of extremes and running sums are
// made of these. An arg max is the least of the places that hold the largest element. A running sum is the sum of the
// window that ends at each element, with zeros before the first; since that takes n² additions, a long axis is summed
// in blocks of 256, and the running sum of the blocks' totals is added. Numbers at the edge of a dtype decide the
// details: half precision is summed in float32, exponentials are shifted by the largest, and a NaN counts as an
// extreme.
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

Value TensorBuilder::cumsum(Value x, int64_t axis, bool exclusive, bool reverse) {
  std::optional<int64_t> at = normalizeAxis(axis, rank(x));
  if (!x || !at)
    return {};
  Type type = isBool(x) ? int32() : element(x);
  Expr size = dim(x, *at);
  if (size.isConst(0))
    return cast(x, type);
  if (reverse)
    return flip(cumsum(flip(x, {*at}), *at, exclusive), {*at});
  if (*at != rank(x) - 1)
    return transpose(cumsum(transpose(x, *at, -1), -1, exclusive), *at, -1);
  Shape none(rank(x), Expr(0)), amount = none;
  if (exclusive) {
    amount.back() = 1;
    return cumsum(narrow(pad(x, amount, none), -1, 0, size), -1);
  }
  Value wide = widen(x);
  constexpr int64_t block = 256;
  if (size.isConst() && size.constant() > 2 * block) {
    // Sums within blocks, plus the running sum of the blocks before.
    int64_t blocks = llvm::divideCeil(size.constant(), block);
    amount.back() = blocks * block - size.constant();
    Shape split = shape(x), flat = split;
    split.back() = blocks;
    split.push_back(block);
    flat.back() = blocks * block;
    Value inner = cumsum(reshape(pad(wide, none, amount), split), -1);
    Value before = cumsum(narrow(inner, -1, block - 1, block), -2, /*exclusive=*/true);
    return cast(narrow(reshape(add(inner, before), flat), -1, 0, size), type);
  }
  // Element i is the sum of the window that ends there, with zeros before the first element: one zero more than needed
  // if there may be no element, so that no size is negative.
  bool mayBeEmpty = size.min() < 1;
  amount.back() = mayBeEmpty ? size : size - 1;
  Value windows = this->windows(pad(wide, amount, none), {size}, {}, {});
  if (mayBeEmpty)
    windows = narrow(windows, -2, 1, size + 1);
  return cast(reduce(Alu::ADD, windows, {-1}, /*keepDims=*/false), type);
}
