#include "import/Sample.h"

using namespace kiln;
using namespace kiln::import;
using mlir::Value;

/// So many channels that are read at the same places are worth a copy in which they lie side by side.
static constexpr int64_t kFewestChannels = 16;

Value kiln::import::weightAt(TensorBuilder &b, Value distance, Interpolation interpolation, double cubic) {
  Value x = b.abs(distance);
  if (interpolation == Interpolation::Linear)
    return b.maximum(b.sub(1, x), 0);
  double a = cubic;
  Value inner = b.add(b.mul(b.mul(b.sub(b.mul(x, a + 2), a + 3), x), x), 1);
  Value outer = b.sub(b.mul(b.add(b.mul(b.sub(b.mul(x, a), 5 * a), x), 8 * a), x), 4 * a);
  return b.where(b.lessEqual(x, 1), inner, b.where(b.less(x, 2), outer, 0));
}

/// x as [1…, its dims, 1…] with `before` axes before and `after` axes after them.
static Value between(TensorBuilder &b, Value x, int64_t before, int64_t after) {
  Shape shape(before, Expr(1));
  shape.append(b.shape(x));
  shape.append(after, Expr(1));
  return b.reshape(x, shape);
}

static Value nearest(TensorBuilder &b, Value place, Rounding rounding) {
  switch (rounding) {
  case Rounding::HalfDown:
    return b.ceil(b.sub(place, 0.5));
  case Rounding::HalfUp:
    return b.floor(b.add(place, 0.5));
  case Rounding::Floor:
    return b.floor(place);
  case Rounding::Ceil:
    return b.ceil(place);
  }
  llvm_unreachable("every rounding is known");
}

Value kiln::import::resampleAt(TensorBuilder &b, Value x, int64_t axis, Value places, Expr taps, const Resampling &how,
                               Value scale) {
  if (!x || !places)
    return {};
  int64_t after = b.rank(x) - axis - 1;
  Value last = b.size(b.dim(x, axis) - 1), lastPlace = b.cast(last, b.element(places));
  auto within = [&](Value index) { return b.minimum(b.maximum(b.cast(index, b.int64()), 0), last); };
  Value result;
  if (how.interpolation == Interpolation::Nearest) {
    result = b.gather(x, within(nearest(b, places, how.rounding)), axis);
  } else {
    Value place = b.unsqueeze(places, {1}), reach = b.cast(b.size(taps), b.element(places));
    // The first of the neighbours: as many are before the place as after it.
    Value tap = b.cast(b.unsqueeze(b.arange(taps, b.int64()), {0}), b.element(places));
    Value first = b.add(b.floor(b.sub(place, b.mul(reach, 0.5))), 1);
    Value index = b.add(first, tap), distance = b.sub(index, place);
    Value weight = weightAt(b, scale ? b.mul(distance, scale) : distance, how.interpolation, how.cubic);
    if (how.excludeOutside)
      weight = b.where(b.bitAnd(b.greaterEqual(index, 0), b.lessEqual(index, lastPlace)), weight, 0);
    Value sum = b.sum(weight, {1}, /*keepDims=*/true);
    weight = b.where(b.equal(sum, 0), 0, b.div(weight, sum));
    Value neighbours = b.gather(x, within(index), axis);
    result = b.sum(b.mul(neighbours, b.cast(between(b, weight, axis, after), b.element(x))), {axis + 1});
  }
  if (!how.extrapolation)
    return result;
  Value isInside = b.bitAnd(b.greaterEqual(places, 0), b.lessEqual(places, lastPlace));
  return b.where(between(b, isInside, axis, after), result, *how.extrapolation);
}

/// The place mirrored at the borders until it is between them.
static Value reflect(TensorBuilder &b, Value place, Value low, Value high) {
  Value range = b.sub(high, low), period = b.mul(range, 2);
  Value way = b.floorMod(b.sub(place, low), b.where(b.greater(period, 0), period, 1));
  return b.add(low, b.where(b.greater(way, range), b.sub(period, way), way));
}

Neighbours kiln::import::neighboursAt(TensorBuilder &b, Value x, Value images, llvm::ArrayRef<Value> places,
                                      const Sampling &how) {
  if (!x || llvm::is_contained(places, Value()))
    return {};
  int64_t axes = places.size(), rank = b.rank(places[0]);
  mlir::Type real = b.element(places[0]);
  int64_t taps = how.interpolation == Interpolation::Nearest ? 1 : how.interpolation == Interpolation::Linear ? 2 : 4;
  Value row, isInside;
  Neighbours result;
  for (auto [i, given] : llvm::enumerate(places)) {
    Value size = b.size(b.dim(x, 2 + i)), last = b.cast(b.sub(size, 1), real);
    Value low = b.constant(how.alignCorners ? 0.0 : -0.5, real), high = how.alignCorners ? last : b.add(last, 0.5);
    auto isBeyond = [&](Value place) { return b.bitOr(b.less(place, low), b.less(high, place)); };
    Value place = how.interpolation == Interpolation::Nearest ? b.roundHalfEven(given) : Value(given);
    // For cubic, each neighbour is moved to the border by itself, as PyTorch and ONNX Runtime do; for the others this
    // makes no difference.
    if (how.outside == Outside::Border && how.interpolation != Interpolation::Cubic)
      place = b.where(isBeyond(place), b.minimum(b.maximum(place, 0), last), place);
    else if (how.outside == Outside::Reflection)
      place = b.where(isBeyond(place), reflect(b, place, low, high), place);
    Value index = between(b, place, axes, 0);
    if (taps > 1) {
      Shape along(rank + axes, Expr(1));
      along[i] = taps;
      Value at = index, tap = b.cast(b.reshape(b.arange(taps, b.int64()), along), real);
      index = b.add(b.floor(at), b.sub(tap, taps / 2 - 1));
      Value share = weightAt(b, b.sub(index, at), how.interpolation, -0.75);
      result.weights = result.weights ? b.mul(result.weights, share) : share;
    }
    if (how.outside == Outside::Zeros) {
      Value fits = b.bitAnd(b.greaterEqual(index, 0), b.lessEqual(index, last));
      isInside = isInside ? b.bitAnd(isInside, fits) : fits;
    } else if (how.outside == Outside::Reflection) {
      index = b.trunc(b.where(isBeyond(index), reflect(b, index, low, high), index));
    }
    Value step = b.minimum(b.maximum(b.cast(index, b.int64()), 0), b.sub(size, 1));
    row = row ? b.add(b.mul(row, size), step) : step;
  }
  Shape from = b.shape(x), image(rank + axes, Expr(1));
  Expr channels = from[1], pixels = view::product(TensorBuilder::Sizes(from).drop_front(2));
  image[axes] = from[0];
  Value first = images ? between(b, images, axes, 0) : b.reshape(b.arange(from[0], b.int64()), image);
  bool isForAll = llvm::all_of(places, [&](Value place) { return b.dim(place, 1).isConst(1); });
  if (isForAll && channels.isConst() && channels.constant() >= kFewestChannels) {
    Value rows = b.reshape(b.contiguous(b.moveAxis(x, 1, -1)), {from[0] * pixels, channels});
    Value read = b.gather(rows, b.add(b.mul(first, b.size(pixels)), row), 0);
    result.values = b.moveAxis(b.squeeze(read, {axes + 1}), -1, axes + 1);
  } else {
    // Where in x, flattened: image, channel, and then the row that the places name.
    Shape channel(rank + axes, Expr(1));
    channel[axes + 1] = channels;
    first = b.add(b.mul(first, b.size(channels)), b.reshape(b.arange(channels, b.int64()), channel));
    result.values = b.gather(b.reshape(x, {view::product(from)}), b.add(b.mul(first, b.size(pixels)), row), 0);
  }
  if (isInside)
    result.values = b.where(isInside, result.values, 0);
  if (result.weights)
    result.weights = b.cast(result.weights, b.element(x));
  return result;
}

Value kiln::import::sample(TensorBuilder &b, Value x, llvm::ArrayRef<Value> places, const Sampling &how) {
  Neighbours neighbours = neighboursAt(b, x, {}, places, how);
  if (!neighbours.values)
    return {};
  llvm::SmallVector<int64_t> taps = llvm::to_vector(llvm::seq<int64_t>(places.size()));
  if (!neighbours.weights)
    return b.squeeze(neighbours.values, taps);
  return b.sum(b.mul(neighbours.values, neighbours.weights), taps);
}
