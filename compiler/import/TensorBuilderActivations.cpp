//===- TensorBuilderActivations.cpp - Activation functions -------------------===//
#include "import/TensorBuilder.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace kiln;
using namespace kiln::import;
using mlir::Value;

Value TensorBuilder::leakyRelu(Value x, double slope) { return where(less(x, 0), mul(x, slope), x); }

Value TensorBuilder::elu(Value x, double alpha) {
  return roundedOnce(x, [&](Value x) { return where(less(x, 0), mul(expm1(minimum(x, 0)), alpha), x); });
}

Value TensorBuilder::selu(Value x, double alpha, double gamma) {
  return roundedOnce(x, [&](Value x) { return mul(elu(x, alpha), gamma); });
}

Value TensorBuilder::celu(Value x, double alpha) {
  return roundedOnce(x, [&](Value x) {
    Value scaled = div(minimum(x, 0), alpha);
    Value power = alpha < 0 ? sub(exp(scaled), 1) : expm1(scaled);
    return where(less(x, 0), mul(power, alpha), x);
  });
}

Value TensorBuilder::sigmoid(Value x) {
  // In half precision e^-x would overflow before the result is 0.
  return roundedOnce(x, [&](Value x) { return recip(add(exp(neg(x)), 1)); });
}

Value TensorBuilder::hardSigmoid(Value x, double alpha, double beta) { return clip(add(mul(x, alpha), beta), 0, 1); }

Value TensorBuilder::hardSwish(Value x) {
  // x is multiplied last, by 1 at most, so that no product overflows.
  return mul(x, mul(clip(add(x, 3), 0, 6), 1.0 / 6));
}

Value TensorBuilder::gelu(Value x) {
  // In half precision seven steps would round, which takes a GPU longer than its memory.
  return roundedOnce(x, [&](Value x) { return mul(mul(x, 0.5), add(erf(mul(x, 1 / llvm::numbers::sqrt2)), 1)); });
}

Value TensorBuilder::geluTanh(Value x) {
  // (1 + tanh y)/2 is the sigmoid of 2y, which does not cancel where tanh y is near -1.
  return roundedOnce(x, [&](Value x) {
    Value inner = add(x, mul(mul(square(x), x), 0.044715));
    return mul(x, sigmoid(mul(inner, 2 * std::sqrt(2 * llvm::numbers::inv_pi))));
  });
}

Value TensorBuilder::softplus(Value x) {
  // log(1 + exp(x)) with the large part taken out, so that exp cannot overflow.
  return roundedOnce(x, [&](Value x) { return add(relu(x), log1p(exp(minimum(x, neg(x))))); });
}

Value TensorBuilder::softsign(Value x) { return div(x, add(abs(x), 1)); }

Value TensorBuilder::mish(Value x) {
  // With p = e^x, tanh(ln(1 + p)) = ((1 + p)² - 1) / ((1 + p)² + 1) = n/(n + 2), where n = p·(p + 2). From 20 on that
  // is 1 in float64, too.
  return roundedOnce(x, [&](Value x) {
    Value power = exp(minimum(x, 20)), n = mul(power, add(power, 2));
    return mul(x, div(n, add(n, 2)));
  });
}
