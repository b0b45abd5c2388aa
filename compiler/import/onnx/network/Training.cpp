//===- Training.cpp - ai.onnx.preview.training: gradients, steps of optimizers -===//
//
// A step takes any number of tensors at once. Inputs are the learning rate R and the number of steps T before this one,
// then all tensors, all gradients, and all of each state; outputs are all tensors and all of each state.
//
//===----------------------------------------------------------------------===//
#include "import/Gradient.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"
#include "import/onnx/file/ModelFile.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

static constexpr llvm::StringLiteral kDomain = "ai.onnx.preview.training";

namespace {
/// The values that change one tensor, all in its dtype: the rate and T as scalars, and the states.
struct Step {
  Value rate, count, x, gradient;
  llvm::SmallVector<Value> states;
};
} // namespace

/// Calls `change` for each tensor: it gives the new tensor and the new states.
static Tensors eachTensor(Node &n, TensorBuilder &b, int states,
                          llvm::function_ref<llvm::SmallVector<Value>(const Step &)> change) {
  int kinds = states + 2, count = (n.numInputs() - 2) / kinds;
  if (n.numInputs() < 2 + kinds || (n.numInputs() - 2) % kinds != 0)
    return n.fail("it has " + Twine(n.numInputs()) + " inputs", "it takes R, T and " + Twine(kinds) + " a tensor"),
           Tensors();
  Tensors outputs(count * (states + 1));
  for (int i = 0; i < count; ++i) {
    Step step{{}, {}, n.input(2 + i), n.input(2 + count + i), {}};
    if (!step.x)
      return {};
    step.rate = b.cast(b.reshape(n.input(0), {}), b.element(step.x));
    step.count = b.cast(b.reshape(n.input(1), {}), b.element(step.x));
    for (int k = 0; k < states; ++k)
      step.states.push_back(n.input(2 + (2 + k) * count + i));
    for (auto [k, value] : llvm::enumerate(change(step)))
      outputs[k * count + i] = Tensor(value);
  }
  return outputs;
}

static Tensors adagrad(Node &n, TensorBuilder &b) {
  double decay = n.real("decay_factor", 0), epsilon = n.real("epsilon", 1e-6), norm = n.real("norm_coefficient", 0);
  return eachTensor(n, b, 1, [&](const Step &s) -> llvm::SmallVector<Value> {
    Value rate = b.div(s.rate, b.add(b.mul(s.count, decay), 1));
    Value gradient = b.add(b.mul(s.x, norm), s.gradient);
    Value squares = b.add(s.states[0], b.square(gradient));
    return {b.sub(s.x, b.div(b.mul(rate, gradient), b.add(b.sqrt(squares), epsilon))), squares};
  });
}

static Tensors adam(Node &n, TensorBuilder &b) {
  double alpha = n.real("alpha", float(0.9)), beta = n.real("beta", float(0.999)), epsilon = n.real("epsilon", 1e-6),
         norm = n.real("norm_coefficient", 0), after = n.real("norm_coefficient_post", 0);
  return eachTensor(n, b, 2, [&](const Step &s) -> llvm::SmallVector<Value> {
    Value gradient = b.add(b.mul(s.x, norm), s.gradient);
    Value mean = b.add(b.mul(s.states[0], alpha), b.mul(gradient, 1 - alpha));
    Value squares = b.add(b.mul(s.states[1], beta), b.mul(b.square(gradient), 1 - beta));
    // Both begin at 0, and the first steps correct for that.
    mlir::Type element = b.element(s.x);
    Value missing = b.sub(1, b.pow(b.constant(alpha, element), s.count));
    Value factor = b.div(b.sqrt(b.sub(1, b.pow(b.constant(beta, element), s.count))), missing);
    Value rate = b.where(b.greater(s.count, 0), b.mul(s.rate, factor), s.rate);
    Value x = b.sub(s.x, b.mul(rate, b.div(mean, b.add(b.sqrt(squares), epsilon))));
    return {b.mul(x, 1 - after), mean, squares};
  });
}

static Tensors momentum(Node &n, TensorBuilder &b) {
  double alpha = n.real("alpha", 0), beta = n.real("beta", 0), norm = n.real("norm_coefficient", 0);
  std::string mode = n.string("mode", "");
  if (mode != "standard" && mode != "nesterov")
    return n.fail("attribute 'mode' is " + quoted(mode), "it is standard or nesterov"), Tensors();
  return eachTensor(n, b, 1, [&](const Step &s) -> llvm::SmallVector<Value> {
    Value gradient = b.add(b.mul(s.x, norm), s.gradient);
    Value share = b.where(b.greater(s.count, 0), b.constant(beta, b.element(s.x)), 1);
    Value speed = b.add(b.mul(s.states[0], alpha), b.mul(share, gradient));
    Value way = mode == "standard" ? speed : b.add(gradient, b.mul(speed, alpha));
    return {b.sub(s.x, b.mul(s.rate, way)), speed};
  });
}

/// The gradient of the tensor `y` by those that `xs` names, at the values that they have: the inputs are the tensors
/// named by xs and zs.
static Tensors gradient(Node &n, TensorBuilder &b) {
  llvm::SmallVector<std::string> xs = n.strings("xs"), zs = n.strings("zs"), names = xs;
  names.append(zs);
  std::string y = n.string("y", "");
  if (n.numInputs() != int(names.size()))
    return n.fail("it has " + Twine(n.numInputs()) + " inputs where xs and zs name " + Twine(names.size())), Tensors();
  auto named = [&](const std::string &name) {
    const Tensor *found = n.scope().find(name);
    if (!found || !*found)
      return n.fail("the tensor " + quoted(name) + " is undefined", "what computes it comes before the gradient").value;
    return n.importer().materialize(*found, n.scope(), b, /*isNamed=*/true);
  };
  llvm::SmallVector<Value> values;
  for (auto [i, name] : llvm::enumerate(names)) {
    values.push_back(named(name));
    if (n.input(int(i)) != values.back())
      return n.fail("input " + Twine(i) + " is not the tensor " + quoted(name),
                    "a gradient is computed where the model's own tensors are"),
             Tensors();
  }
  llvm::SmallVector<Value> derivatives = gradients(b, named(y), llvm::ArrayRef(values).take_front(xs.size()));
  return Tensors(derivatives.begin(), derivatives.end());
}

void kiln::import::onnx::addTraining(Registry &r) {
  r.add(kDomain, "Adagrad", 1, adagrad);
  r.add(kDomain, "Adam", 1, adam);
  r.add(kDomain, "Gradient", 1, gradient);
  r.add(kDomain, "Momentum", 1, momentum);
}
