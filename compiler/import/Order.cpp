#include "import/Order.h"

#include "import/Scatter.h"
#include "ir/base/DType.h"

using namespace kiln;
using namespace kiln::import;
using mlir::Value;

/// Pairs of an axis of as many elements take longer than putting them in order.
static constexpr int64_t kLongAxis = 128;

Value kiln::import::placesInOrder(TensorBuilder &b, Value x, bool largestFirst) {
  if (!x)
    return {};
  Value mine = b.unsqueeze(x, {-1}), other = b.unsqueeze(x, {-2}); // [..., i, 1] and [..., 1, j]
  Value number = b.arange(b.dim(x, -1), b.int64());
  Value isEarlier = b.less(b.unsqueeze(number, {0}), b.unsqueeze(number, {1}));
  Value isBefore = largestFirst ? b.less(mine, other) : b.less(other, mine), isSame = b.equal(mine, other);
  if (b.isFloat(x)) {
    isBefore = b.bitOr(isBefore, largestFirst ? b.bitAnd(b.isNaN(other), b.logicalNot(b.isNaN(mine)))
                                              : b.bitAnd(b.isNaN(mine), b.logicalNot(b.isNaN(other))));
    isSame = b.bitOr(isSame, b.bitAnd(b.isNaN(mine), b.isNaN(other)));
  }
  return b.sum(b.cast(b.bitOr(isBefore, b.bitAnd(isSame, isEarlier)), b.int64()), {-1});
}

Value kiln::import::firstInOrder(TensorBuilder &b, Value places, Expr count) {
  if (!places)
    return {};
  // [..., k, i]: whether i has place k.
  Value isChosen = b.equal(b.unsqueeze(places, {-2}), b.unsqueeze(b.arange(count, b.int64()), {1}));
  return b.sum(b.where(isChosen, b.arange(b.dim(places, -1), b.int64()), b.constant(0, b.int64())), {-1});
}

Value kiln::import::firstPlaces(TensorBuilder &b, Value x, Expr count, bool largestFirst) {
  if (!x)
    return {};
  Expr size = b.dim(x, -1);
  if (size.max() < kLongAxis)
    return firstInOrder(b, placesInOrder(b, x, largestFirst), count);
  Shape shape = b.shape(x);
  shape.back() = count;
  Expr rows = view::product(TensorBuilder::Sizes(shape).drop_back());
  return callHost(b, "order", {tensorType(shape, b.int64())}, {x},
                  {rows, size, count, int64_t(*dtypeOf(b.element(x))), int64_t(largestFirst)})[0];
}
