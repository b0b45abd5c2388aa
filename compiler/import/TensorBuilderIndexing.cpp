//===- TensorBuilderIndexing.cpp - Index tensors, gather, triangles ----------===//
#include "import/DType.h"
#include "import/TensorBuilder.h"

using namespace kiln;
using namespace kiln::import;
using namespace mlir;
using llvm::Twine;
using view::provablyEqual;

Value TensorBuilder::arange(Expr count, Type element) {
  if (!isa<IntegerType>(element) || element.isInteger(1))
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

Value TensorBuilder::gatherElements(Value x, Value indices, int64_t axis) {
  std::optional<int64_t> at = normalizeAxis(axis, rank(x));
  if (!x || !indices || !at)
    return {};
  if (rank(indices) != rank(x) || !isInteger(indices))
    return fail("indices " + describe(shape(indices)) + " of dtype " + dtypeName(element(indices)) + " for " +
                    describe(shape(x)),
                "they are integers and have as many axes");
  // The place in the flattened tensor.
  Value place = constant(0, int64(), {});
  Expr step = 1;
  for (int64_t i = rank(x) - 1; i >= 0; --i) {
    Value along;
    if (i == *at) {
      Value index = cast(indices, int64());
      along = where(less(index, 0), add(index, size(dim(x, i))), index);
    } else {
      Shape sizes(rank(x), Expr(1));
      sizes[i] = dim(indices, i);
      along = reshape(arange(dim(indices, i), int64()), sizes);
    }
    place = add(mul(along, size(step)), place);
    step = step * dim(x, i);
  }
  return gather(reshape(x, {step}), place, 0);
}

Value TensorBuilder::gatherND(Value x, Value indices, int64_t batch) {
  if (!x || !indices)
    return {};
  std::optional<int64_t> places = rank(indices) ? dim(indices, -1).asConst() : std::nullopt;
  bool fits = isInteger(indices) && batch >= 0 && batch < rank(indices) && places && batch + *places <= rank(x);
  for (int64_t i = 0; fits && i < batch; ++i)
    fits = provablyEqual(dim(x, i), dim(indices, i));
  if (!fits)
    return fail("indices " + describe(shape(indices)) + " of dtype " + dtypeName(element(indices)) + " for " +
                    describe(shape(x)) + " with " + Twine(batch) + " batch axes",
                "they are integers, and their last size is a number of axes");
  // The place in x with its batch axes and the indexed ones flattened.
  Shape from = shape(x), among(shape(indices));
  among.pop_back();
  Sizes rest = Sizes(from).drop_front(batch + *places);
  Value place = constant(0, int64(), among);
  Expr step = 1;
  for (int64_t i = *places - 1; i >= 0; --i) {
    Expr size = from[batch + i];
    Value index = cast(reshape(narrow(indices, -1, i, i + 1), among), int64());
    index = where(less(index, 0), add(index, this->size(size)), index);
    place = add(mul(index, this->size(step)), place);
    step = step * size;
  }
  if (batch > 0) {
    Shape sizes(among.begin(), among.begin() + batch);
    Value first = reshape(arange(view::product(sizes), int64()), sizes);
    while (first && rank(first) < int64_t(among.size()))
      first = unsqueeze(first, {rank(first)});
    place = add(mul(first, this->size(step)), place);
    step = step * view::product(sizes);
  }
  Shape flat{step};
  flat.append(rest.begin(), rest.end());
  return gather(reshape(x, flat), place, 0);
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
  Expr gap = rows.min() > 0 ? rows : rows + 1; // also without rows and columns a row has an element to lose
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
