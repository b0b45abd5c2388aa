//===- Random.cpp - Random numbers ------------------------------------------===//
//
// Numbers are a function of a seed and of their place: element i is threefry of i under the seed, so that every device
// computes any of them by itself and a run gives the same as the last one. A node without a seed has one that follows
// from its name. Dropout's are those that ONNX defines for a seed.
//
//===----------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/Scatter.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"
#include "import/onnx/file/ElementType.h"

#include "llvm/Support/xxhash.h"

#include <numbers>

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using mlir::Value;

/// A seed that follows from a node's name.
static int64_t ownSeed(Node &n) { return int64_t(llvm::xxh3_64bits(n.scope().prefix() + n.proto().output(0)) >> 1); }

/// Attribute 'seed', a float, else a seed of the node's own.
static int64_t seedOf(Node &n) {
  return n.hasAttr("seed") ? llvm::bit_cast<int32_t>(float(n.real("seed", 0))) : ownSeed(n);
}

/// Numbers from 0 on below 1, in float64. Each `stream` of a seed has others.
static Value uniform(TensorBuilder &b, TensorBuilder::Sizes shape, int64_t seed, int64_t stream) {
  mlir::Type bits = b.builder().getIntegerType(64, /*isSigned=*/false);
  Expr count = view::product(shape);
  // The stream is the upper half of the counter, which no count reaches.
  Value counter = b.add(b.cast(b.arange(count, b.int64()), bits), stream << 32);
  Value random = b.alu(Alu::THREEFRY, {counter, b.constant(seed, bits)});
  Value number = b.mul(b.cast(b.shiftRight(random, 11), b.builder().getF64Type()), 0x1p-53);
  return b.reshape(number, shape);
}

/// With mean 0 and deviation 1, in float64 (Box and Muller).
static Value normal(TensorBuilder &b, TensorBuilder::Sizes shape, int64_t seed) {
  Value radius = b.sqrt(b.mul(b.log(b.sub(1, uniform(b, shape, seed, 0))), -2));
  return b.mul(radius, b.cos(b.mul(uniform(b, shape, seed, 1), 2 * std::numbers::pi)));
}

/// Attribute 'dtype', else `otherwise`; null after a failure.
static mlir::Type dtypeAttribute(Node &n, mlir::Type otherwise) {
  if (!n.hasAttr("dtype"))
    return otherwise;
  int64_t dataType = n.integer("dtype");
  mlir::Type element = elementType(n.importer().builder().getContext(), dataType);
  if (!element)
    n.fail("dtype " + dataTypeName(dataType) + " is not supported", "dtypes are " + dtypeNames());
  return element;
}

/// The numbers of a RandomUniform or RandomNormal, of attribute 'shape' or like an input.
static Value randomNumbers(Node &n, TensorBuilder &b) {
  bool isLike = n.op().ends_with("Like");
  Shape shape;
  mlir::Type element = b.float32();
  if (isLike) {
    const Tensor &like = n.tensor(0);
    if (!like)
      return {};
    shape = like.shape();
    element = like.element();
  } else {
    for (int64_t size : n.integers("shape"))
      shape.push_back(size);
  }
  element = dtypeAttribute(n, element);
  int64_t seed = seedOf(n);
  Value numbers;
  if (n.op().starts_with("RandomUniform")) {
    double low = n.real("low", 0), high = n.real("high", 1);
    numbers = b.add(b.mul(uniform(b, shape, seed, 0), high - low), low);
  } else {
    double mean = n.real("mean", 0), scale = n.real("scale", 1);
    numbers = b.add(b.mul(normal(b, shape, seed), scale), mean);
  }
  return element ? b.cast(numbers, element) : Value();
}

/// 1 with the probability that its input gives.
static Value bernoulli(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  mlir::Type element = dtypeAttribute(n, b.element(x));
  int64_t seed = seedOf(n);
  if (!x || !element)
    return {};
  Value number = uniform(b, b.shape(x), seed, 0);
  return b.cast(b.less(number, b.cast(x, b.element(number))), element);
}

/// Classes, with probabilities in proportion to exp of the input: the largest of the input plus Gumbel noise.
static Value multinomial(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  int64_t samples = n.integer("sample_size", 1), seed = seedOf(n);
  mlir::Type index = dtypeAttribute(n, b.builder().getI32Type());
  if (!x || !index)
    return {};
  if (b.rank(x) != 2 || samples < 1 || !index.isInteger())
    return b.fail("an input " + describe(b.shape(x)) + " for " + llvm::Twine(samples) + " samples",
                  "it is [batch, classes]");
  Value number = uniform(b, {b.dim(x, 0), samples, b.dim(x, 1)}, seed, 0);
  Value noise = b.neg(b.log(b.neg(b.log(b.sub(1, number)))));
  return b.argMax(b.add(b.unsqueeze(b.cast(x, b.element(noise)), {1}), noise), 2, /*keepDims=*/false, index);
}

/// Elements dropped in training, the others scaled so that sums stay; all of them kept otherwise.
static Tensors dropout(Node &n, TensorBuilder &b) {
  const Tensor &input = n.tensor(0);
  if (!input)
    return {};
  if (n.opset() < 12)
    n.ignore({"ratio"});
  if (n.opset() < 7 && !n.flag("is_test", false))
    return n.fail("attribute 'is_test' is 0", "export the model for inference"), Tensors();
  if (n.opset() >= 12 && n.has(2) && n.number(2) != 0.0) {
    Value x = n.input(0), training = b.reshape(n.input(2), {}), ratio = n.optionalInput(1);
    int64_t seed = n.hasAttr("seed") ? n.integer("seed") : ownSeed(n);
    ratio = ratio ? b.reshape(b.cast(ratio, b.element(x)), {}) : b.constant(0.5, b.element(x));
    mlir::Type real = b.builder().getF64Type();
    Expr count = view::product(b.shape(x));
    Value number = callHost(b, "mersenne", {tensorType({count}, real)}, {}, {count, seed})[0];
    Value isKept = b.greaterEqual(b.reshape(number, b.shape(x)), b.cast(ratio, real));
    isKept = b.bitOr(isKept, b.expand(b.logicalNot(training), b.shape(x)));
    Value scale = b.where(training, b.div(1, b.sub(1, ratio)), 1);
    return {b.where(isKept, b.mul(x, scale), 0), isKept};
  }
  n.ignore({"seed"});
  if (n.proto().output_size() < 2)
    return {input};
  return {input, b.constant(1, n.opset() < 10 ? input.element() : b.boolType(), input.shape())};
}

void kiln::import::onnx::addRandom(Registry &r) {
  r.add("Bernoulli", 15, bernoulli);
  r.add("Dropout", 1, dropout);
  r.add("Multinomial", 7, multinomial);
  r.add("RandomNormal", 1, randomNumbers);
  r.add("RandomNormalLike", 1, randomNumbers);
  r.add("RandomUniform", 1, randomNumbers);
  r.add("RandomUniformLike", 1, randomNumbers);
}
