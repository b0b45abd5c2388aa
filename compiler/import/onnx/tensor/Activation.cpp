//===- Activation.cpp - Activations and softmaxes ---------------------------===//
//
// TensorBuilder has the functions; the numbers in them are attributes here, and their defaults differ from operator to
// operator, and some from opset to opset. A softmax before opset 13 is over all axes from one on, a PRelu's slope
// before opset 7 is one for each channel. ONNX's first operators, which ONNX Runtime still has, are sums and products
// of these.
//
//===------------------------------------------------------------------------===//
#include "import/onnx/Registry.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using mlir::Value;

static Value elu(Node &n, TensorBuilder &b) { return b.elu(n.input(0), n.real("alpha", 1)); }
static Value celu(Node &n, TensorBuilder &b) { return b.celu(n.input(0), n.real("alpha", 1)); }
static Value leakyRelu(Node &n, TensorBuilder &b) { return b.leakyRelu(n.input(0), n.real("alpha", 0.01f)); }
static Value sigmoid(Node &n, TensorBuilder &b) { return b.sigmoid(n.input(0)); }
static Value hardSwish(Node &n, TensorBuilder &b) { return b.hardSwish(n.input(0)); }
static Value mish(Node &n, TensorBuilder &b) { return b.mish(n.input(0)); }
static Value relu(Node &n, TensorBuilder &b) { return b.relu(n.input(0)); }
static Value softplus(Node &n, TensorBuilder &b) { return b.softplus(n.input(0)); }
static Value softsign(Node &n, TensorBuilder &b) { return b.softsign(n.input(0)); }
static Value hyperbolicTangent(Node &n, TensorBuilder &b) { return b.tanh(n.input(0)); }

static Value selu(Node &n, TensorBuilder &b) {
  bool isFirst = n.opset() < 6;
  return b.selu(n.input(0), n.real("alpha", isFirst ? 1.6732f : 1.67326319217681884765625),
                n.real("gamma", isFirst ? 1.0507f : 1.05070102214813232421875));
}

static Value hardSigmoid(Node &n, TensorBuilder &b) {
  return b.hardSigmoid(n.input(0), n.real("alpha", 0.2f), n.real("beta", 0.5));
}

static Tensor gelu(Node &n, TensorBuilder &b) {
  std::string kind = n.string("approximate", "none");
  if (kind == "none")
    return b.gelu(n.input(0));
  if (kind == "tanh")
    return b.geluTanh(n.input(0));
  return n.fail("attribute 'approximate' is " + quoted(kind), "it is none or tanh");
}

static Value swish(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  return b.mul(x, b.sigmoid(b.mul(x, n.real("alpha", 1))));
}

static Value thresholdedRelu(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  return b.where(b.greater(x, n.real("alpha", 1)), x, 0);
}

static Value shrink(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  double lambda = n.real("lambd", 0.5), bias = n.real("bias", 0);
  if (!x)
    return {};
  // Both numbers are real, whatever x is: an integer is compared and moved as a float that holds it.
  bool isWide = !b.isFloat(x) && b.element(x).getIntOrFloatBitWidth() > 16;
  Value real = b.isFloat(x) ? x : b.cast(x, isWide ? b.builder().getF64Type() : b.float32());
  auto moved = [&](double by) { return by == 0 ? x : b.cast(b.add(real, by), b.element(x)); };
  return b.where(b.less(real, -lambda), moved(bias),
                 b.where(b.greater(real, lambda), moved(-bias), b.constantLike(x, 0)));
}

// Of ONNX's first, experimental operators, which ONNX Runtime still has.

static Value affine(Node &n, TensorBuilder &b) {
  return b.add(b.mul(n.input(0), n.real("alpha", 1)), n.real("beta", 0));
}

static Value scale(Node &n, TensorBuilder &b) { return b.mul(n.input(0), n.real("scale", 1)); }

/// An image by a number, and a bias for each channel.
static Tensor imageScaler(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  std::optional<llvm::SmallVector<double>> bias = n.reals("bias");
  double scale = n.real("scale", 1);
  if (!x)
    return {};
  if (b.rank(x) != 4 || !bias)
    return n.fail(bias ? "an image " + describe(b.shape(x)) : std::string("attribute 'bias' is missing"),
                  bias ? "it needs [n, c, h, w]" : "give a number for each channel");
  if (!(x = b.takeSize(x, 1, int64_t(bias->size()), "scale")))
    return n.fail(llvm::Twine(bias->size()) + " numbers in 'bias' for an image " + describe(b.shape(n.input(0))),
                  "give one for each channel");
  llvm::SmallVector<float> numbers(bias->begin(), bias->end());
  auto type = mlir::RankedTensorType::get({int64_t(numbers.size())}, b.float32());
  Value channels = b.weight("bias", mlir::DenseElementsAttr::get(type, llvm::ArrayRef<float>(numbers)));
  return b.add(b.mul(x, scale), b.perChannel(x, b.cast(channels, b.element(x))));
}

/// alpha · f(beta · x); both must be given.
static auto scaled(Value (TensorBuilder::*f)(Value)) {
  return [f](Node &n, TensorBuilder &b) -> Tensor {
    if (!n.hasAttr("alpha") || !n.hasAttr("beta"))
      return n.fail("attribute 'alpha' or 'beta' is missing", "give both");
    return b.mul((b.*f)(b.mul(n.input(0), n.real("beta", 1))), n.real("alpha", 1));
  };
}

/// Before opset 7 the slope is one number, or one per channel.
static Value prelu(Node &n, TensorBuilder &b) {
  Value x = n.input(0), slope = n.input(1);
  if (n.opset() < 7 && b.rank(slope) == 1 && !b.dim(slope, 0).isConst(1))
    slope = b.perChannel(x, slope);
  return b.where(b.less(x, 0), b.mul(x, slope), x);
}

/// Before opset 13 the axes from `axis` on are one.
static auto overAxis(Value (TensorBuilder::*function)(Value, int64_t)) {
  return [function](Node &n, TensorBuilder &b) -> Value {
    Value x = n.input(0);
    int64_t axis = n.integer("axis", n.opset() < 13 ? 1 : -1);
    if (n.opset() >= 13)
      return (b.*function)(x, axis);
    return b.reshape((b.*function)(b.flatten(x, axis), 1), b.shape(x));
  };
}

/// One at the first largest element, zeros elsewhere.
static Value hardmax(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  int64_t axis = n.integer("axis", n.opset() < 13 ? 1 : -1);
  Value rows = n.opset() < 13 ? b.flatten(x, axis) : x;
  if (n.opset() < 13)
    axis = 1;
  if (!rows || !b.normalizeAxis(axis, b.rank(rows)))
    return {};
  Value hot = b.oneHot(b.argMax(rows, axis, /*keepDims=*/false, b.int64()), b.dim(rows, axis), axis, 1,
                       b.constant(0, b.element(x)), b.element(x));
  return b.reshape(hot, b.shape(x));
}

void kiln::import::onnx::addActivations(Registry &r) {
  r.add("Affine", 1, affine);
  r.add("Celu", 12, celu);
  r.add("Elu", 1, elu);
  r.add("Gelu", 20, gelu);
  r.add("HardSigmoid", 1, hardSigmoid);
  r.add("HardSwish", 14, hardSwish);
  r.add("Hardmax", 1, hardmax);
  r.add("ImageScaler", 1, imageScaler);
  r.add("LeakyRelu", 1, leakyRelu);
  r.add("LogSoftmax", 1, overAxis(&TensorBuilder::logSoftmax));
  r.add("Mish", 18, mish);
  r.add("PRelu", 1, prelu);
  r.add("ParametricSoftplus", 1, scaled(&TensorBuilder::softplus));
  r.add("Relu", 1, relu);
  r.add("Scale", 1, scale);
  r.add("ScaledTanh", 1, scaled(&TensorBuilder::tanh));
  r.add("Selu", 1, selu);
  r.add("Shrink", 9, shrink);
  r.add("Sigmoid", 1, sigmoid);
  r.add("Softmax", 1, overAxis(&TensorBuilder::softmax));
  r.add("Softplus", 1, softplus);
  r.add("Softsign", 1, softsign);
  r.add("Swish", 24, swish);
  r.add("Tanh", 1, hyperbolicTangent);
  r.add("ThresholdedRelu", 10, thresholdedRelu);
}
