//===- Exponential.cpp - e^x, 2^x and functions made of them --------------------===//
// A float holds its power of 2 in bits of its own. So e^x = 2^n·e^r, with n the nearest integer of x/ln 2 and r the
// rest, up to half of ln 2 either way: a short polynomial is close enough there, and 2^n is an integer put into place.
//
// Rounding adds 1.5·2^23, which leaves no room for digits after the point and puts the integer into the low bits. If
// the polynomial's lowest terms carry most of the result they are added last, from the small to the large.
//===------------------------------------------------------------------------------===//

#include "passes/lower/Elementary.h"

#include "passes/lower/Polynomials.h"
#include "passes/lower/RewriteSets.h"

#include <limits>

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;

static constexpr double kRounder = 0x1.8p23;

/// x, or another number if it is below `low`. If x was chosen so before, with a number below `low` if it was less than
/// a bound above that, it is one choice. NaN stays NaN.
static Lanes chooseBelow(Lanes x, double low, double number) {
  uop::AluOp choice = rowOf(x.value(), Alu::WHERE);
  uop::AluOp test = choice ? rowOf(choice.getOperand(0), Alu::CMPLT) : uop::AluOp();
  if (test && test.getOperand(0) == choice.getOperand(2)) {
    auto bound = dyn_cast_or_null<FloatAttr>(constantOf(test.getOperand(1)));
    auto chosen = dyn_cast_or_null<FloatAttr>(constantOf(choice.getOperand(1)));
    if (bound && chosen && bound.getValueAsDouble() >= low && chosen.getValueAsDouble() < low)
      return where(Lanes(x.writer(), choice.getOperand(0)), number, Lanes(x.writer(), choice.getOperand(2)));
  }
  return where(less(x, low), number, x);
}

/// NaN stays NaN.
static Lanes atMost(Lanes x, double high) { return where(less(high, x), high, x); }

static Lanes magnitude(Lanes x) { return (x.bits() & double(0x7fffffff)).asFloat(); }
static Lanes withSignOf(Lanes x, Lanes signs) {
  return (x.bits() | (signs.bits() & double(std::numeric_limits<int32_t>::min()))).asFloat();
}

namespace {
/// A number as an integer and the rest: n and bits(n + 1.5·2^23), and r.
struct Split {
  Lanes count, countBits, rest;
};
} // namespace

static Split splitByLn2(Lanes x) {
  Lanes shifted = mulAdd(x, kLog2EHigh + kLog2ELow, kRounder);
  Lanes count = shifted - kRounder;
  Lanes rest = mulAdd(count, -kLn2Low, mulAdd(count, -kLn2High, x));
  return {count, shifted.bits(), rest};
}

static Split splitByOne(Lanes x) {
  Lanes shifted = x + kRounder;
  Lanes count = shifted - kRounder;
  return {count, shifted.bits(), x - count};
}

/// 2^n of the integers in bits(n + 1.5·2^23): they move to the exponent's place, with its bias.
static Lanes powerOf2(Lanes integers) { return ((integers + 127) << 23).asFloat(); }

static constexpr int32_t kRounderBits = 0x4b400000;

/// An n with which both factors of x·2^n are 0, and the number that it is the nearest integer of. So a result that
/// vanishes is an exact product; one that is rounded to 0 takes CPUs longer.
static constexpr double kVanishes = -254, kVanishingLog = -176;

/// x·2^n for an x near 1. In two steps, so that neither factor overflows or is subnormal, though the result may.
static Lanes scale(Lanes x, Lanes countBits) {
  Lanes count = countBits - double(kRounderBits);
  if (x.writer().scales)
    return {x.writer(), x.writer().alu(Alu::LDEXP, {x.value(), count.value()}, x.element())};
  Lanes half = count >> 1;
  return x * powerOf2(half) * powerOf2(count - half);
}

/// e^r - 1 near 0.
static Lanes expLess1Near0(Lanes r) { return mulAdd(polynomial(r, kExp), r * r, r); }

/// Where e^x is 0, and where it is infinite.
static constexpr double kLeastExp = -104, kMostExp = 89;

static Lanes expWithin(Lanes x) {
  Split split = splitByLn2(x);
  return scale(expLess1Near0(split.rest) + 1, split.countBits);
}

Lanes lower::exp(Lanes x) { return expWithin(atMost(chooseBelow(x, kLeastExp, kVanishingLog), kMostExp)); }

Lanes lower::exp2(Lanes x) {
  Split split = splitByOne(atMost(chooseBelow(x, -151, kVanishes), 129));
  return scale(mulAdd(polynomial(split.rest, kExp2), split.rest, 1), split.countBits);
}

/// By e^2x - 1, which is exact in the first digits also near 0: tanh x = (e^2x - 1) / (e^2x + 1).
Lanes lower::tanh(Lanes x) {
  Lanes size = magnitude(x);
  size = where(less(10, size), 10, size); // 1 from here on, and NaN stays
  Split split = splitByLn2(size + size);
  Lanes power = powerOf2(split.countBits - double(kRounderBits));
  Lanes less1 = mulAdd(expLess1Near0(split.rest), power, power - 1);
  return withSignOf(less1 / (less1 + 2), x);
}

/// By e^-|x|, which is at most 1.
Lanes lower::sigmoid(Lanes x) {
  Lanes exponent = -magnitude(x);
  Lanes decay = expWithin(chooseBelow(exponent, kLeastExp, kVanishingLog));
  return where(less(x, 0.0), decay, 1.0) / (decay + 1);
}

/// Near 0 as a polynomial times x; further out as 1 - e^-p, where p is smooth.
Lanes lower::erf(Lanes x) {
  Lanes size = magnitude(x), squared = size * size;
  Lanes near = mulAdd(polynomial(squared, kErfNear), size, size);
  size = where(less(4, size), 4, size);
  Split split = splitByLn2(-polynomial(size, kErfFar));
  Lanes power = powerOf2(split.countBits - double(kRounderBits));
  Lanes far = mulAdd(-(expLess1Near0(split.rest) + 1), power, 1.0);
  return withSignOf(where(less(size, 0.9), near, far), x);
}
