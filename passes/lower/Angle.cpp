//===- Angle.cpp - sin and cos ------------------------------------------------------===//
// Both repeat after a quarter turn, up to the sign or as one another, so x is brought to |r| up to π/4 first: x·2/π,
// less its nearest integer. Only the digits after the point count. For a large x the first bits of 2/π come before the
// point, as multiples of 4, which do not count either (Payne and Hanek, Radian reduction for trigonometric functions,
// 1983). So x's size chooses one of five ranges of bits, and the product is in float64, in pieces short enough to be
// exact.
//===------------------------------------------------------------------------------===//

#include "passes/lower/Elementary.h"

#include "passes/lower/Polynomials.h"

#include <iterator>
#include <limits>
#include <numbers>

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;

static constexpr double kSignBit = std::numeric_limits<int32_t>::min();

namespace {
/// An angle as quarter turns, whose last bits count, and the rest of it.
struct Angle {
  Lanes quarters, rest;
};
} // namespace

/// Takes the nearest integer from x and adds it to the quarters, in float64's low bits.
static Lanes takeInteger(Lanes x, std::optional<Lanes> &quarters) {
  constexpr double rounder = 0x1.8p52;
  Lanes shifted = x + rounder;
  quarters = quarters ? *quarters + shifted.bits() : shifted.bits();
  return x - (shifted - rounder);
}

/// For an x that is not negative; NaN for infinity.
static Angle reduce(Lanes x) {
  Type wide = Float64Type::get(x.value().getContext()), word = IntegerType::get(x.value().getContext(), 32);
  Lanes value = x.castTo(wide);
  SmallVector<Lanes, 3> pieces;
  for (unsigned piece = 0; piece < 3; ++piece) {
    Lanes chosen = value.like(kTwoOverPi[0][piece]);
    double least = 0x1p24;
    for (unsigned range = 1; range < std::size(kTwoOverPi); ++range, least *= 0x1p26)
      chosen = where(less(x, least), chosen, kTwoOverPi[range][piece]);
    pieces.push_back(value * chosen);
  }
  std::optional<Lanes> quarters;
  Lanes first = takeInteger(pieces[0], quarters), second = takeInteger(pieces[1], quarters);
  Lanes rest = takeInteger(first + second + pieces[2], quarters);
  return {quarters->castTo(word), (rest * (std::numbers::pi / 2)).castTo(x.element())};
}

/// The sine of `quarters` quarter turns and a rest.
static Lanes sine(Angle angle) {
  Lanes r = angle.rest, squared = r * r;
  Lanes sine = mulAdd(polynomial(squared, kSin) * squared, r, r);
  Lanes cosine = mulAdd(polynomial(squared, kCos) * squared, squared, mulAdd(squared, -0.5, 1));
  Lanes isOdd = equal(angle.quarters & 1, 1), sign = (angle.quarters << 30) & kSignBit;
  return (where(isOdd, cosine, sine).bits() ^ sign).asFloat();
}

Lanes lower::sin(Lanes x) {
  Lanes bits = x.bits(), sign = bits & kSignBit;
  return (sine(reduce((bits ^ sign).asFloat())).bits() ^ sign).asFloat();
}

Lanes lower::cos(Lanes x) {
  Angle angle = reduce((x.bits() & double(0x7fffffff)).asFloat());
  return sine({angle.quarters + 1, angle.rest});
}
