//===- TensorBuilderIndexing.cpp - Index tensors, gather, triangles ----------===//
#include "import/DType.h"
#include "import/Scatter.h"
#include "import/TensorBuilder.h"
#include "ir/base/NarrowDType.h"

using namespace kiln;
using namespace kiln::import;
using namespace mlir;
using llvm::Twine;
using view::provablyEqual;

Value TensorBuilder::arange(Expr count, Type element) {
  if (!element)
    return {};
  if (!isa<IntegerType>(element) || element.isInteger(1) || isNarrow(element))
    return fail("positions as " + dtypeName(element), "make them integers and cast");
  if (!fits(count))
    return {};
  return graph::IotaOp::create(builder_, location_, tensorType({count}, element));
}

Value TensorBuilder::gather(Value x, Value indices, int64_t axis) {
  std::optional<int64_t> at = normalizeAxis(axis, rank(x));
  if (!x || !indices || !at)
    return {};
  if (!isInteger(indices))
    return fail("indices of dtype " + dtypeName(element(indices)), "cast them to int64");
  Shape from = shape(x), to(from.begin(), from.begin() + *at);
  to.append(shape(indices));
  to.append(from.begin() + *at + 1, from.end());
  if (!fits(to))
    return {};
  return graph::GatherOp::create(builder_, location_, tensorType(to, element(x)), x, indices,
                                 builder_.getI64IntegerAttr(*at));
}

void TensorBuilder::checkIndices(Value indices, Expr size) {
  constexpr int64_t kFar = int64_t(1) << 40; // no axis is so long, and sums of such numbers do not wrap around
  if (!indices || !ok() || !isInteger(indices) || !sizes_.symbols().options().checksIndices)
    return;
  Value places = cast(indices, int64());
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(rank(places)));
  auto read = [&](Value place, StringRef which) {
    SymbolBounds bounds{-kFar, kFar, 0};
    Value near = clip(place, Operand(-kFar), Operand(kFar)); // also the least and the largest of none
    return sizes_.read((node() + "." + which).str(), near, bounds, builder_, location_, "the index");
  };
  std::string axis = " an axis of size " + size.print() + "; negative ones count from its end";
  Expr least = read(min(places, all), graph::kLeastIndex), largest = read(max(places, all), graph::kLargestIndex);
  check(view::greaterEqual(least, -size), "an index is before" + axis);
  check(view::less(largest, size), "an index is past" + axis);
}

Value TensorBuilder::take(Value x, Value indices, int64_t axis) {
  if (std::optional<int64_t> at = normalizeAxis(axis, rank(x)); x && at)
    checkIndices(indices, dim(x, *at));
  return gather(x, indices, axis);
}

Value TensorBuilder::gatherElements(Value x, Value indices, int64_t axis) {
  Value place = elementPlaces(*this, x, indices, axis);
  return place ? gather(reshape(x, {view::product(shape(x))}), place, 0) : Value();
}

/// x with its first `count` axes made one.
static Value flattenFront(TensorBuilder &b, Value x, int64_t count) {
  Shape from = b.shape(x), flat{view::product(TensorBuilder::Sizes(from).take_front(count))};
  flat.append(from.begin() + count, from.end());
  return b.reshape(x, flat);
}

Value TensorBuilder::gatherND(Value x, Value indices, int64_t batch) {
  Value place = rowPlaces(*this, x, indices, batch);
  return place ? gather(flattenFront(*this, x, batch + dim(indices, -1).constant()), place, 0) : Value();
}

Value TensorBuilder::oneHot(Value indices, Expr depth, int64_t axis, Operand on, Operand off, Type element) {
  std::optional<int64_t> at = normalizeAxis(axis, rank(indices) + 1);
  if (!indices || !at)
    return {};
  if (!isInteger(indices))
    return fail("indices of dtype " + dtypeName(TensorBuilder::element(indices)), "cast them to int64");
  Shape sizes(rank(indices) + 1, Expr(1));
  sizes[*at] = depth;
  Value positions = reshape(arange(depth, int64()), sizes), index = cast(indices, int64());
  if (!TensorBuilder::element(indices).isUnsignedInteger())
    index = where(less(index, 0), add(index, size(depth)), index);
  Value hot = equal(unsqueeze(index, {*at}), positions);
  return where(hot, on.isNumber() ? constant(on, element) : on.tensor(), off);
}

Value TensorBuilder::triangle(Expr rows, Expr columns, Expr diagonal) {
  if (diagonal.max() <= 0 && !diagonal.isConst(0)) // the rest of the other triangle, turned
    return logicalNot(transpose(triangle(columns, rows, 1 - diagonal), 0, 1));
  if (diagonal.min() < 0) {
    Value row = unsqueeze(arange(rows, int64()), {1}), column = unsqueeze(arange(columns, int64()), {0});
    return greaterEqual(sub(column, row), size(diagonal));
  }
  // Rows of a pattern (gap, ones, gap), each row one shorter than the pattern, so that it moves right row by row.
  Expr gap = rows.min() > 0 ? rows : rows + 1; // even without rows and columns, a row has an element to lose
  Expr period = view::sum({diagonal, columns, gap});
  if (!fits({rows, period}))
    return {};
  Value pattern = pad(constant(1, boolType(), {columns}), {diagonal}, {gap});
  Value moved = reshape(expand(pattern, {rows, period}), {rows * period});
  moved = reshape(narrow(moved, 0, 0, rows * (period - 1)), {rows, period - 1});
  return narrow(moved, 1, 0, columns);
}

/// Beyond the largest size of an axis, diagonals are all alike.
static Expr diagonalWithin(Expr diagonal) {
  return view::maximum(view::minimum(diagonal, view::kMaxDim), -view::kMaxDim);
}

Value TensorBuilder::tril(Value x, Expr diagonal) {
  if (!x)
    return {};
  if (rank(x) < 2)
    return fail("a triangle of " + describe(shape(x)), "it needs two axes");
  return where(logicalNot(triangle(dim(x, -2), dim(x, -1), diagonalWithin(diagonal) + 1)), x, 0);
}

Value TensorBuilder::triu(Value x, Expr diagonal) {
  if (!x)
    return {};
  if (rank(x) < 2)
    return fail("a triangle of " + describe(shape(x)), "it needs two axes");
  return where(triangle(dim(x, -2), dim(x, -1), diagonalWithin(diagonal)), x, 0);
}
