//===- TensorBuilderTrigonometry.cpp - Angles and hyperbolic functions -------===//
//
// The textbook forms of these functions lose digits where a difference cancels, and overflow where a square or a power
// does though the result would not. The formulas here do neither, with no branch except choices; most are those of
// fdlibm (Sun's library of mathematical functions, netlib.org/fdlibm), named by its files. Their errors are in
// docs/transcendental.md.
//
//===------------------------------------------------------------------------===//
#include "import/TensorBuilder.h"

#include <numbers>

using namespace kiln;
using namespace kiln::import;
using namespace mlir;

/// Brought below tan(π/16) by halving the angle, atan(x) = 2·atan(x / (1 + √(1 + x²))), where its series converges
/// fast. All of it is odd, so the sign, also a zero's, comes by itself.
Value TensorBuilder::atan(Value x) {
  if (!x || !isFloat(x))
    return alu(Alu::SIN, {x}); // the error says that it needs floats
  Type type = element(x);
  x = widen(x);
  Value isLarge = greater(abs(x), 1);
  Value reduced = where(isLarge, recip(x), x);
  constexpr int halvings = 3;
  for (int i = 0; i < halvings; ++i)
    reduced = div(reduced, add(sqrt(add(square(reduced), 1)), 1));
  Value squared = square(reduced), series = constantLike(x, 0);
  for (int power = element(x).isF64() ? 23 : 13; power > 0; power -= 2)
    series = sub(constantLike(x, 1.0 / power), mul(squared, series));
  Value angle = mul(mul(series, reduced), 1 << halvings);
  Value quarter = where(less(x, 0), -std::numbers::pi / 2, constantLike(x, std::numbers::pi / 2));
  return narrowLike(where(isLarge, sub(quarter, angle), angle), type);
}

Value TensorBuilder::asin(Value x) {
  return roundedOnce(x, [&](Value x) {
    Value cosine = sqrt(mul(sub(1, x), add(x, 1)));
    return mul(atan(div(x, add(cosine, 1))), 2);
  });
}

Value TensorBuilder::acos(Value x) {
  return roundedOnce(x, [&](Value x) { return mul(atan(sqrt(div(sub(1, x), add(x, 1)))), 2); });
}

/// From tanh(x/2) = (e^x - 1) / (e^x + 1), for -x so that the divisor is a sum and not a difference.
Value TensorBuilder::expm1(Value x) {
  return roundedOnce(x, [&](Value x) {
    Value mirrored = tanh(mul(x, -0.5));
    return div(mul(mirrored, -2), add(mirrored, 1));
  });
}

/// With u = 1 + x after rounding, ln(1 + x) is ln u + c/u up to c², where c = x - (u - 1) is exact (s_log1p.c). c may
/// replace c/u: they differ by about c·ln u, which is c of the result. Past 1 the result does not depend on c.
Value TensorBuilder::log1p(Value x) {
  return roundedOnce(x, [&](Value x) {
    Value sum = add(x, 1);
    return add(log(sum), where(less(x, 1), sub(x, sub(sum, 1)), 0));
  });
}

/// cosh x = q + 1/4q with q = e^|x|/2, computed from two roots so that it overflows only when the result does
/// (e_cosh.c).
Value TensorBuilder::cosh(Value x) {
  return roundedOnce(x, [&](Value x) {
    Value root = exp(mul(abs(x), 0.5)), half = mul(mul(root, 0.5), root);
    return add(half, div(0.25, half));
  });
}

/// A product does not cancel where the difference of powers would.
Value TensorBuilder::sinh(Value x) {
  return roundedOnce(x, [&](Value x) { return mul(tanh(x), cosh(x)); });
}

/// ln(1 + rest), and ln 2x if x is so large that 1 + rest is 2x and squares in `rest` may have overflowed.
static Value logarithm(TensorBuilder &b, Value x, Value rest) {
  Value isLarge = b.greater(x, 0x1p60);
  Value shift = b.where(isLarge, std::numbers::ln2, b.constantLike(x, 0));
  return b.add(b.log1p(b.where(isLarge, x, rest)), shift);
}

/// For |x|, with the sign put back: ln(1 + |x| + x² / (1 + √(1 + x²))) (s_asinh.c).
Value TensorBuilder::asinh(Value x) {
  return roundedOnce(x, [&](Value x) {
    Value size = abs(x), squared = square(x);
    Value rest = add(size, div(squared, add(sqrt(add(squared, 1)), 1)));
    return mul(sign(x), logarithm(*this, size, rest));
  });
}

/// ln(1 + t + √(2t + t²)) with t = x - 1 (e_acosh.c); the root is two roots, so that it is NaN for every negative t.
Value TensorBuilder::acosh(Value x) {
  return roundedOnce(x, [&](Value x) {
    Value above = sub(x, 1);
    return logarithm(*this, x, add(above, mul(sqrt(above), sqrt(add(above, 2)))));
  });
}

/// For |x|, with the sign put back: ln(1 + 2|x| / (1 - |x|)) / 2 (e_atanh.c).
Value TensorBuilder::atanh(Value x) {
  return roundedOnce(x, [&](Value x) {
    Value size = abs(x);
    return mul(mul(sign(x), 0.5), log1p(div(mul(size, 2), sub(1, size))));
  });
}
