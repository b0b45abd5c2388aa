//===- Logarithm.cpp - ln x, log2 x and powers ------------------------------------===//
// x = 2^e·(1+f): the exponent's bits give e, and a polynomial the logarithm of 1+f, which lies between 2/3 and 4/3. So
// the logarithm of a number near 1 has e = 0 and no cancellation.
//===------------------------------------------------------------------------------===//

#include "passes/lower/Elementary.h"

#include "passes/lower/Polynomials.h"

#include <limits>

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

namespace {
/// x = 2^exponent·fraction, of a positive number.
struct Parts {
  Lanes exponent, fraction;
};
} // namespace

static Parts takeApart(Lanes x) {
  // Subnormal numbers have no exponent of their own.
  Lanes isTiny = less(x, 0x1p-126);
  Lanes bits = where(isTiny, x * 0x1p23, x).bits();
  constexpr int32_t twoThirds = 0x3f2aaaab;
  Lanes shifted = bits - double(twoThirds);
  Lanes exponent = (shifted >> 23).castTo(x.element());
  Lanes fraction = ((shifted & double(0x007fffff)) + double(twoThirds)).asFloat();
  return {exponent + where(isTiny, exponent.like(-23), 0.0), fraction};
}

/// The logarithm of 0, of negative numbers, infinity and NaN.
static Lanes withSpecials(Lanes result, Lanes x) {
  result = where(less(x, kInfinity), result, x);
  result = where(less(x, 0.0), kNan, result);
  return where(equal(x, 0.0), -kInfinity, result);
}

Lanes lower::log(Lanes x) {
  Parts parts = takeApart(x);
  Lanes f = parts.fraction - 1, squared = f * f;
  // From the small to the large: f³·P, e·(ln 2)', -f²/2, f, e·(ln 2).
  Lanes sum = mulAdd(parts.exponent, kLn2Low, polynomial(f, kLog) * f * squared);
  sum = mulAdd(squared, -0.5, sum) + f;
  return withSpecials(mulAdd(parts.exponent, kLn2High, sum), x);
}

/// The logarithm of 1+f in two floats, the first with so few bits that its product with 1/ln 2, in two floats too, is
/// exact.
Lanes lower::log2(Lanes x) {
  Parts parts = takeApart(x);
  Lanes f = parts.fraction - 1, squared = f * f;
  Lanes high = (mulAdd(squared, -0.5, f).bits() & double(int32_t(0xfffff000))).asFloat();
  Lanes low = mulAdd(squared, -0.5, f - high) + polynomial(f, kLog) * f * squared;
  Lanes sum = mulAdd(low + high, kLog2ELow, low * kLog2EHigh);
  return withSpecials(mulAdd(high, kLog2EHigh, sum) + parts.exponent, x);
}

/// 2^(y·log2|x|) in float64, which is close enough for every float32, and then the cases that C names.
Lanes lower::pow(Lanes x, Lanes y) {
  MLIRContext *context = x.value().getContext();
  Type wide = Float64Type::get(context);
  constexpr double signs = std::numeric_limits<int32_t>::min(), rest = 0x7fffffff;
  Lanes size = (x.bits() & rest).asFloat(), power = (y.bits() & rest).asFloat();

  Parts parts = takeApart(size);
  Lanes f = parts.fraction.castTo(wide), s = (f - 1) / (f + 1);
  Lanes logarithm = mulAdd(polynomial(s * s, kLog2Wide), s, parts.exponent.castTo(wide));
  logarithm = where(less(size, kInfinity), logarithm, size.castTo(wide));
  logarithm = where(equal(size, 0.0), -kInfinity, logarithm);

  Lanes exponent = y.castTo(wide) * logarithm;
  exponent = where(less(exponent, -200), -200, exponent);
  exponent = where(less(200, exponent), 200, exponent);
  constexpr double rounder = 0x1.8p52;
  Lanes shifted = exponent + rounder, r = exponent - (shifted - rounder);
  Lanes result = (polynomial(r, kExp2Wide).bits() + (shifted.bits() << 52)).asFloat().castTo(x.element());

  // Beyond 2^23 every float is an integer, and beyond 2^24 an even one.
  Lanes isLarge = less(0x1.fffffep22, power);
  Lanes units = where(isLarge, power, power + 0x1p23);
  Lanes isInteger = isLarge | equal(units - 0x1p23, power);
  Lanes isOdd = isInteger & less(power, 0x1p24);
  Lanes sign = where(isOdd, (x.bits() & signs) & (units.bits() << 31), 0.0);
  result = (result.bits() ^ sign).asFloat();
  result = where(less(x, 0.0) & less(-kInfinity, x) & equal(isInteger, 0.0), kNan, result);
  Lanes isOne = equal(x, 1) | equal(y, 0.0) | (equal(x, -1) & equal(power, kInfinity));
  return where(isOne, 1, result);
}
