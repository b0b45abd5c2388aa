//===- Normalization.cpp - Batch, layer, instance and other norms -----------===//
#include "import/onnx/Registry.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using mlir::Value;

/// In training, by the statistics of this batch. The running ones follow and, before opset 14, the batch's own.
static Tensors batchNormalization(Node &n, TensorBuilder &b) {
  double epsilon = n.real("epsilon", 1e-5f), momentum = n.real("momentum", 0.9f);
  bool trains = n.opset() < 7     ? !n.flag("is_test", false)
                : n.opset() >= 14 ? n.flag("training_mode", false)
                                  : n.proto().output_size() > 1;
  if (n.opset() < 9 && !n.flag("spatial", true))
    return n.fail("attribute 'spatial' is 0, which is not supported", "normalise each channel"), Tensors();
  Value x = n.input(0), scale = n.input(1), bias = n.input(2), mean = n.input(3), variance = n.input(4);
  if (!trains)
    return {b.batchNorm(x, scale, bias, mean, variance, epsilon)};
  if (!x || !mean || !variance)
    return {};
  llvm::SmallVector<int64_t> axes = b.allAxes(x);
  if (axes.size() < 2)
    return n.fail("its input is " + describe(b.shape(x)), "it needs a batch and a channel axis"), Tensors();
  axes.erase(axes.begin() + 1);
  Value wide = b.cast(x, b.accumulator(b.element(x)));
  Value batchMean = b.cast(b.mean(wide, axes), b.element(mean));
  Value batchVariance = b.cast(b.var(wide, axes, /*keepDims=*/false, /*correction=*/0), b.element(variance));
  auto running = [&](Value before, Value now) { return b.add(b.mul(before, momentum), b.mul(now, 1 - momentum)); };
  return {b.batchNorm(x, scale, bias, batchMean, batchVariance, epsilon), running(mean, batchMean),
          running(variance, batchVariance), batchMean, batchVariance};
}

static llvm::SmallVector<int64_t> axesFrom(int64_t first, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(first, rank));
}

/// Y, and if they are asked for the mean and 1/√(variance + epsilon), both in the dtype of `stash_type`.
static Tensors layerNormalization(Node &n, TensorBuilder &b) {
  double epsilon = n.real("epsilon", 1e-5f);
  int64_t axis = n.integer("axis", -1);
  int64_t stashed = n.integer("stash_type", ::onnx::TensorProto::FLOAT);
  Value x = n.input(0), scale = n.input(1), bias = n.optionalInput(2);
  std::optional<int64_t> first = b.normalizeAxis(axis, b.rank(x));
  if (!x || !first)
    return {};
  llvm::SmallVector<int64_t> axes = axesFrom(*first, b.rank(x));
  Tensors results{b.layerNorm(x, axes, epsilon, scale, bias)};
  if (n.proto().output_size() > 1) {
    if (stashed != ::onnx::TensorProto::FLOAT && stashed != ::onnx::TensorProto::BFLOAT16)
      return n.fail("attribute 'stash_type' is " + llvm::Twine(stashed), "it is 1 (float32) or 16 (bfloat16)"),
             Tensors();
    mlir::Type stash = stashed == ::onnx::TensorProto::FLOAT ? b.float32() : b.builder().getBF16Type();
    Value wide = b.isFloat(x) ? b.cast(x, b.accumulator(b.element(x))) : x;
    results.push_back(b.cast(b.mean(wide, axes, /*keepDims=*/true), stash));
    results.push_back(b.cast(b.rsqrt(b.add(b.var(wide, axes, /*keepDims=*/true, /*correction=*/0), epsilon)), stash));
  }
  return results;
}

static Value rmsNormalization(Node &n, TensorBuilder &b) {
  double epsilon = n.real("epsilon", 1e-5f);
  int64_t axis = n.integer("axis", -1);
  n.ignore({"stash_type"});
  Value x = n.input(0), scale = n.input(1);
  std::optional<int64_t> first = b.normalizeAxis(axis, b.rank(x));
  return x && first ? b.rmsNorm(x, axesFrom(*first, b.rank(x)), epsilon, scale) : Value();
}

static Value instanceNormalization(Node &n, TensorBuilder &b) {
  return b.instanceNorm(n.input(0), n.input(1), n.input(2), n.real("epsilon", 1e-5f));
}

/// Scale and bias are one per group before opset 21, one per channel since.
static Tensor groupNormalization(Node &n, TensorBuilder &b) {
  Value x = n.input(0), scale = n.input(1), bias = n.input(2);
  int64_t groups = n.integer("num_groups");
  double epsilon = n.real("epsilon", 1e-5f);
  n.ignore({"stash_type"});
  if (!x || !scale || !bias)
    return {};
  if (groups < 1)
    return n.fail("attribute 'num_groups' is " + llvm::Twine(groups), "it is 1 or more");
  if (n.opset() < 21) {
    Expr perGroup = view::floorDiv(b.dim(x, 1), groups);
    scale = b.repeatInterleave(scale, 0, perGroup);
    bias = b.repeatInterleave(bias, 0, perGroup);
  }
  return b.groupNorm(x, groups, scale, bias, epsilon);
}

/// x / (Σ |x|^p)^(1/p); if the norm is 0, 0.
static Tensor lpNormalization(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  int64_t axis = n.integer("axis", -1), p = n.integer("p", 2);
  if (p != 1 && p != 2)
    return n.fail("attribute 'p' is " + llvm::Twine(p), "it is 1 or 2");
  Value norm = p == 1 ? b.l1(x, {axis}, /*keepDims=*/true) : b.l2(x, {axis}, /*keepDims=*/true);
  return b.where(b.equal(norm, 0), b.constantLike(x, 0), b.div(x, norm));
}

static Value meanVarianceNormalization(Node &n, TensorBuilder &b) {
  llvm::SmallVector<int64_t> axes = n.integers("axes");
  if (axes.empty())
    axes = {0, 2, 3};
  Value x = n.input(0);
  Value centred = b.sub(x, b.mean(x, axes, /*keepDims=*/true));
  return b.div(centred, b.add(b.stddev(x, axes, /*keepDims=*/true, /*correction=*/0), 1e-9));
}

/// x / (bias + alpha/size · Σ x²)^beta, the sum over `size` neighbouring channels.
static Tensor lrn(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  double alpha = n.real("alpha", 1e-4f), beta = n.real("beta", 0.75), bias = n.real("bias", 1);
  int64_t size = n.integer("size");
  if (!x)
    return {};
  if (size < 1 || size > view::kMaxDim || b.rank(x) < 2)
    return n.fail("attribute 'size' is " + llvm::Twine(size) + " for " + describe(b.shape(x)),
                  "it is 1 or more, over the channel axis");
  Window window; // over the channels and all that follows, one element of each of these
  window.kernel.assign(b.rank(x) - 1, 1);
  window.padLow.assign(b.rank(x) - 1, 0);
  window.padHigh = window.padLow;
  window.kernel.front() = size;
  window.padLow.front() = (size - 1) / 2;
  window.padHigh.front() = size - 1 - (size - 1) / 2;
  Value mean = b.averagePool(b.square(x), window, /*countPadding=*/true);
  return b.div(x, b.pow(b.add(b.mul(mean, alpha), bias), beta));
}

void kiln::import::onnx::addNormalizations(Registry &r) {
  r.add("BatchNormalization", 1, batchNormalization);
  r.add("GroupNormalization", 18, groupNormalization);
  r.add("InstanceNormalization", 1, instanceNormalization);
  r.add("LayerNormalization", 17, layerNormalization);
  r.add("LpNormalization", 1, lpNormalization);
  r.add("LRN", 1, lrn);
  r.add("MeanVarianceNormalization", 9, meanVarianceNormalization);
  r.add("RMSNormalization", 23, rmsNormalization);
  // ONNX Runtime's former names, in ONNX's domain and in its own.
  r.add("SimplifiedLayerNormalization", 7, rmsNormalization);
  r.add("com.microsoft", "SimplifiedLayerNormalization", 1, rmsNormalization);
}
