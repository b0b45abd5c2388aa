//===- TensorBuilderActivations.cpp - Activation functions -------------------===//
#include "import/TensorBuilder.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace kiln;
using namespace kiln::import;
using mlir::Value;

Value TensorBuilder::leakyRelu(Value x, double slope) { return where(less(x, 0), mul(x, slope), x); }

Value TensorBuilder::elu(Value x, double alpha) { return where(less(x, 0), mul(sub(exp(x), 1), alpha), x); }

Value TensorBuilder::selu(Value x, double alpha, double gamma) { return mul(elu(x, alpha), gamma); }

Value TensorBuilder::celu(Value x, double alpha) {
  return where(less(x, 0), mul(sub(exp(div(x, alpha)), 1), alpha), x);
}

Value TensorBuilder::sigmoid(Value x) { return recip(add(exp(neg(x)), 1)); }

Value TensorBuilder::hardSigmoid(Value x, double alpha, double beta) { return clip(add(mul(x, alpha), beta), 0, 1); }

Value TensorBuilder::hardSwish(Value x) { return mul(mul(x, clip(add(x, 3), 0, 6)), 1.0 / 6); }

Value TensorBuilder::gelu(Value x) {
  // Rounded once: in half precision seven steps would round, which takes a GPU longer than its memory.
  Value wide = widen(x);
  return narrowLike(mul(mul(wide, 0.5), add(erf(mul(wide, 1 / llvm::numbers::sqrt2)), 1)), element(x));
}

Value TensorBuilder::geluTanh(Value x) {
  Value inner = mul(add(x, mul(mul(square(x), x), 0.044715)), std::sqrt(2 * llvm::numbers::inv_pi));
  return mul(mul(x, 0.5), add(tanh(inner), 1));
}

Value TensorBuilder::softplus(Value x) {
  // log(1 + exp(x)) with the large part taken out, so that exp cannot overflow.
  return add(relu(x), log(add(exp(neg(abs(x))), 1)));
}

Value TensorBuilder::softsign(Value x) { return div(x, add(abs(x), 1)); }
