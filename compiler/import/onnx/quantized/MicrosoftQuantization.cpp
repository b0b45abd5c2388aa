//===- MicrosoftQuantization.cpp - ONNX Runtime's quantised operators -------===//
//
// ONNX Runtime writes a quantised network with operators of its own, on tensors of integers that each come with a scale
// and a zero point: QLinearAdd takes x, its scale, its zero point, the same of y, and the two of the result. What such
// an operator means is f(dequantised inputs), quantised again, and so it is written here. Products stay products of
// integers, of which only the sum is scaled. Where the weights alone are quantised, as by MatMulNBits, they are
// dequantised and the product is one of floats.
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

/// The tensor at an input and the scale and zero point behind it.
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

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The sum of integer products in float32; the second operand's scale may be one per column.
static Value scaled(TensorBuilder &b, Value sum, Value xScale, Value yScale) {
  return b.mul(b.cast(sum, b.float32()), b.mul(scalar(b, xScale), yScale));
}

/// alpha · A·B + C, C in units of that product; float32 where the result has no scale.
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

/// The numbers of `bits` bits that lie along the last axis of a uint8 tensor, the lowest first.
static Value unpackBits(TensorBuilder &b, Value packed, int64_t bits) {
  if (!packed || bits == 8)
    return packed;
  Shape sizes = b.shape(packed);
  Value shifts = b.mul(b.arange(8 / bits, b.element(packed)), bits);
  Value numbers = b.bitAnd(b.shiftRight(b.unsqueeze(packed, {-1}), shifts), (1 << bits) - 1);
  sizes.back() = sizes.back() * (8 / bits);
  return b.reshape(numbers, sizes);
}

/// One scale or zero point for each block along an axis of `size` elements, as one for each element.
static Value spread(TensorBuilder &b, Value parameter, int64_t axis, int64_t block, Expr size) {
  return b.narrow(b.repeatInterleave(parameter, axis, block), axis, 0, size);
}

/// A · Wᵀ + bias, W [columns, depth] in blocks along its rows, each with a scale and perhaps a zero point.
static Tensor matmulNBits(Node &n, TensorBuilder &b) {
  Value x = n.input(0), packed = n.input(1), scales = n.input(2), zeros = n.optionalInput(3), bias = n.optionalInput(5);
  int64_t depth = n.integer("K"), columns = n.integer("N"), block = n.integer("block_size"),
          bits = n.integer("bits", 4);
  n.ignore({"accuracy_level"}); // what may be lost
  if (n.integer("weight_prepacked", 0) != 0)
    return n.fail("attribute 'weight_prepacked' is set", "store the weights as the operator defines them");
  if (n.has(4))
    return n.fail("an order of the groups is not supported", "leave input 4 out");
  if (!x || !packed || !scales || !b.ok())
    return {};
  bool known = llvm::is_contained({2, 4, 8}, bits) && block >= 1 && depth >= 1 && columns >= 1 &&
               std::max({block, depth, columns}) <= view::kMaxDim;
  if (!known || !b.element(packed).isUnsignedInteger(8))
    return n.fail("weights " + describe(b.shape(packed)) + " of " + dtypeName(b.element(packed)) + ", " + Twine(bits) +
                      " bits wide",
                  "they are uint8, of 2, 4 or 8 bits");
  int64_t blocks = llvm::divideCeil(depth, block), zeroBytes = llvm::divideCeil(blocks * bits, 8);
  int64_t packedBytes = llvm::divideCeil(blocks * block * bits, 8);
  Value weights = unpackBits(b, b.reshape(packed, {columns, packedBytes}), bits);
  scales = b.cast(b.reshape(scales, {columns, blocks}), b.float32());
  Value zero;
  if (zeros && b.isFloat(zeros))
    zero = b.reshape(b.cast(zeros, b.float32()), {columns, blocks});
  else if (zeros)
    zero = b.cast(b.narrow(unpackBits(b, b.reshape(zeros, {columns, zeroBytes}), bits), 1, 0, blocks), b.float32());
  weights = b.cast(b.narrow(weights, 1, 0, depth), b.float32());
  weights = zero ? b.sub(weights, spread(b, zero, 1, block, depth)) : b.sub(weights, int64_t(1) << (bits - 1));
  Value y = b.matmul(b.cast(x, b.float32()), b.transpose(b.mul(weights, spread(b, scales, 1, block, depth)), 0, 1));
  return b.cast(bias ? b.add(y, b.cast(bias, b.float32())) : y, b.element(x));
}

/// A · Wᵀ, or A · W, of a W [columns, depth] whose elements are codes of 4 bits, the first in a byte's upper half, and
/// have a scale for each block of the whole. A code stands for a number of one of two tables, those of bitsandbytes.
static Tensor matmulBnb4(Node &n, TensorBuilder &b) {
  static constexpr float kTables[2][16] = {
      {0, 0.005208333333f, 0.66666667f, 1, 0.33333333f, 0.5f, 0.16666667f, 0.25f, 0, -0.005208333333f, -0.66666667f, -1,
       -0.33333333f, -0.5f, -0.16666667f, -0.25f},
      {-1, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f, -0.28444138169288635f,
       -0.18477343022823334f, -0.09105003625154495f, 0, 0.07958029955625534f, 0.16093020141124725f,
       0.24611230194568634f, 0.33791524171829224f, 0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1}};
  Value x = n.input(0), packed = n.input(1), scales = n.input(2);
  int64_t depth = n.integer("K"), columns = n.integer("N"), block = n.integer("block_size"),
          kind = n.integer("quant_type");
  bool turns = n.flag("transB", true);
  n.ignore({"training_mode"});
  if (!x || !packed || !scales || !b.ok())
    return {};
  if (std::min({block, depth, columns}) < 1 || std::max({block, depth, columns}) > view::kMaxDim || kind < 0 ||
      kind > 1 || !b.element(packed).isUnsignedInteger(8))
    return n.fail("weights " + describe(b.shape(packed)) + " of " + dtypeName(b.element(packed)) + " of quant_type " +
                      Twine(kind),
                  "they are uint8, and the type 0 or 1");
  auto tableType = mlir::RankedTensorType::get({16}, b.float32());
  Value table = b.weight(kind == 0 ? "fp4" : "nf4",
                         mlir::DenseElementsAttr::get(tableType, llvm::ArrayRef<float>(kTables[kind])));
  Expr count = Expr(depth) * columns;
  Value bytes = b.reshape(packed, {view::floorDiv(count + 1, 2), 1});
  Value codes = b.concat({b.shiftRight(bytes, 4), b.bitAnd(bytes, 15)}, 1);
  codes = b.narrow(b.reshape(codes, {view::floorDiv(count + 1, 2) * 2}), 0, 0, count);
  Value scale = spread(b, b.cast(b.flatten(scales, 0), b.float32()), 1, block, count);
  Value weights = b.mul(b.gather(table, b.cast(codes, b.int32()), 0), b.reshape(scale, {count}));
  weights = b.reshape(weights, {columns, depth});
  Value y = b.matmul(b.cast(x, b.float32()), turns ? b.transpose(weights, 0, 1) : weights);
  return b.cast(y, b.element(x));
}

/// Rows of a table in blocks along an axis, each with a scale and perhaps a zero point. They are chosen first, so that
/// the table stays as small as it is.
static Tensor gatherBlockQuantized(Node &n, TensorBuilder &b) {
  Value x = n.input(0), indices = n.input(1), scales = n.input(2), zeros = n.optionalInput(3);
  int64_t bits = n.integer("bits", 4), block = n.integer("block_size", 128);
  std::optional<int64_t> axis = b.normalizeAxis(n.integer("gather_axis", 0), b.rank(x));
  std::optional<int64_t> along = b.normalizeAxis(n.integer("quantize_axis", 1), b.rank(x));
  if (!x || !indices || !scales || !axis || !along || !b.ok())
    return {};
  bool packs = b.element(x).isUnsignedInteger(8);
  if (*axis == *along || (packs && *axis == b.rank(x) - 1) || b.rank(scales) != b.rank(x))
    return n.fail("elements " + describe(b.shape(x)) + " chosen along axis " + Twine(*axis) + ", with scales " +
                      describe(b.shape(scales)) + " along axis " + Twine(*along),
                  "the axes differ, and the scales have as many");
  if (b.isFloat(x) || (packs && !llvm::is_contained({2, 4, 8}, bits)) || block < 1 || block > view::kMaxDim)
    return n.fail("a table of " + dtypeName(b.element(x)) + " of " + Twine(bits) + " bits in blocks of " + Twine(block),
                  "it is uint8 with numbers of 2, 4 or 8 bits, or of a dtype of 4 bits");
  // Codes lie packed along the last axis, in each row of the zero points too.
  auto chosen = [&](Value table) { return b.gather(table, indices, *axis); };
  auto numbers = [&](Value table) {
    Value rows = chosen(table);
    return b.cast(packs ? unpackBits(b, rows, bits) : rows, b.float32());
  };
  int64_t place = *along > *axis ? *along + b.rank(indices) - 1 : *along;
  Value y = numbers(x), scale = chosen(scales);
  if (!y || !scale)
    return {};
  Expr size = b.dim(y, place);
  if (zeros)
    y = b.sub(y, spread(b, b.narrow(numbers(zeros), -1, 0, b.dim(scale, -1)), place, block, size));
  else if (packs)
    y = b.sub(y, int64_t(1) << (bits - 1));
  return b.cast(b.mul(y, spread(b, b.cast(scale, b.float32()), place, block, size)), b.element(scales));
}

void kiln::import::onnx::addMicrosoftQuantization(Registry &r) {
  llvm::StringRef domain = "com.microsoft";
  r.add(domain, "DynamicQuantizeMatMul", 1, dynamicQuantizeMatmul);
  r.add(domain, "GatherBlockQuantized", 1, gatherBlockQuantized);
  r.add(domain, "MatMulBnb4", 1, matmulBnb4);
  r.add(domain, "MatMulIntegerToFloat", 1, matmulIntegerToFloat);
  r.add(domain, "MatMulNBits", 1, matmulNBits);
  r.add(domain, "QGemm", 1, qgemm);
  r.add(domain, "QLinearAdd", 1, qlinearAdd);
  r.add(domain, "QLinearAveragePool", 1, qlinearAveragePool);
  r.add(domain, "QLinearConcat", 1, qlinearConcat);
  r.add(domain, "QLinearGlobalAveragePool", 1, qlinearGlobalAveragePool);
  r.add(domain, "QLinearLeakyRelu", 1, qlinearLeakyRelu);
  r.add(domain, "QLinearMul", 1, qlinearMul);
  r.add(domain, "QLinearSigmoid", 1, qlinearSigmoid);
  r.add(domain, "QLinearSoftmax", 1, qlinearSoftmax);
  r.add(domain, "QLinearWhere", 1, qlinearWhere);
}
