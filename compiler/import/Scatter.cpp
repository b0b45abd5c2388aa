#include "import/Scatter.h"

#include "import/DType.h"
#include "ir/base/DType.h"
#include "ir/base/ObjectType.h"
#include "ir/graph/Call.h"

using namespace kiln;
using namespace kiln::import;
using llvm::Twine;
using mlir::Value;

llvm::SmallVector<Value> kiln::import::callHost(TensorBuilder &b, llvm::StringRef callee,
                                                llvm::ArrayRef<mlir::RankedTensorType> results,
                                                llvm::ArrayRef<Value> operands, llvm::ArrayRef<Expr> numbers) {
  if (!b.ok() || llvm::is_contained(operands, Value()))
    return llvm::SmallVector<Value>(results.size());
  llvm::SmallVector<mlir::Type> types(results.begin(), results.end());
  mlir::MLIRContext *context = b.builder().getContext();
  auto call = graph::CallOp::create(b.builder(), b.location(), types, mlir::StringAttr::get(context, callee), operands,
                                    DimsAttr::get(context, numbers));
  return call.getResults();
}

/// An index counted from the front. `isInside` is narrowed to indices within the axis.
static Value fromFront(TensorBuilder &b, Value index, Expr size, Value &isInside) {
  b.checkIndices(index, size);
  index = b.where(b.less(index, 0), b.add(index, b.size(size)), index);
  Value fits = b.bitAnd(b.greaterEqual(index, 0), b.less(index, b.size(size)));
  isInside = isInside ? b.bitAnd(isInside, fits) : fits;
  return index;
}

Value kiln::import::elementPlaces(TensorBuilder &b, Value x, Value indices, int64_t axis) {
  std::optional<int64_t> at = b.normalizeAxis(axis, b.rank(x));
  if (!x || !indices || !at)
    return {};
  if (b.rank(indices) != b.rank(x) || !b.isInteger(indices))
    return b.fail("indices " + describe(b.shape(indices)) + " of dtype " + dtypeName(b.element(indices)) + " for " +
                      describe(b.shape(x)),
                  "they are integers and have as many axes");
  Value place = b.constant(0, b.int64(), {}), isInside;
  Expr step = 1;
  for (int64_t i = b.rank(x) - 1; i >= 0; --i) {
    Value along;
    if (i == *at) {
      along = fromFront(b, b.cast(indices, b.int64()), b.dim(x, i), isInside);
    } else {
      Shape sizes(b.rank(x), Expr(1));
      sizes[i] = b.dim(indices, i);
      along = b.reshape(b.arange(b.dim(indices, i), b.int64()), sizes);
    }
    place = b.add(b.mul(along, b.size(step)), place);
    step = step * b.dim(x, i);
  }
  return b.where(isInside, place, b.size(step));
}

Value kiln::import::rowPlaces(TensorBuilder &b, Value x, Value indices, int64_t batch) {
  if (!x || !indices)
    return {};
  std::optional<int64_t> places = b.rank(indices) ? b.dim(indices, -1).asConst() : std::nullopt;
  if (b.rank(indices) && !places)
    return b.fail("the last size of the indices, " + b.dim(indices, -1).print() + ", is not known at import",
                  "fix it with --dim");
  bool fits = b.isInteger(indices) && batch >= 0 && batch < b.rank(indices) && places && batch + *places <= b.rank(x);
  for (int64_t i = 0; fits && i < batch; ++i)
    fits = provablyEqual(b.dim(x, i), b.dim(indices, i));
  if (!fits)
    return b.fail("indices " + describe(b.shape(indices)) + " of dtype " + dtypeName(b.element(indices)) + " for " +
                      describe(b.shape(x)) + " with " + Twine(batch) + " batch axes",
                  "they are integers, and their last size is a number of axes");
  Shape from = b.shape(x), among(b.shape(indices));
  among.pop_back();
  Value place = b.constant(0, b.int64(), among), isInside;
  Expr step = 1;
  for (int64_t i = *places - 1; i >= 0; --i) {
    Expr size = from[batch + i];
    Value index = b.cast(b.reshape(b.narrow(indices, -1, i, i + 1), among), b.int64());
    index = fromFront(b, index, size, isInside);
    place = b.add(b.mul(index, b.size(step)), place);
    step = step * size;
  }
  if (batch > 0) {
    Shape sizes(among.begin(), among.begin() + batch);
    Value first = b.reshape(b.arange(view::product(sizes), b.int64()), sizes);
    while (first && b.rank(first) < int64_t(among.size()))
      first = b.unsqueeze(first, {b.rank(first)});
    place = b.add(b.mul(first, b.size(step)), place);
    step = step * view::product(sizes);
  }
  return isInside ? b.where(isInside, place, b.size(step)) : place;
}

Value kiln::import::scatter(TensorBuilder &b, Value x, Value places, Value updates, Combine how) {
  if (!x || !places || !updates)
    return {};
  Shape from = b.shape(x), row(from.begin() + 1, from.end()), wanted = b.shape(places);
  wanted.append(row);
  mlir::Type element = b.element(x);
  if (element != b.element(updates))
    return b.fail("updates of dtype " + dtypeName(b.element(updates)) + " for a tensor of " + dtypeName(element),
                  "they have one dtype");
  if (b.rank(updates) != int64_t(wanted.size()))
    return b.fail("updates " + describe(b.shape(updates)) + " where " + describe(wanted) + " are needed");
  updates = b.reshape(updates, wanted);
  Expr count = view::product(b.shape(places)), width = view::product(row);
  DType stored = isObject(element) ? DType::I64 : *dtypeOf(element); // a reference to a string has 64 bits
  return callHost(b, "scatter", {tensorType(from, element)}, {x, b.cast(places, b.int64()), updates},
                  {from[0], count, width, int64_t(stored), int64_t(how)})[0];
}

Value kiln::import::scatterElements(TensorBuilder &b, Value x, Value indices, Value updates, int64_t axis,
                                    Combine how) {
  Value places = elementPlaces(b, x, indices, axis);
  if (!places || !updates)
    return {};
  Value flat = scatter(b, b.reshape(x, {view::product(b.shape(x))}), places, updates, how);
  return b.reshape(flat, b.shape(x));
}

Value kiln::import::scatterND(TensorBuilder &b, Value x, Value indices, Value updates, Combine how) {
  Value places = rowPlaces(b, x, indices, 0);
  if (!places)
    return {};
  Shape from = b.shape(x);
  int64_t named = b.dim(indices, -1).constant();
  Shape flat{view::product(TensorBuilder::Sizes(from).take_front(named))};
  flat.append(from.begin() + named, from.end());
  return b.reshape(scatter(b, b.reshape(x, flat), places, updates, how), from);
}
