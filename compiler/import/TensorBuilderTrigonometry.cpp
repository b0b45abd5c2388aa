//===- TensorBuilderTrigonometry.cpp - Angles and hyperbolic functions -------===//
#include "import/TensorBuilder.h"

#include <numbers>

using namespace kiln;
using namespace kiln::import;
using namespace mlir;

/// Brought below tan(π/16) by halving the angle, atan(x) = 2·atan(x / (1 + √(1 + x²))), where its series converges
/// fast.
Value TensorBuilder::atan(Value x) {
  if (!x || !isFloat(x))
    return alu(Alu::SIN, {x}); // which says that it needs floats
  Type type = element(x);
  x = widen(x);
  Value size = abs(x), isLarge = greater(size, 1);
  Value reduced = where(isLarge, recip(size), size);
  constexpr int halvings = 3;
  for (int i = 0; i < halvings; ++i)
    reduced = div(reduced, add(sqrt(add(square(reduced), 1)), 1));
  Value squared = square(reduced), series = constantLike(x, 0);
  for (int power = element(x).isF64() ? 23 : 13; power > 0; power -= 2)
    series = sub(constantLike(x, 1.0 / power), mul(squared, series));
  Value angle = mul(mul(series, reduced), 1 << halvings);
  angle = where(isLarge, sub(std::numbers::pi / 2, angle), angle);
  return narrowLike(where(less(x, 0), neg(angle), angle), type);
}

Value TensorBuilder::asin(Value x) {
  Value cosine = sqrt(mul(sub(1, x), add(x, 1)));
  return mul(atan(div(x, add(cosine, 1))), 2);
}

Value TensorBuilder::acos(Value x) { return mul(atan(sqrt(div(sub(1, x), add(x, 1)))), 2); }

Value TensorBuilder::sinh(Value x) { return mul(sub(exp(x), exp(neg(x))), 0.5); }
Value TensorBuilder::cosh(Value x) { return mul(add(exp(x), exp(neg(x))), 0.5); }

/// Of |x|, with the sign put back: for a negative x the sum would cancel.
Value TensorBuilder::asinh(Value x) {
  Value size = abs(x);
  return mul(sign(x), log(add(size, sqrt(add(square(size), 1)))));
}

Value TensorBuilder::acosh(Value x) { return log(add(x, sqrt(sub(square(x), 1)))); }
Value TensorBuilder::atanh(Value x) { return mul(log(div(add(x, 1), sub(1, x))), 0.5); }
