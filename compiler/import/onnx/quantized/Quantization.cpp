//===- Quantization.cpp - Quantised tensors and their products --------------===//
//
// A quantised tensor holds small integers q that mean (q - zero) · scale. Scale and zero point are one number, or one
// for each index of an axis, or one for each block along it, so most of the work is to lay them out as they broadcast.
// QLinearConv and similar operators are products of such tensors: integers less their zero points, summed in integers,
// and only the sum is scaled, rounded and shifted into the result's range. DequantizeLinear's result remembers its
// source, so that a product after it can take the integers instead (Product.cpp).
//
//===------------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/Quantize.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Microsoft.h"
#include "import/onnx/Registry.h"
#include "import/onnx/file/ElementType.h"
#include "import/onnx/network/WindowAttributes.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

/// The dtype that an attribute names, if it is not 0; null after a failure too.
static mlir::Type typeAttribute(Node &n, llvm::StringRef name) {
  int64_t number = n.integer(name, 0);
  mlir::Type type = number == 0 ? mlir::Type() : elementType(n.importer().builder().getContext(), number);
  if (number != 0 && !type)
    n.fail("attribute " + quoted(name) + " is " + dataTypeName(number) + ", which is not supported", kKnownDTypes);
  return type;
}

/// The axis, and the size of a block or 0, of QuantizeLinear and DequantizeLinear.
static std::pair<int64_t, int64_t> granularity(Node &n) {
  int64_t axis = isRuntimes(n) || n.opset() >= 13 ? n.integer("axis", 1) : 1;
  int64_t block = n.opset() >= 21 ? n.integer("block_size", 0) : 0;
  if (block < 0 || block > view::kMaxDim)
    n.fail("attribute 'block_size' is " + Twine(block), "it is 0 or the size of a block");
  return {axis, block};
}

static Tensor quantizeLinear(Node &n, TensorBuilder &b) {
  auto [axis, block] = granularity(n);
  Value x = n.input(0), scale = n.input(1), zero = n.optionalInput(2);
  NarrowRounding rounding;
  if (n.opset() >= 19)
    rounding.saturates = n.flag("saturate", true);
  mlir::Type type = n.opset() >= 21 ? typeAttribute(n, "output_dtype") : mlir::Type();
  mlir::Type precision = n.opset() >= 23 ? typeAttribute(n, "precision") : mlir::Type();
  if (!x || !scale || !b.ok())
    return {};
  if (zero && type && b.element(zero) != type)
    return n.fail("attribute 'output_dtype' is " + dtypeName(type) + " and the zero point " +
                      dtypeName(b.element(zero)),
                  "make them one dtype");
  if (zero)
    type = b.element(zero);
  if (!type)
    type = b.builder().getIntegerType(8, /*isSigned=*/false);
  if (!precision)
    precision = b.isFloat(scale) ? b.element(scale) : b.float32();
  scale = b.cast(alongAxis(b, x, scale, axis, block), precision);
  return quantize(b, b.cast(x, precision), scale, alongAxis(b, x, zero, axis, block), type, rounding);
}

static Tensor dequantizeLinear(Node &n, TensorBuilder &b) {
  auto [axis, block] = granularity(n);
  Value x = n.input(0), scale = n.input(1), zero = n.optionalInput(2);
  mlir::Type type = n.opset() >= 23 ? typeAttribute(n, "output_dtype") : mlir::Type();
  if (!x || !scale || !b.ok())
    return {};
  if (!type)
    type = b.element(scale);
  Quantized q{x, alongAxis(b, x, scale, axis, block), alongAxis(b, x, zero, axis, block)};
  Tensor result = b.cast(dequantize(b, q), type);
  result.quantized = std::make_shared<Quantized>(q);
  return result;
}

static Tensors dynamicQuantizeLinear(Node &n, TensorBuilder &b) {
  Quantized q = quantizeDynamically(b, n.input(0));
  return {q.values, q.scale, q.zero};
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A scale or zero point of a product's first operand, or of the product: one number, one per row, or as many axes.
static Value perRow(TensorBuilder &b, Value parameter) {
  if (parameter && b.rank(parameter) == 1)
    return b.dim(parameter, 0).isConst(1) ? b.reshape(parameter, {}) : b.unsqueeze(parameter, {1});
  return parameter;
}

static Tensor matmulInteger(Node &n, TensorBuilder &b) {
  Value x = n.input(0), y = n.input(1), xZero = n.optionalInput(2), yZero = n.optionalInput(3);
  return b.matmul(centred(b, x, perRow(b, xZero)), centred(b, y, yZero));
}

/// ONNX Runtime's own, of 16 bits, with sums of 32.
static Value matmulInteger16(Node &n, TensorBuilder &b) { return b.matmul(n.input(0), n.input(1)); }

/// The sum of products in the result's integers: scaled, rounded, shifted.
static Value requantize(TensorBuilder &b, Value sum, Value xScale, Value yScale, Value scale, Value zero) {
  auto wide = [&](Value tensor) { return tensor ? b.cast(tensor, b.float32()) : tensor; };
  Value factor = b.div(b.mul(wide(xScale), wide(yScale)), wide(scale));
  return zero ? roundTo(b, b.mul(wide(sum), factor), zero, b.element(zero)) : Value();
}

static Tensor qlinearMatmul(Node &n, TensorBuilder &b) {
  Value x = n.input(0), xScale = perRow(b, n.input(1)), xZero = perRow(b, n.input(2));
  Value y = n.input(3), yScale = n.input(4), yZero = n.input(5);
  Value scale = perRow(b, n.input(6)), zero = perRow(b, n.input(7));
  return requantize(b, b.matmul(centred(b, x, xZero), centred(b, y, yZero)), xScale, yScale, scale, zero);
}

/// One number, or one for each output channel, as it broadcasts against the weight.
static Value perOutput(TensorBuilder &b, Value weight, Value parameter) {
  return parameter ? alongAxis(b, weight, parameter, 0) : parameter;
}

/// The convolution of the integers less their zero points; the attributes are Conv's.
static Value integerConvolution(Node &n, TensorBuilder &b, Value x, Value xZero, Value weight, Value weightZero,
                                Value bias) {
  int64_t groups = n.integer("group", 1);
  if (!x || !weight)
    return {};
  Shape sizes = b.shape(weight);
  std::optional<Window> window = readWindow(n, x, {sizes.begin() + std::min<size_t>(sizes.size(), 2), sizes.end()});
  if (!window)
    return {};
  Value zero = xZero ? alongAxis(b, x, xZero, 0) : xZero;
  return b.conv(centred(b, x, zero), centred(b, weight, perOutput(b, weight, weightZero)), bias, *window, groups);
}

static Value convInteger(Node &n, TensorBuilder &b) {
  Value x = n.input(0), weight = n.input(1), xZero = n.optionalInput(2), weightZero = n.optionalInput(3);
  return integerConvolution(n, b, x, xZero, weight, weightZero, Value());
}

/// ONNX Runtime's own may have the channels of input and result after the spatial axes.
static Value qlinearConv(Node &n, TensorBuilder &b) {
  bool channelsLast = isRuntimes(n) && n.flag("channels_last", false);
  Value x = n.input(0), xScale = n.input(1), xZero = n.input(2);
  Value weight = n.input(3), weightScale = n.input(4), weightZero = n.input(5);
  Value scale = n.input(6), zero = n.input(7), bias = n.optionalInput(8);
  if (channelsLast)
    x = b.moveAxis(x, -1, 1);
  Value sum = integerConvolution(n, b, x, xZero, weight, weightZero, bias);
  if (!sum || !weightScale)
    return {};
  Value y = requantize(b, sum, alongAxis(b, sum, xScale, 0), alongAxis(b, sum, weightScale, 1),
                       alongAxis(b, sum, scale, 0), zero ? alongAxis(b, sum, zero, 0) : zero);
  return channelsLast ? b.moveAxis(y, 1, -1) : y;
}

void kiln::import::onnx::addQuantization(Registry &r) {
  r.add("ConvInteger", 10, convInteger);
  r.add("DequantizeLinear", 10, dequantizeLinear);
  r.add("DynamicQuantizeLinear", 11, dynamicQuantizeLinear);
  r.add("MatMulInteger", 10, matmulInteger);
  r.add("QLinearConv", 10, qlinearConv);
  r.add("QLinearMatMul", 10, qlinearMatmul);
  r.add("QuantizeLinear", 10, quantizeLinear);
  r.add("com.microsoft", "DequantizeLinear", 1, dequantizeLinear);
  r.add("com.microsoft", "MatMulInteger16", 1, matmulInteger16);
  r.add("com.microsoft", "QLinearConv", 1, qlinearConv);
  r.add("com.microsoft", "QuantizeLinear", 1, quantizeLinear);
}
