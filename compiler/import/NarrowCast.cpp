//===- NarrowCast.cpp - Casts from and to dtypes of a byte and less ---------===//
//
// A narrow tensor is stored as bytes (ir/base/NarrowDType.h), so that a cast is arithmetic on codes. A float's code is
// sign, exponent and mantissa as in float32, with fewer bits of each: moved to their places, with the exponent's bias
// changed, they are a float32. Numbers below the least normal one have no hidden bit: they are the mantissa as an
// integer, times a power of two. The other way, the dropped bits are rounded by adding, before the shift, just below
// half of the last bit that stays, and that bit: halves go to the even neighbour, and a carry moves on into the
// exponent, as it has to.
//
//===----------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/TensorBuilder.h"
#include "ir/base/NarrowDType.h"

#include "mlir/IR/BuiltinOps.h"

using namespace kiln;
using namespace kiln::import;
using Kind = NarrowDType::Kind;
using mlir::Type;
using mlir::Value;

static Type unsignedType(TensorBuilder &b, unsigned bits) { return b.builder().getIntegerType(bits, false); }

/// A tensor under its other element type: codes as bytes, bytes as codes.
static Value reinterpret(TensorBuilder &b, Value x, Type element) {
  return x ? mlir::UnrealizedConversionCastOp::create(b.builder(), b.location(), tensorType(b.shape(x), element), x)
                 .getResult(0)
           : x;
}

static int64_t ones(unsigned bits) { return (int64_t(1) << bits) - 1; }

/// The code of the largest number, without a sign.
static int64_t largestCode(const NarrowDType &to) {
  int64_t all = ones(to.exponentBits + to.mantissaBits);
  switch (to.kind) {
  case Kind::Ieee:
    return all - ones(to.mantissaBits) - 1;
  case Kind::OneNaN:
  case Kind::Scale:
    return all - 1;
  default:
    return all;
  }
}

Value TensorBuilder::codes(Value x) {
  if (!x || !isNarrow(element(x)))
    return x;
  auto number = x.getDefiningOp<graph::ConstOp>();
  if (!number)
    return reinterpret(*this, x, unsignedType(*this, 8));
  return constant(int64_t(codeOf(number.getValue()).getZExtValue()), unsignedType(*this, 8), shape(x));
}

Value TensorBuilder::fromCodes(Value x, Type element) { return reinterpret(*this, x, element); }

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// The integers as int8 or uint8.
static Value decodeInteger(TensorBuilder &b, Value codes, const NarrowDType &from) {
  int64_t unused = 8 - from.bits();
  if (from.kind == Kind::Unsigned)
    return b.bitAnd(codes, ones(from.bits()));
  Value high = b.bitcast(b.shiftLeft(codes, unused), b.builder().getI8Type());
  return b.shiftRight(high, unused);
}

/// The numbers as float32, which holds them all.
static Value decodeFloat(TensorBuilder &b, Value codes, const NarrowDType &from) {
  Type bits = unsignedType(b, 32);
  codes = b.cast(codes, bits);
  unsigned low = from.exponentBits + from.mantissaBits;
  int64_t notANumber = 0x7fc00000;
  if (from.kind == Kind::Scale) {
    // 2^-127, the least, is not a normal number of float32.
    Value scale = b.where(b.equal(codes, 0), 0x00400000, b.shiftLeft(codes, 23));
    return b.bitcast(b.where(b.equal(codes, ones(8)), notANumber, scale), b.float32());
  }
  Value magnitude = b.bitAnd(codes, ones(low));
  Value normal = b.add(b.shiftLeft(magnitude, 23 - from.mantissaBits), int64_t(127 - from.bias) << 23);
  Value small = b.mul(b.cast(magnitude, b.float32()), std::ldexp(1.0, 1 - from.bias - from.mantissaBits));
  Value value = b.where(b.less(magnitude, int64_t(1) << from.mantissaBits), b.bitcast(small, bits), normal);
  if (from.kind == Kind::OneNaN)
    value = b.where(b.equal(magnitude, ones(low)), notANumber, value);
  if (from.kind == Kind::Ieee) {
    int64_t infinity = largestCode(from) + 1;
    Value special = b.where(b.equal(magnitude, infinity), 0x7f800000, b.constantLike(magnitude, notANumber));
    value = b.where(b.less(magnitude, infinity), value, special);
  }
  value = b.bitOr(value, b.shiftLeft(b.shiftRight(codes, int64_t(low)), 31));
  if (from.kind == Kind::NoMinus0)
    value = b.where(b.equal(codes, 0x80), notANumber, value);
  return b.bitcast(value, b.float32());
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

/// Floats are rounded to the nearest integers first; integers lose the bits above theirs.
static Value encodeInteger(TensorBuilder &b, Value x, const NarrowDType &to) {
  Value integer = b.isFloat(x) ? b.cast(x, b.int32()) : x;
  return b.bitAnd(b.cast(integer, unsignedType(b, 8)), ones(to.bits()));
}

/// A float's bits, and how they are divided.
namespace {
struct Bits {
  Value magnitude, sign; ///< the sign is 0 or 1
  int64_t mantissaBits, bias, infinity;
};
} // namespace

/// Floats of at most 32 bits and small integers are exact in float32, the others use float64: rounding twice differs
/// from rounding once.
static Bits bitsOf(TensorBuilder &b, Value x) {
  Type element = b.element(x);
  unsigned width = element.getIntOrFloatBitWidth();
  bool isWide = b.isFloat(x) ? width > 32 : width > 16;
  Type real = isWide ? b.builder().getF64Type() : b.float32();
  Value bits = b.bitcast(b.cast(x, real), unsignedType(b, isWide ? 64 : 32));
  int64_t top = isWide ? 63 : 31, mantissa = isWide ? 52 : 23;
  int64_t all = isWide ? INT64_MAX : INT32_MAX;
  return {b.bitAnd(bits, all), b.shiftRight(bits, top), mantissa, isWide ? 1023 : 127, all - ones(mantissa)};
}

/// Powers of two. The spec leaves open the sign and how halves are rounded; this follows the onnx package.
static Value encodeScale(TensorBuilder &b, Value x, NarrowRounding rounding) {
  Value bits = b.bitAnd(b.bitcast(b.cast(x, b.float32()), unsignedType(b, 32)), INT32_MAX);
  Value exponent = b.shiftRight(bits, 23), rest = b.bitAnd(bits, ones(23));
  // Below 2^-126 there is only 2^-127: its code here has half of the bits after the exponent's.
  Value isLow = b.equal(exponent, 0);
  Value up = b.constantLike(bits, 0);
  if (rounding.mode == NarrowRounding::Up)
    up = b.cast(b.where(isLow, b.greater(rest, 0x400000), b.greater(rest, 0)), b.element(bits));
  if (rounding.mode == NarrowRounding::Nearest)
    up = b.cast(b.where(isLow, b.greaterEqual(rest, 0x600000), b.greaterEqual(rest, 0x400000)), b.element(bits));
  Value code = b.add(exponent, up);
  if (rounding.saturates)
    code = b.minimum(code, 0xfe);
  else
    code = b.where(b.less(bits, 0x400000), 0xff, b.minimum(code, 0xff));
  code = b.where(b.greater(bits, 0x7f800000), 0xff, code);
  return b.cast(code, unsignedType(b, 8));
}

static Value encodeFloat(TensorBuilder &b, Value x, const NarrowDType &to, NarrowRounding rounding) {
  if (to.kind == Kind::Scale)
    return encodeScale(b, x, rounding);
  Bits from = bitsOf(b, x);
  if (!from.magnitude)
    return {};
  Type wide = b.element(from.magnitude),
       real = wide.getIntOrFloatBitWidth() == 64 ? b.builder().getF64Type() : b.float32();
  int64_t dropped = from.mantissaBits - to.mantissaBits, rebias = from.bias - to.bias;
  Value last = b.bitAnd(b.shiftRight(from.magnitude, dropped), 1);
  Value rounded = b.shiftRight(b.add(b.add(from.magnitude, ones(dropped - 1)), last), dropped);
  Value normal = b.sub(rounded, rebias << to.mantissaBits);
  Value units = b.mul(b.bitcast(from.magnitude, real), std::ldexp(1.0, to.bias + to.mantissaBits - 1));
  Value small = b.cast(b.roundHalfEven(units), wide);
  Value code = b.where(b.less(from.magnitude, (rebias + 1) << from.mantissaBits), small, normal);

  int64_t largest = largestCode(to), signAt = to.exponentBits + to.mantissaBits;
  bool saturates = rounding.saturates || to.kind == Kind::Finite;
  Value isNaN = b.greater(from.magnitude, from.infinity);
  Value sign = b.shiftLeft(from.sign, signAt);
  if (to.kind == Kind::NoMinus0) {
    Value isNone = saturates ? isNaN : b.bitOr(isNaN, b.greater(code, largest));
    code = b.minimum(code, largest);
    code = b.where(b.equal(code, 0), code, b.bitOr(code, sign));
    return b.cast(b.where(isNone, 0x80, code), unsignedType(b, 8));
  }
  // One past the largest number is infinity, or NaN in a dtype without infinity.
  code = b.minimum(code, saturates ? largest : largest + 1);
  int64_t quiet = to.kind == Kind::Ieee ? int64_t(1) << (to.mantissaBits - 1) : 0;
  int64_t notANumber = to.kind == Kind::Finite ? 0 : largest + 1 + quiet;
  code = b.where(isNaN, notANumber, code);
  return b.cast(b.bitOr(code, sign), unsignedType(b, 8));
}

Value TensorBuilder::castNarrow(Value x, Type to, NarrowRounding rounding) {
  const NarrowDType *from = narrowDType(element(x)), *narrow = narrowDType(to);
  if (from)
    x = from->isInteger() ? decodeInteger(*this, codes(x), *from) : decodeFloat(*this, codes(x), *from);
  if (!narrow)
    return cast(x, to);
  if (isBool(x))
    x = cast(x, unsignedType(*this, 8));
  return fromCodes(narrow->isInteger() ? encodeInteger(*this, x, *narrow) : encodeFloat(*this, x, *narrow, rounding),
                   to);
}

/// Bytes of groups that hold whole codes: one byte, or three where codes of 6 bits cross from one into the next.
Value TensorBuilder::unpackCodes(Value packed, Type element, Sizes shape) {
  int64_t width = element.getIntOrFloatBitWidth(), count = view::product(shape).constant();
  int64_t group = width == 6 ? 3 : 1, places = group * 8 / width, groups = llvm::divideCeil(count, places);
  Value bytes = pad(packed, Sizes{0}, Sizes{groups * group - dim(packed, 0).constant()});
  bytes = reshape(bytes, {groups, group});
  Value codes;
  if (group == 1) {
    Value shifts = mul(arange(places, TensorBuilder::element(packed)), width);
    codes = shiftRight(bytes, reshape(shifts, {1, places}));
  } else {
    llvm::SmallVector<Value> columns;
    for (int64_t place = 0; place < places; ++place) {
      int64_t at = place * width / 8, shift = place * width % 8;
      Value code = shiftRight(narrow(bytes, 1, at, at + 1), shift);
      if (shift + width > 8)
        code = bitOr(code, shiftLeft(narrow(bytes, 1, at + 1, at + 2), 8 - shift));
      columns.push_back(code);
    }
    codes = concat(columns, 1);
  }
  codes = narrow(reshape(bitAnd(codes, ones(width)), {groups * places}), 0, 0, count);
  return fromCodes(reshape(codes, shape), element);
}
