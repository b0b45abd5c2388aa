//===- Resize.cpp - Resize, and Upsample before it --------------------------===//
//
// A factor is a float in the model, and the place of an element must be the same on every machine. So factors are
// fractions of integers, and places are computed in these; an axis then is a product of windows with a few weights, or
// gathered (import/Resample.h). Factors, regions or sizes that are data take a path of their own (ResizeByData.h).
//
//===----------------------------------------------------------------------===//
#include "import/onnx/Registry.h"
#include "import/onnx/file/ModelFile.h"
#include "import/onnx/tensor/ResizeByData.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

namespace {
/// How an axis changes: to `count` elements, `numerator`/`denominator` times as many. With scales that do not divide,
/// the two differ.
struct Factor {
  Expr count, numerator, denominator;
};
} // namespace

/// A float as a fraction, which equals it exactly if it is no wider than 2^±40.
static std::optional<std::pair<int64_t, int64_t>> fraction(double number) {
  int64_t denominator = 1;
  while (number != std::floor(number) && denominator < (int64_t(1) << 40)) {
    number *= 2;
    denominator *= 2;
  }
  if (!(number > 0 && number < 0x1p40 && number == std::floor(number)))
    return std::nullopt;
  return std::pair(int64_t(number), denominator);
}

/// ⌊size·scale⌋ with the product rounded to float32, as ONNX Runtime has it: 10 · 0.7 is 7. `parts` are the scale's.
static Expr roundedCount(Expr size, std::pair<int64_t, int64_t> parts) {
  constexpr int kBits = 24, kMostDoublings = 15; // of a float's mantissa; of results beyond them the last place counts
  auto [numerator, denominator] = parts;
  if (size.isConst())
    return int64_t(float(size.constant()) * (float(numerator) / float(denominator)));
  Expr product = size * numerator;
  if (denominator == 1 || numerator <= int64_t(1) << (kBits - kMostDoublings))
    return view::floorDiv(product, denominator);
  // Half of the last place of a number from 2^j on is 2^(j - 24): that much is missing from the next integer at most.
  Expr half = 0;
  for (int j = 0; j <= kMostDoublings; ++j) {
    auto halfFrom = [&](int power) { return int64_t(std::ldexp(double(denominator), power - kBits)); };
    int64_t more = halfFrom(j) - (j > 0 ? halfFrom(j - 1) : 0);
    if (more > 0)
      half = half + view::minimum(view::maximum(product - (int64_t(1) << j) * denominator + 1, 0), 1) * more;
  }
  return view::floorDiv(product + half, denominator);
}

static std::optional<Factor> scaledBy(Node &n, Expr size, double scale) {
  std::optional<std::pair<int64_t, int64_t>> parts = fraction(scale);
  if (!parts) {
    n.fail("a scale is " + std::to_string(scale), "scales are positive and not extreme");
    return std::nullopt;
  }
  return Factor{roundedCount(size, *parts), parts->first, parts->second};
}

/// keep_aspect_ratio_policy: all axes change by one factor, the smallest or the largest that `sizes` would give.
static bool keepAspect(Node &n, llvm::ArrayRef<Expr> from, bool smallest, llvm::MutableArrayRef<Factor> factors) {
  const Factor *chosen = nullptr;
  auto ratio = [](const Factor &factor) {
    return double(factor.numerator.constant()) / double(factor.denominator.constant());
  };
  for (const Factor &factor : factors) {
    if (!factor.numerator.isConst() || !factor.denominator.isConst() || factor.denominator.isConst(0)) {
      n.fail("attribute 'keep_aspect_ratio_policy' needs to know the sizes", "fix them with --dim");
      return false;
    }
    if (!chosen || (smallest ? ratio(factor) < ratio(*chosen) : ratio(factor) > ratio(*chosen)))
      chosen = &factor;
  }
  if (!chosen)
    return true;
  int64_t numerator = chosen->numerator.constant(), denominator = chosen->denominator.constant();
  for (auto [size, factor] : llvm::zip(from, factors))
    factor = {(size.constant() * numerator * 2 + denominator) / (denominator * 2), numerator, denominator};
  return true;
}

/// An input that is an empty list is none.
static bool isGiven(Node &n, int index) {
  return n.has(index) && !(n.tensor(index) && n.tensor(index).shape() == Shape{Expr(0)});
}

/// keep_aspect_ratio_policy, which opset 18 brought; nothing after a failure.
static std::optional<std::string> policyOf(Node &n) {
  std::string policy = n.opset() < 18 ? "stretch" : n.string("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || policy == "not_larger" || policy == "not_smaller")
    return policy;
  n.fail("attribute 'keep_aspect_ratio_policy' is " + quoted(policy), "it is stretch, not_larger or not_smaller");
  return std::nullopt;
}

/// The axes' factors, by scales (input or attribute) or sizes; nothing after a failure.
static std::optional<llvm::SmallVector<Factor>> readFactors(Node &n, llvm::ArrayRef<Expr> from, int scalesInput) {
  llvm::SmallVector<Factor> factors;
  auto expect = [&](size_t count) {
    if (count != from.size())
      n.fail(Twine(count) + " sizes or scales for " + Twine(from.size()) + " axes", "give one per axis");
    return count == from.size();
  };
  if (scalesInput < 0 || isGiven(n, scalesInput)) {
    std::optional<llvm::SmallVector<double>> scales =
        scalesInput < 0 ? n.reals("scales") : n.reals(scalesInput, "scales");
    if (!scales || !expect(scales->size()))
      return n.fail("there are no scales"), std::nullopt;
    for (auto [size, scale] : llvm::zip(from, *scales)) {
      std::optional<Factor> factor = scaledBy(n, size, scale);
      if (!factor)
        return std::nullopt;
      factors.push_back(*factor);
    }
    return factors;
  }
  if (n.opset() < 11 || !isGiven(n, 3))
    return n.fail("there are neither scales nor sizes", "give one of them"), std::nullopt;
  std::optional<Elements> sizes = n.sizes(3);
  if (!sizes || !expect(sizes->size()))
    return std::nullopt;
  for (auto [size, wanted] : llvm::zip(from, *sizes))
    factors.push_back({wanted, wanted, size});
  std::optional<std::string> policy = policyOf(n);
  if (!policy || (*policy != "stretch" && !keepAspect(n, from, *policy == "not_larger", factors)))
    return std::nullopt;
  return factors;
}

static AxisPlaces placesOf(ResizeMode mode, Expr size, const Factor &factor) {
  auto [count, p, q] = factor;
  switch (mode) {
  case ResizeMode::Asymmetric:
    return {q, 0, p, {}};
  case ResizeMode::AlignCorners:
    if (p == count && q == size)
      return {size - 1, 0, view::maximum(count - 1, 1), {}};
    return {(size - 1) * q, 0, view::maximum(size * p - q, 1), {}};
  case ResizeMode::HalfPixelForNearest:
    return {q * 2, q, p * 2, {}};
  case ResizeMode::HalfPixelSymmetric:
    return {q * 2, p * (size - 1) - count * q + q, p * 2, {}};
  case ResizeMode::PytorchHalfPixel:
    // A single element is the first one. If the axis grows it is the only one, so nothing needs to be computed.
    if (!(q - p).isConst() || (q - p).constant() > 0)
      return {q * 2, (q - p) * view::minimum(count - 1, 1), p * 2, {}};
    [[fallthrough]];
  case ResizeMode::HalfPixel:
  case ResizeMode::Crop:
    return {q * 2, q - p, p * 2, {}};
  }
  llvm_unreachable("every mode is known");
}

template <typename T>
static std::optional<T> choose(Node &n, llvm::StringRef attribute, llvm::StringRef standard,
                               llvm::ArrayRef<std::pair<llvm::StringRef, T>> choices) {
  std::string given = n.string(attribute, standard), known;
  for (const auto &[name, value] : choices) {
    if (given == name)
      return value;
    known += (known.empty() ? "" : ", ") + name.str();
  }
  n.fail("attribute " + quoted(attribute) + " is " + quoted(given), "it is one of " + known);
  return std::nullopt;
}

static std::optional<Interpolation> interpolationOf(Node &n) {
  std::pair<llvm::StringRef, Interpolation> choices[] = {
      {"nearest", Interpolation::Nearest}, {"linear", Interpolation::Linear}, {"cubic", Interpolation::Cubic}};
  return choose<Interpolation>(n, "mode", "nearest", llvm::ArrayRef(choices).drop_back(n.opset() < 11));
}

/// Each axis of `axes` in turn, the last one first. Numbers other than floats are interpolated as float32.
static Value resizeAxes(TensorBuilder &b, Value x, llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<Factor> factors,
                        ResizeMode mode, const Resampling &how, llvm::ArrayRef<double> crop) {
  mlir::Type element = b.element(x);
  bool widens = how.interpolation != Interpolation::Nearest && !b.isFloat(x);
  for (size_t i = axes.size(); i-- > 0;) {
    const Factor &factor = factors[i];
    int64_t axis = axes[i];
    Expr size = b.dim(x, axis);
    AxisPlaces places = placesOf(mode, size, factor);
    if (mode == ResizeMode::Crop)
      places.crop = std::pair(crop[i], crop[i + axes.size()]);
    bool isWhole = !places.crop || *places.crop == std::pair(0.0, 1.0);
    if (isWhole && factor.numerator == factor.denominator && view::provablyEqual(factor.count, size))
      continue;
    bool known = factor.numerator.isConst() && factor.denominator.isConst();
    if (how.antialias && !known)
      return b.fail("attribute 'antialias' needs to know the sizes", "fix them with --dim");
    double scale = known ? double(factor.numerator.constant()) / double(factor.denominator.constant()) : 1;
    x = resample(b, widens ? b.cast(x, b.float32()) : x, axis, factor.count, places, how, scale);
    if (widens && how.antialias)
      x = integersOf(b, x, element, true);
  }
  return widens && b.element(x) != element ? integersOf(b, x, element, false) : x;
}

/// Whether a resize needs values at import that are known only at run time. Constant scales need less than sizes.
static bool isByData(Node &n, llvm::ArrayRef<Expr> from, int scalesInput, bool scalesNeedSizes, bool sizesNeedSizes) {
  auto areKnown = [](llvm::ArrayRef<Expr> sizes) {
    return llvm::all_of(sizes, [](Expr size) { return size.isConst() && !size.isConst(0); });
  };
  if (isGiven(n, scalesInput))
    return !n.dense(scalesInput) || (scalesNeedSizes && !areKnown(from));
  if (n.opset() < 11 || !isGiven(n, 3) || !sizesNeedSizes)
    return false;
  const Elements *sizes = n.elements(3);
  return !sizes || !areKnown(*sizes) || !areKnown(from);
}

static Value byData(Node &n, Value x, llvm::ArrayRef<int64_t> axes, int scalesInput, ResizeMode mode,
                    const Resampling &how) {
  std::optional<llvm::SmallVector<AxisByData>> changes;
  if (isGiven(n, scalesInput)) {
    changes = axesByScales(n, x, axes, scalesInput);
  } else {
    std::optional<Elements> sizes = n.sizes(3);
    std::optional<std::string> policy = policyOf(n);
    if (!sizes || !policy)
      return {};
    if (sizes->size() != axes.size())
      return n.builder().fail(Twine(sizes->size()) + " sizes or scales for " + Twine(axes.size()) + " axes",
                              "give one per axis");
    changes = axesBySizes(n, x, axes, *sizes, *policy);
  }
  Value region = mode == ResizeMode::Crop ? n.input(1) : Value();
  return changes ? resizeByData(n, x, *changes, mode, how, region) : Value();
}

/// The places of the results among the inputs, and how places between them are rounded; nullopt with a failure noted.
static std::optional<std::pair<ResizeMode, Rounding>> placesOf(Node &n) {
  std::pair<llvm::StringRef, Rounding> roundings[] = {{"round_prefer_floor", Rounding::HalfDown},
                                                      {"round_prefer_ceil", Rounding::HalfUp},
                                                      {"floor", Rounding::Floor},
                                                      {"ceil", Rounding::Ceil}};
  llvm::SmallVector<std::pair<llvm::StringRef, ResizeMode>> modes{{"half_pixel", ResizeMode::HalfPixel},
                                                                  {"pytorch_half_pixel", ResizeMode::PytorchHalfPixel},
                                                                  {"align_corners", ResizeMode::AlignCorners},
                                                                  {"asymmetric", ResizeMode::Asymmetric},
                                                                  {"tf_crop_and_resize", ResizeMode::Crop}};
  if (n.opset() < 13 || n.string("mode", "nearest") == "nearest") // tf2onnx writes it at any opset
    modes.push_back({"tf_half_pixel_for_nn", ResizeMode::HalfPixelForNearest});
  if (n.opset() >= 19)
    modes.push_back({"half_pixel_symmetric", ResizeMode::HalfPixelSymmetric});
  std::optional<Rounding> rounding = choose<Rounding>(n, "nearest_mode", "round_prefer_floor", roundings);
  std::optional<ResizeMode> mode = choose<ResizeMode>(n, "coordinate_transformation_mode", "half_pixel", modes);
  return rounding && mode ? std::optional(std::pair(*mode, *rounding)) : std::nullopt;
}

/// The region of the results, the begin along each axis and then the ends; nullopt with a failure noted.
static std::optional<llvm::SmallVector<double>> regionOf(Node &n, size_t axes) {
  std::optional<llvm::SmallVector<double>> corners = n.reals(1, "region");
  if (corners && corners->size() != 2 * axes)
    return n.fail("the region has " + Twine(corners->size()) + " numbers", "give two per axis"), std::nullopt;
  return corners;
}

static Value resize(Node &n, TensorBuilder &b) {
  Resampling how;
  std::optional<Interpolation> interpolation = interpolationOf(n);
  Value x = n.input(0);
  if (!x || !interpolation)
    return {};
  how.interpolation = *interpolation;
  llvm::SmallVector<int64_t> axes = b.allAxes(x);
  if (n.opset() < 11) {
    how.rounding = Rounding::Floor;
    if (isByData(n, b.shape(x), 1, false, false))
      return byData(n, x, axes, 1, ResizeMode::Asymmetric, how);
    std::optional<llvm::SmallVector<Factor>> factors = readFactors(n, b.shape(x), 1);
    return factors ? resizeAxes(b, x, axes, *factors, ResizeMode::Asymmetric, how, {}) : Value();
  }
  std::optional<std::pair<ResizeMode, Rounding>> places = placesOf(n);
  how.cubic = n.real("cubic_coeff_a", -0.75);
  how.excludeOutside = n.flag("exclude_outside", false) && how.interpolation != Interpolation::Nearest;
  double extrapolation = n.real("extrapolation_value", 0);
  if (n.opset() >= 18) {
    how.antialias = n.flag("antialias", false) && how.interpolation != Interpolation::Nearest;
    if (n.hasAttr("axes"))
      axes = n.integers("axes");
  }
  if (!places)
    return {};
  ResizeMode mode = places->first;
  how.rounding = places->second;
  llvm::SmallVector<Expr> from;
  for (int64_t &axis : axes) {
    std::optional<int64_t> known = b.normalizeAxis(axis, b.rank(x));
    if (!known)
      return {};
    axis = *known;
    from.push_back(b.dim(x, axis));
  }
  bool isCrop = mode == ResizeMode::Crop;
  if (isCrop)
    how.extrapolation = extrapolation;
  std::optional<std::string> policy = policyOf(n);
  if (!policy)
    return {};
  bool placesNeedSizes = isCrop || how.excludeOutside,
       allNeedSizes = placesNeedSizes || how.antialias || *policy != "stretch";
  if ((isCrop && n.has(1) && !n.dense(1)) || isByData(n, from, 2, placesNeedSizes, allNeedSizes))
    return byData(n, x, axes, 2, mode, how);
  std::optional<llvm::SmallVector<Factor>> factors = readFactors(n, from, 2);
  if (!factors)
    return {};
  llvm::SmallVector<double> crop;
  if (isCrop) {
    std::optional<llvm::SmallVector<double>> region = regionOf(n, axes.size());
    if (!region)
      return {};
    crop = *region;
  }
  return resizeAxes(b, x, axes, *factors, mode, how, crop);
}

/// Resize under its former name.
static Value upsample(Node &n, TensorBuilder &b) {
  if (n.opset() >= 10)
    return b.fail("opset 10 replaced Upsample", "use Resize");
  Value x = n.input(0);
  std::optional<Interpolation> interpolation = interpolationOf(n);
  if (!x || !interpolation)
    return {};
  Resampling how;
  how.interpolation = *interpolation;
  how.rounding = Rounding::Floor;
  if (n.opset() == 9 && isByData(n, b.shape(x), 1, false, false))
    return byData(n, x, b.allAxes(x), 1, ResizeMode::Asymmetric, how);
  std::optional<llvm::SmallVector<Factor>> factors = readFactors(n, b.shape(x), n.opset() < 9 ? -1 : 1);
  return factors ? resizeAxes(b, x, b.allAxes(x), *factors, ResizeMode::Asymmetric, how, {}) : Value();
}

void kiln::import::onnx::addResizing(Registry &r) {
  r.add("Resize", 10, resize);
  r.add("Upsample", 7, upsample);
}
