#include "import/onnx/tensor/ResizeByData.h"

#include "import/onnx/Importer.h"
#include "import/onnx/tensor/DataSizes.h"

#include <limits>

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using mlir::Value;

/// An element of a list as a float64 scalar.
static Value scalarAt(TensorBuilder &b, Value list, int64_t i) {
  return b.cast(b.reshape(b.narrow(list, 0, i, i + 1), {}), b.builder().getF64Type());
}

static Value asReal(TensorBuilder &b, Expr size) { return b.cast(b.size(size), b.builder().getF64Type()); }

/// A float64 scalar as the size of the result's axis.
static Expr sizeOf(Node &n, TensorBuilder &b, int64_t axis, Value number, llvm::StringRef given) {
  return computedSize(n, "size." + std::to_string(axis), b.cast(number, b.int64()),
                      "axis " + llvm::Twine(axis) + ", resized by " + quoted(given) + ",");
}

/// Ends the run if a scale is not positive and finite.
static void checkScales(Node &n, TensorBuilder &b, llvm::ArrayRef<AxisByData> axes, llvm::StringRef given) {
  int64_t none = n.tensor(0).type.getRank();
  Value first = b.constant(none, b.int64());
  for (const AxisByData &axis : llvm::reverse(axes)) {
    Value isRight = b.bitAnd(b.greater(axis.scale, 0.0), b.less(axis.scale, std::numeric_limits<double>::infinity()));
    first = b.where(isRight, first, b.constant(axis.axis, b.int64()));
  }
  Expr wrong = n.importer().bind(n.scope().prefix() + given.str() + ".axis", first, b, {0, none, none}, "the axis");
  b.check(isEqual(wrong, none),
          "a scale in " + quoted(given) + " is 0, negative, infinite or no number; give a positive one");
}

std::optional<llvm::SmallVector<AxisByData>>
kiln::import::onnx::axesByScales(Node &n, Value x, llvm::ArrayRef<int64_t> axes, int scalesInput) {
  TensorBuilder &b = n.builder();
  Value scales = n.input(scalesInput);
  llvm::StringRef given = n.proto().input(scalesInput);
  if (!x || !scales)
    return std::nullopt;
  if (b.rank(scales) != 1 || !b.dim(scales, 0).isConst(axes.size())) {
    n.fail("scales " + describe(b.shape(scales)) + " for " + llvm::Twine(axes.size()) + " axes", "give one per axis");
    return std::nullopt;
  }
  llvm::SmallVector<AxisByData> result;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    Value scale = scalarAt(b, scales, i);
    result.push_back({axis, scale, Expr()});
  }
  checkScales(n, b, result, given);
  for (AxisByData &axis : result)
    axis.count = sizeOf(n, b, axis.axis, b.floor(b.mul(axis.scale, asReal(b, b.dim(x, axis.axis)))), given);
  return result;
}

std::optional<llvm::SmallVector<AxisByData>> kiln::import::onnx::axesBySizes(Node &n, Value x,
                                                                             llvm::ArrayRef<int64_t> axes,
                                                                             llvm::ArrayRef<Expr> sizes,
                                                                             llvm::StringRef policy) {
  TensorBuilder &b = n.builder();
  if (!x || sizes.size() != axes.size())
    return std::nullopt;
  llvm::SmallVector<AxisByData> result;
  Value common;
  for (auto [axis, size] : llvm::zip(axes, sizes)) {
    result.push_back({axis, b.div(asReal(b, size), asReal(b, view::maximum(b.dim(x, axis), 1))), size});
    if (policy != "stretch")
      common = !common                  ? result.back().scale
               : policy == "not_larger" ? b.minimum(common, result.back().scale)
                                        : b.maximum(common, result.back().scale);
  }
  for (AxisByData &axis : result)
    if (common)
      axis = {axis.axis, common,
              sizeOf(n, b, axis.axis, b.floor(b.add(b.mul(common, asReal(b, b.dim(x, axis.axis))), 0.5)),
                     n.proto().input(3))};
  return result;
}

/// The places of the result's elements: [count] of float64.
static Value placesOf(TensorBuilder &b, ResizeMode mode, Expr size, const AxisByData &axis, Value begin, Value end) {
  Value o = b.cast(b.arange(axis.count, b.int64()), b.builder().getF64Type());
  Value width = b.mul(axis.scale, asReal(b, size)), last = asReal(b, size - 1), isOne = b.equal(width, 1);
  Value apart = b.where(isOne, b.constant(1, b.element(o)), b.sub(width, 1));
  Value half = b.div(b.add(o, 0.5), axis.scale), centered = b.sub(half, 0.5);
  switch (mode) {
  case ResizeMode::Asymmetric:
    return b.div(o, axis.scale);
  case ResizeMode::AlignCorners:
    return b.where(isOne, 0, b.div(b.mul(o, last), apart));
  case ResizeMode::Crop: {
    Value span = b.mul(b.sub(end, begin), last);
    return b.add(b.where(isOne, b.div(span, 2), b.div(b.mul(o, span), apart)), b.mul(begin, last));
  }
  case ResizeMode::PytorchHalfPixel:
    return b.where(isOne, -0.5, centered);
  case ResizeMode::HalfPixelForNearest:
    return half;
  case ResizeMode::HalfPixelSymmetric: {
    Value missing = b.sub(1, b.div(asReal(b, axis.count), width));
    return b.add(b.mul(b.div(asReal(b, size), 2), missing), centered);
  }
  case ResizeMode::HalfPixel:
    return centered;
  }
  llvm_unreachable("every mode is known");
}

Value kiln::import::onnx::resizeByData(Node &n, Value x, llvm::ArrayRef<AxisByData> axes, ResizeMode mode,
                                       const Resampling &how, Value region) {
  TensorBuilder &b = n.builder();
  if (!x)
    return {};
  if (mode == ResizeMode::Crop && (!region || b.rank(region) != 1 || !b.dim(region, 0).isConst(2 * axes.size())))
    return b.fail("the region of " + llvm::Twine(axes.size()) + " axes is missing or of another length",
                  "give two numbers per axis");
  mlir::Type element = b.element(x);
  bool widens = how.interpolation != Interpolation::Nearest && !b.isFloat(x);
  for (size_t i = axes.size(); i-- > 0;) {
    const AxisByData &axis = axes[i];
    Value begin, end, spread;
    if (mode == ResizeMode::Crop) {
      begin = scalarAt(b, region, i);
      end = scalarAt(b, region, i + axes.size());
    }
    Expr taps = how.interpolation == Interpolation::Cubic ? 4 : 2;
    if (how.antialias) {
      spread = b.minimum(axis.scale, 1);
      taps = computedSize(n, "taps", b.cast(b.ceil(b.div(asReal(b, taps), spread)), b.int64()),
                          "a sum along axis " + llvm::Twine(axis.axis));
    }
    x = resampleAt(b, widens ? b.cast(x, b.float32()) : x, axis.axis,
                   placesOf(b, mode, b.dim(x, axis.axis), axis, begin, end), taps, how, spread);
    if (widens && how.antialias)
      x = integersOf(b, x, element, true);
  }
  return widens && b.element(x) != element ? integersOf(b, x, element, false) : x;
}
