//===- MicrosoftQuantization.cpp - ONNX Runtime's quantised operators -------===//
//
// ONNX Runtime writes a quantised network with operators of its own, on tensors of integers that each come with a scale
// and a zero point: QLinearAdd takes x, its scale, its zero point, the same of y, and the two of the result. Such an
// operator means f(dequantised inputs), quantised again, and is written so here. Products stay products of integers,
// and only the sum is scaled. For models with only quantised weights, see PackedWeights.cpp.
//
//===------------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/Quantize.h"
#include "import/onnx/Registry.h"
#include "import/onnx/network/WindowAttributes.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;
using view::provablyEqual;

/// The tensor at an input, and the scale and zero point after it.
static Quantized quantized(Node &n, TensorBuilder &b, int index) {
  return {n.input(index), scalar(b, n.input(index + 1)), scalar(b, n.optionalInput(index + 2))};
}

/// x by the scale and the zero point at these inputs, in the zero point's dtype or this one.
static Value result(Node &n, TensorBuilder &b, Value x, int index, Value like) {
  Value scale = scalar(b, n.input(index)), zero = scalar(b, n.optionalInput(index + 1));
  if (!x || !scale || !like)
    return {};
  return quantize(b, x, scale, zero, b.element(zero ? zero : like));
}

static Value qlinearAdd(Node &n, TensorBuilder &b) {
  Quantized x = quantized(n, b, 0), y = quantized(n, b, 3);
  return result(n, b, b.add(dequantize(b, x), dequantize(b, y)), 6, x.values);
}

static Value qlinearMul(Node &n, TensorBuilder &b) {
  Quantized x = quantized(n, b, 0), y = quantized(n, b, 3);
  return result(n, b, b.mul(dequantize(b, x), dequantize(b, y)), 6, x.values);
}

static Value qlinearSigmoid(Node &n, TensorBuilder &b) {
  Quantized x = quantized(n, b, 0);
  return result(n, b, b.sigmoid(dequantize(b, x)), 3, x.values);
}

static Value qlinearLeakyRelu(Node &n, TensorBuilder &b) {
  Quantized x = quantized(n, b, 0);
  return result(n, b, b.leakyRelu(dequantize(b, x), n.real("alpha", 0.01f)), 3, x.values);
}

/// Before opset 13 the axes from `axis` on are one.
static Value qlinearSoftmax(Node &n, TensorBuilder &b) {
  Quantized x = quantized(n, b, 0);
  int64_t opset = n.integer("opset"), axis = n.integer("axis", -1);
  Value wide = dequantize(b, x);
  Value y = opset >= 13 ? b.softmax(wide, axis) : b.reshape(b.softmax(b.flatten(wide, axis), 1), b.shape(wide));
  return result(n, b, y, 3, x.values);
}

static Value qlinearGlobalAveragePool(Node &n, TensorBuilder &b) {
  Quantized x = quantized(n, b, 0);
  bool channelsLast = n.flag("channels_last", false);
  llvm::SmallVector<int64_t> axes;
  for (int64_t i = 1; i + 1 < b.rank(x.values); ++i)
    axes.push_back(channelsLast ? i : i + 1);
  return result(n, b, b.mean(dequantize(b, x), axes, /*keepDims=*/true), 3, x.values);
}

static Value qlinearAveragePool(Node &n, TensorBuilder &b) {
  Quantized x = quantized(n, b, 0);
  bool ceilMode = n.flag("ceil_mode", false), countPadding = n.flag("count_include_pad", false);
  bool channelsLast = n.flag("channels_last", false);
  Value wide = dequantize(b, x);
  if (channelsLast)
    wide = b.moveAxis(wide, -1, 1);
  std::optional<Window> window = readWindow(n, wide);
  if (!window)
    return {};
  window->ceilMode = ceilMode;
  Value y = b.averagePool(wide, *window, countPadding);
  return result(n, b, channelsLast ? b.moveAxis(y, 1, -1) : y, 3, x.values);
}

static Value qlinearConcat(Node &n, TensorBuilder &b) {
  llvm::SmallVector<Value> parts;
  for (int i = 2; i + 2 < n.numInputs() || i == 2; i += 3)
    parts.push_back(dequantize(b, quantized(n, b, i)));
  return result(n, b, b.concat(parts, n.integer("axis")), 0, n.input(1));
}

static Value qlinearWhere(Node &n, TensorBuilder &b) {
  Quantized x = quantized(n, b, 1), y = quantized(n, b, 4);
  return result(n, b, b.where(n.input(0), dequantize(b, x), dequantize(b, y)), 7, x.values);
}

/// Axes that are a list of integers; without them all.
static llvm::SmallVector<int64_t> axesOf(Node &n, TensorBuilder &b, Value x) {
  llvm::SmallVector<int64_t> axes = n.integers("axes");
  return axes.empty() ? b.allAxes(x) : axes;
}

static Value qlinearReduceMean(Node &n, TensorBuilder &b) {
  Quantized x = quantized(n, b, 0);
  return result(n, b, b.mean(dequantize(b, x), axesOf(n, b, x.values), n.flag("keepdims", true)), 3, x.values);
}

static Value reduceSumInteger(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  return b.sum(x, axesOf(n, b, x), n.flag("keepdims", true));
}

static Value mulInteger(Node &n, TensorBuilder &b) {
  Value xZero = scalar(b, n.optionalInput(1)), yZero = scalar(b, n.optionalInput(3));
  return b.mul(centred(b, n.input(0), xZero), centred(b, n.input(2), yZero));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The sum of integer products in float32; the second operand's scale may be one per column.
static Value scaled(TensorBuilder &b, Value sum, Value xScale, Value yScale) {
  return b.mul(b.cast(sum, b.float32()), b.mul(scalar(b, xScale), yScale));
}

/// alpha · A·B + C, C in units of that product; float32 if the result has no scale.
static Value qgemm(Node &n, TensorBuilder &b) {
  Quantized x = quantized(n, b, 0);
  Value y = n.input(3), yScale = n.input(4), yZero = n.optionalInput(5), bias = n.optionalInput(6);
  double alpha = n.real("alpha", 1);
  if (yScale && b.rank(yScale) == 1 && b.dim(yScale, 0).isConst(1))
    yScale = scalar(b, yScale);
  Value first = centred(b, x.values, x.zero);
  if (n.flag("transA", false))
    first = b.transpose(first, 0, 1);
  if (n.flag("transB", false))
    y = b.transpose(y, 0, 1);
  Value sum = b.matmul(first, centred(b, y, yZero));
  if (bias)
    sum = b.add(sum, bias);
  Value product = scaled(b, sum, x.scale, yScale);
  if (alpha != 1)
    product = b.mul(product, alpha);
  return n.has(7) ? result(n, b, product, 7, x.values) : product;
}

/// A·B + bias of a float A, which is quantised by its own range.
static Value dynamicQuantizeMatmul(Node &n, TensorBuilder &b) {
  Quantized x = quantizeDynamically(b, n.input(0));
  Value y = n.input(1), yScale = n.input(2), yZero = n.optionalInput(3), bias = n.optionalInput(4);
  Value product = scaled(b, b.matmul(centred(b, x.values, x.zero), centred(b, y, yZero)), x.scale, yScale);
  return bias ? b.add(product, bias) : product;
}

static Value matmulIntegerToFloat(Node &n, TensorBuilder &b) {
  Value x = n.input(0), y = n.input(1), xScale = n.input(2), yScale = n.input(3);
  Value xZero = scalar(b, n.optionalInput(4)), yZero = n.optionalInput(5), bias = n.optionalInput(6);
  Value product = scaled(b, b.matmul(centred(b, x, xZero), centred(b, y, yZero)), xScale, yScale);
  return bias ? b.add(product, bias) : product;
}

void kiln::import::onnx::addMicrosoftQuantization(Registry &r) {
  llvm::StringRef domain = "com.microsoft";
  r.add(domain, "DynamicQuantizeMatMul", 1, dynamicQuantizeMatmul);
  r.add(domain, "MatMulIntegerToFloat", 1, matmulIntegerToFloat);
  r.add(domain, "MulInteger", 1, mulInteger);
  r.add(domain, "QGemm", 1, qgemm);
  r.add(domain, "QLinearAdd", 1, qlinearAdd);
  r.add(domain, "QLinearAveragePool", 1, qlinearAveragePool);
  r.add(domain, "QLinearConcat", 1, qlinearConcat);
  r.add(domain, "QLinearGlobalAveragePool", 1, qlinearGlobalAveragePool);
  r.add(domain, "QLinearLeakyRelu", 1, qlinearLeakyRelu);
  r.add(domain, "QLinearMul", 1, qlinearMul);
  r.add(domain, "QLinearReduceMean", 1, qlinearReduceMean);
  r.add(domain, "QLinearSigmoid", 1, qlinearSigmoid);
  r.add(domain, "QLinearSoftmax", 1, qlinearSoftmax);
  r.add(domain, "QLinearWhere", 1, qlinearWhere);
  r.add(domain, "ReduceSumInteger", 1, reduceSumInteger);
}
