#include "import/Quantize.h"

#include "import/DType.h"
#include "ir/base/NarrowDType.h"

using namespace kiln;
using namespace kiln::import;
using llvm::Twine;
using mlir::Value;
using view::provablyEqual;

Value kiln::import::scalar(TensorBuilder &b, Value parameter) {
  return parameter && b.rank(parameter) > 0 ? b.reshape(parameter, {}) : parameter;
}

Value kiln::import::alongAxis(TensorBuilder &b, Value x, Value parameter, int64_t axis, int64_t block) {
  if (!x || !parameter)
    return {};
  Shape sizes = b.shape(parameter);
  if (llvm::all_of(sizes, [](Expr size) { return size.isConst(1); }))
    return b.reshape(parameter, {});
  std::optional<int64_t> at = b.normalizeAxis(axis, b.rank(x));
  if (!at)
    return {};
  if (block == 0) {
    Expr along = b.dim(x, *at);
    if (sizes.size() != 1 || !(provablyEqual(sizes[0], along) || b.takeForEqual(sizes[0], along, "quantize")))
      return b.fail("a scale or zero point " + describe(sizes) + " along axis " + Twine(axis) + " of " +
                        describe(b.shape(x)),
                    "it is one number, or one for each index of the axis");
    Shape spread(b.rank(x), Expr(1));
    spread[*at] = sizes[0].isConst() ? sizes[0] : along;
    return b.reshape(parameter, spread);
  }
  bool fits = b.rank(parameter) == b.rank(x);
  for (int64_t i = 0; fits && i < b.rank(x); ++i)
    fits = provablyEqual(sizes[i], i == *at ? view::floorDiv(b.dim(x, i) + (block - 1), block) : b.dim(x, i));
  if (!fits)
    return b.fail("a scale or zero point " + describe(sizes) + " for blocks of " + Twine(block) + " along axis " +
                      Twine(axis) + " of " + describe(b.shape(x)),
                  "it has the tensor's sizes, and one for each block along the axis");
  return b.narrow(b.repeatInterleave(parameter, *at, block), *at, 0, b.dim(x, *at));
}

Value kiln::import::centred(TensorBuilder &b, Value values, Value zero) {
  if (!values)
    return {};
  if (zero && b.element(zero) != b.element(values))
    return b.fail("a zero point of " + dtypeName(b.element(zero)) + " for " + dtypeName(b.element(values)),
                  "it has the dtype of what it is the zero of");
  values = b.cast(values, b.int32());
  return zero ? b.sub(values, b.cast(zero, b.int32())) : values;
}

/// Whether a zero point shifts the numbers: that of an 8-bit float is 0.
static bool hasZeroPoint(mlir::Type type) {
  return llvm::isa<mlir::IntegerType>(type) || type.getIntOrFloatBitWidth() < 8;
}

Value kiln::import::dequantize(TensorBuilder &b, const Quantized &x) {
  Value values = x.values;
  if (!b.isFloat(values)) {
    values = centred(b, values, x.zero);
  } else if (x.zero && hasZeroPoint(b.element(values))) {
    values = b.sub(b.cast(values, b.float32()), b.cast(x.zero, b.float32()));
  }
  return b.mul(b.cast(values, b.float32()), b.cast(x.scale, b.float32()));
}

/// The integers of a narrow dtype, as bounds.
static Value clipTo(TensorBuilder &b, Value x, mlir::Type integer) {
  if (!isNarrow(integer))
    return x;
  int64_t bits = integer.getIntOrFloatBitWidth(), isSigned = !integer.isUnsignedInteger();
  int64_t low = isSigned ? -(1 << (bits - 1)) : 0;
  return b.clip(x, low, low + (1 << bits) - 1);
}

Value kiln::import::roundTo(TensorBuilder &b, Value x, Value zero, mlir::Type integer) {
  if (!x)
    return {};
  // Half precision cannot hold the sum; numbers that float32 cannot hold saturate.
  Value rounded = b.cast(b.roundHalfEven(x), b.float32());
  return b.cast(clipTo(b, zero ? b.add(rounded, b.cast(zero, b.float32())) : rounded, integer), integer);
}

Value kiln::import::quantize(TensorBuilder &b, Value x, Value scale, Value zero, mlir::Type type,
                             NarrowRounding rounding) {
  Value ratio = b.div(x, scale);
  if (!llvm::isa<mlir::FloatType>(type))
    return roundTo(b, ratio, zero, type);
  if (zero && hasZeroPoint(type))
    ratio = b.add(ratio, b.cast(zero, b.element(ratio)));
  return b.cast(ratio, type, rounding);
}

Quantized kiln::import::quantizeDynamically(TensorBuilder &b, Value x, llvm::ArrayRef<int64_t> axes) {
  if (!x)
    return {};
  bool keepsAxes = !axes.empty();
  llvm::SmallVector<int64_t> along = keepsAxes ? llvm::SmallVector<int64_t>(axes) : b.allAxes(x);
  Value high = b.maximum(b.max(x, along, keepsAxes), 0), low = b.minimum(b.min(x, along, keepsAxes), 0);
  Value range = b.sub(high, low);
  Value scale = b.div(b.where(b.equal(range, 0), 1, range), 255);
  mlir::Type byte = b.builder().getIntegerType(8, /*isSigned=*/false);
  Value zero = b.cast(b.roundHalfEven(b.clip(b.neg(b.div(low, scale)), 0, 255)), byte);
  return {quantize(b, x, scale, zero, byte), scale, zero};
}
