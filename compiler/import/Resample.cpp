#include "import/Resample.h"

#include <cmath>
#include <numeric>

using namespace kiln;
using namespace kiln::import;
using mlir::Value;

/// Places that repeat after more elements than this are gathered.
static constexpr int64_t kMostPhases = 16;

namespace {

/// A neighbour of a place and its share.
struct Tap {
  int64_t index;
  double weight;
};
using Taps = llvm::SmallVector<Tap, 4>;

/// The taps of places that are numbers.
class TapTable {
public:
  TapTable(const Resampling &how, double scale) : how_(how), scale_(how.antialias ? std::min(scale, 1.0) : 1) {}

  Taps at(double place) const;

private:
  int64_t nearest(double place) const;
  /// The share of a neighbour at `distance`, before all shares are scaled to add up to 1.
  double weight(double distance) const;

  const Resampling &how_;
  double scale_;
};

} // namespace

int64_t TapTable::nearest(double place) const {
  switch (how_.rounding) {
  case Rounding::HalfDown:
    return int64_t(std::ceil(place - 0.5));
  case Rounding::HalfUp:
    return int64_t(std::floor(place + 0.5));
  case Rounding::Floor:
    return int64_t(std::floor(place));
  case Rounding::Ceil:
    return int64_t(std::ceil(place));
  }
  llvm_unreachable("every rounding is known");
}

double TapTable::weight(double distance) const {
  double x = std::abs(distance) * scale_, a = how_.cubic;
  if (how_.interpolation == Interpolation::Linear)
    return std::max(1 - x, 0.0);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

Taps TapTable::at(double place) const {
  if (how_.interpolation == Interpolation::Nearest)
    return {{nearest(place), 1}};
  double reach = (how_.interpolation == Interpolation::Linear ? 1 : 2) / scale_, sum = 0;
  Taps taps;
  for (auto index = int64_t(std::floor(place - reach)) + 1; double(index) < place + reach; ++index) {
    taps.push_back({index, weight(double(index) - place)});
    sum += taps.back().weight;
  }
  for (Tap &tap : taps)
    tap.weight /= sum;
  return taps;
}

/// The dims of a tensor with `along` along one axis, 1 elsewhere.
static Shape alongAxis(int64_t rank, int64_t axis, llvm::ArrayRef<Expr> along) {
  Shape shape(rank - 1, Expr(1));
  shape.insert(shape.begin() + axis, along.begin(), along.end());
  return shape;
}

/// Weights in float64 if they are for elements of float64, else in float32.
static Value floats(TensorBuilder &b, llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                    llvm::ArrayRef<double> values, mlir::Type element) {
  bool isDouble = element && element.isF64();
  auto dense = mlir::DenseElementsAttr::get(mlir::RankedTensorType::get(shape, b.builder().getF64Type()), values);
  if (!isDouble)
    dense = dense.mapValues(b.float32(), [](const llvm::APFloat &value) {
      return llvm::APInt(32, llvm::bit_cast<uint32_t>(float(value.convertToDouble())));
    });
  return b.weight(name, dense);
}

//===----------------------------------------------------------------------===//
// Places that repeat
//===----------------------------------------------------------------------===//

namespace {
/// Element p·m + r of the result reads `shift`·m further than element r, for each phase r of p.
struct Phases {
  int64_t shift;
  llvm::SmallVector<Taps> taps;
};
} // namespace

static std::optional<Phases> phasesOf(const AxisPlaces &places, const TapTable &table) {
  if (places.crop || !places.slope.isConst() || !places.offset.isConst() || !places.divisor.isConst())
    return std::nullopt;
  int64_t slope = places.slope.constant(), offset = places.offset.constant(), divisor = places.divisor.constant();
  int64_t common = std::gcd(slope, divisor);
  Phases phases{slope / common, {}};
  if (divisor / common > kMostPhases)
    return std::nullopt;
  for (int64_t r = 0; r < divisor / common; ++r)
    phases.taps.push_back(table.at(double(slope * r + offset) / double(divisor)));
  return phases;
}

/// Nearest neighbours that are repeated or evenly spaced; null if they are neither.
static Value movePhases(TensorBuilder &b, Value x, int64_t axis, Expr count, const Phases &phases) {
  int64_t repeats = phases.taps.size(), first = phases.taps[0][0].index;
  if (phases.shift == 1 && llvm::all_of(phases.taps, [](const Taps &taps) { return taps[0].index == 0; }))
    return b.narrow(b.repeatInterleave(x, axis, repeats), axis, 0, count);
  if (repeats != 1 || first < 0 || first >= phases.shift)
    return {};
  return b.stride(b.narrow(x, axis, first, first + (count - 1) * phases.shift + 1), axis, phases.shift);
}

/// Windows, one for all phases together, times each phase's weights.
static Value weighPhases(TensorBuilder &b, Value x, int64_t axis, Expr count, const Phases &phases) {
  int64_t numPhases = phases.taps.size(), low = INT64_MAX, high = INT64_MIN;
  for (const Taps &taps : phases.taps) {
    low = std::min(low, taps.front().index);
    high = std::max(high, taps.back().index);
  }
  int64_t length = high - low + 1, rank = b.rank(x), inner = rank - 1 - axis;
  std::vector<double> weights(numPhases * length);
  for (auto [r, taps] : llvm::enumerate(phases.taps))
    for (const Tap &tap : taps)
      weights[r * length + tap.index - low] = tap.weight;

  // If the first window begins or the last may end outside, the edge is repeated.
  llvm::SmallVector<int64_t> before(rank, 0), after(rank, 0);
  before[axis] = -low;
  // The last window, of the last phases, ends at `last`.
  Expr last = view::floorDiv(count - 1, numPhases) * phases.shift + high;
  bool isInside = view::provablyLess(last, b.dim(x, axis));
  after[axis] = isInside ? 0 : std::max<int64_t>(high, 0);
  mlir::Type element = b.element(x);
  x = b.pad(x, before, after, PadMode::Edge);
  if (isInside) { // an axis shorter than a window has no results
    Shape none(rank, Expr(0)), rest = none;
    rest[axis] = view::maximum(Expr(length) - b.dim(x, axis), 0);
    x = b.pad(x, none, rest);
  }
  // The windows go where the axis was, so that the axes inside keep their order: neighbours along these stay
  // neighbours.
  Value windows = b.windows(b.moveAxis(x, axis, -1), {Expr(length)}, {phases.shift}, {});
  if (!windows)
    return {};
  windows = b.unsqueeze(b.moveAxis(windows, -2, axis), {axis + 1});
  Value table = floats(b, "weights", {numPhases, length}, weights, element);
  Shape along(inner + 2, Expr(1));
  along.front() = numPhases;
  along.back() = length;
  // [outer…, windows, phases, inner…, taps]
  Value sums = b.sum(b.mul(b.cast(windows, b.element(table)), b.reshape(table, along)), {-1});
  Shape merged = b.shape(x);
  merged[axis] = b.dim(windows, axis) * numPhases;
  return b.narrow(b.reshape(b.cast(sums, element), merged), axis, 0, count);
}

//===----------------------------------------------------------------------===//
// Places that are gathered
//===----------------------------------------------------------------------===//

/// The sum of neighbours: `indices` and `weights` (null for one neighbour) are [count, taps].
static Value gatherTaps(TensorBuilder &b, Value x, int64_t axis, Value indices, Value weights) {
  if (!weights)
    return b.gather(x, b.squeeze(indices, {1}), axis);
  Value neighbours = b.gather(x, indices, axis);
  Value weighted =
      b.mul(neighbours, b.cast(b.reshape(weights, alongAxis(b.rank(x), axis, b.shape(weights))), b.element(x)));
  return b.sum(weighted, {axis + 1});
}

/// From a table made here: all sizes are known.
static Value gatherTable(TensorBuilder &b, Value x, int64_t axis, int64_t count, const AxisPlaces &places,
                         const Resampling &how, const TapTable &table) {
  int64_t size = b.dim(x, axis).constant();
  auto placeOf = [&](int64_t o) {
    if (!places.crop)
      return double(places.slope.constant() * o + places.offset.constant()) / double(places.divisor.constant());
    auto [begin, end] = *places.crop;
    double middle = (begin + end) / 2,
           part = count > 1 ? begin + (end - begin) * double(o) / double(count - 1) : middle;
    return part * double(size - 1);
  };
  std::vector<Taps> rows;
  size_t width = 1;
  std::vector<char> inside;
  for (int64_t o = 0; o < count; ++o) {
    double place = placeOf(o), sum = 0;
    inside.push_back(place >= 0 && place <= double(size - 1));
    Taps &taps = rows.emplace_back(table.at(place));
    for (Tap &tap : taps) {
      if (how.excludeOutside && (tap.index < 0 || tap.index >= size))
        tap.weight = 0;
      sum += tap.weight;
    }
    for (Tap &tap : taps)
      tap = {std::clamp<int64_t>(tap.index, 0, size - 1), sum == 0 ? 0 : tap.weight / sum};
    width = std::max(width, taps.size());
  }
  std::vector<int64_t> indices;
  std::vector<double> weights;
  for (Taps &taps : rows) {
    taps.resize(width, {taps.back().index, 0});
    for (const Tap &tap : taps) {
      indices.push_back(tap.index);
      weights.push_back(tap.weight);
    }
  }
  llvm::SmallVector<int64_t> shape{count, int64_t(width)};
  Value places64 = b.weight(
      "places", mlir::DenseElementsAttr::get(mlir::RankedTensorType::get(shape, b.int64()), llvm::ArrayRef(indices)));
  bool isNearest = how.interpolation == Interpolation::Nearest;
  Value result =
      gatherTaps(b, x, axis, places64, isNearest ? Value() : floats(b, "weights", shape, weights, b.element(x)));
  if (!how.extrapolation || !llvm::is_contained(inside, 0))
    return result;
  llvm::SmallVector<bool> mask(inside.begin(), inside.end());
  Value isInside = b.weight(
      "inside", mlir::DenseElementsAttr::get(mlir::RankedTensorType::get({count}, b.boolType()), llvm::ArrayRef(mask)));
  return b.where(b.reshape(isInside, alongAxis(b.rank(x), axis, {count})), result, *how.extrapolation);
}

/// Computed at run time: sizes are symbolic.
static Value gatherComputed(TensorBuilder &b, Value x, int64_t axis, Expr count, const AxisPlaces &places,
                            const Resampling &how) {
  Value divisor = b.size(places.divisor);
  Value numerator = b.add(b.mul(b.arange(count, b.int64()), b.size(places.slope)), b.size(places.offset));
  auto within = [&](Value index) { return b.minimum(b.maximum(index, 0), b.size(b.dim(x, axis) - 1)); };
  auto ceilDiv = [&](Value a, Value c) { return b.neg(b.floorDiv(b.neg(a), c)); };
  if (how.interpolation == Interpolation::Nearest) {
    Value twice = b.mul(numerator, 2), twiceDivisor = b.mul(divisor, 2), index;
    switch (how.rounding) {
    case Rounding::HalfDown:
      index = ceilDiv(b.sub(twice, divisor), twiceDivisor);
      break;
    case Rounding::HalfUp:
      index = b.floorDiv(b.add(twice, divisor), twiceDivisor);
      break;
    case Rounding::Floor:
      index = b.floorDiv(numerator, divisor);
      break;
    case Rounding::Ceil:
      index = ceilDiv(numerator, divisor);
      break;
    }
    return b.gather(x, within(index), axis);
  }
  Value first = b.floorDiv(numerator, divisor);
  mlir::Type real = b.element(x).isF64() ? b.element(x) : b.float32();
  Value t = b.div(b.cast(b.sub(numerator, b.mul(first, divisor)), real), b.cast(divisor, real));
  llvm::SmallVector<Value> indices, weights;
  if (how.interpolation == Interpolation::Linear) {
    indices = {first, b.add(first, 1)};
    weights = {b.sub(1, t), t};
  } else {
    double a = how.cubic;
    auto inner = [&](Value d) { return b.add(b.mul(b.mul(b.sub(b.mul(d, a + 2), a + 3), d), d), 1); };
    auto outer = [&](Value d) { return b.sub(b.mul(b.add(b.mul(b.sub(b.mul(d, a), 5 * a), d), 8 * a), d), 4 * a); };
    Value rest = b.sub(1, t);
    for (int64_t i = -1; i <= 2; ++i)
      indices.push_back(b.add(first, i));
    weights = {outer(b.add(t, 1)), inner(t), inner(rest), outer(b.add(rest, 1))};
  }
  Value result;
  for (auto [index, weight] : llvm::zip(indices, weights)) {
    Value share = b.cast(b.reshape(weight, alongAxis(b.rank(x), axis, {count})), b.element(x));
    Value part = b.mul(b.gather(x, within(index), axis), share);
    result = result ? b.add(result, part) : part;
  }
  return result;
}

Value kiln::import::resample(TensorBuilder &b, Value x, int64_t axis, Expr count, const AxisPlaces &places,
                             const Resampling &how, double scale) {
  if (!x)
    return {};
  if (count.isConst(0))
    return b.narrow(x, axis, 0, 0);
  TapTable table(how, scale);
  bool isNearest = how.interpolation == Interpolation::Nearest;
  if (std::optional<Phases> phases = phasesOf(places, table); phases && !how.excludeOutside && !how.extrapolation) {
    if (!isNearest)
      return weighPhases(b, x, axis, count, *phases);
    if (Value moved = movePhases(b, x, axis, count, *phases))
      return moved;
  }
  Expr size = b.dim(x, axis);
  if (size.isConst() && count.isConst())
    return gatherTable(b, x, axis, count.constant(), places, how, table);
  if (places.crop || how.antialias || how.excludeOutside)
    return b.fail("an axis of size " + size.print() + " is resized to " + count.print() +
                      " by what has to know the sizes",
                  "fix them with --dim");
  return gatherComputed(b, x, axis, count, places, how);
}

Value kiln::import::integersOf(TensorBuilder &b, Value x, mlir::Type element, bool antialias) {
  if (!x || element.isInteger(1))
    return b.cast(x, element);
  // Of float32: some units in the last place of a number, or of bytes that cancelled.
  constexpr double kRelative = 0x1p-21, kAbsolute = 0x1p-13;
  if (antialias)
    return b.cast(b.mul(b.sign(x), b.floor(b.add(b.abs(x), 0.5 + kAbsolute))), element);
  Value whole = b.roundHalfEven(x), error = b.maximum(b.mul(b.abs(x), kRelative), kAbsolute);
  return b.cast(b.where(b.less(error, b.abs(b.sub(x, whole))), x, whole), element);
}
