//===- Product.cpp - Matrix products and convolutions -----------------------===//
//
// Matrix products and convolutions are TensorBuilder's; this file translates the forms of ONNX and ONNX Runtime. A
// product whose operands are both dequantised, as exporters write quantised models, is computed from the integers and
// scaled afterwards: Σ (s·a)(t·b) = s·t · Σ a·b, with a sum that is exact (QuantizedProduct.h). A transposed
// convolution may name the size of its result instead of its padding, which is then computed backwards. Runtime's
// optimiser writes products with an addend and an activation as one node; here they are separate ops again, which the
// schedule may fuse.
//
//===------------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/Scatter.h"
#include "import/onnx/Registry.h"
#include "import/onnx/network/QuantizedProduct.h"
#include "import/onnx/network/WindowAttributes.h"
#include "ir/base/DType.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

static Value matmul(Node &n, TensorBuilder &b) {
  Value x = n.input(0), y = n.input(1);
  if (std::optional<IntegerOperands> q = integerOperands(n, b, b.dim(x, -1), b.rank(y) > 1 ? b.rank(y) - 1 : -1))
    return q->scaled(b, b.matmul(q->x, q->y));
  return b.matmul(x, y);
}

/// alpha · A·B + beta · C, in which C broadcasts to the product.
static Tensor gemm(Node &n, TensorBuilder &b) {
  double alpha = n.real("alpha", 1), beta = n.real("beta", 1);
  if (n.opset() < 7)
    n.ignore({"broadcast"}); // the sum broadcasts where it has to
  bool turnFirst = n.flag("transA", false), turnSecond = n.flag("transB", false);
  Value x = n.input(0), y = n.input(1), sum = n.optionalInput(2);
  if (!x || !y)
    return {};
  if (b.rank(x) != 2 || b.rank(y) != 2)
    return n.fail("its inputs are " + describe(b.shape(x)) + " and " + describe(b.shape(y)), "both must be matrices");
  std::optional<IntegerOperands> q = integerOperands(n, b, b.dim(x, turnFirst ? 0 : 1), turnSecond ? 0 : 1);
  if (q)
    std::tie(x, y) = std::pair(q->x, q->y);
  Value product = b.matmul(turnFirst ? b.transpose(x, 0, 1) : x, turnSecond ? b.transpose(y, 0, 1) : y);
  if (q)
    product = q->scaled(b, product);
  if (product && alpha != 1)
    product = b.mul(product, alpha);
  if (!sum || beta == 0)
    return product;
  if (beta != 1)
    sum = b.mul(sum, beta);
  return b.add(product, b.expand(sum, b.shape(product)));
}

static llvm::SmallVector<Expr> kernelOf(TensorBuilder &b, Value weight) {
  Shape shape = b.shape(weight);
  return {shape.begin() + std::min<size_t>(shape.size(), 2), shape.end()};
}

static Value convolution(Node &n, TensorBuilder &b, Value x) {
  Value weight = n.input(1), bias = n.optionalInput(2);
  int64_t groups = n.integer("group", 1);
  std::optional<Window> window = readWindow(n, x, kernelOf(b, weight));
  if (!window)
    return {};
  Shape sizes = b.shape(weight);
  if (sizes.empty())
    return b.conv(x, weight, bias, *window, groups);
  std::optional<IntegerOperands> q = integerOperands(n, b, view::product(llvm::ArrayRef(sizes).drop_front()), 0);
  if (!q)
    return b.conv(x, weight, bias, *window, groups);
  Value y = q->scaled(b, b.conv(q->x, q->y, Value(), *window, groups), 1);
  return bias ? b.add(y, alongAxis(b, y, bias, 1)) : y;
}

static Value conv(Node &n, TensorBuilder &b) { return convolution(n, b, n.input(0)); }

/// ONNX Runtime's function after a product: an activation with its numbers, in the order of the activation's own
/// attributes.
static Value activated(Node &n, TensorBuilder &b, Value y, llvm::StringRef activation, llvm::ArrayRef<double> numbers) {
  if (numbers.empty()) {
    if (activation == "Relu")
      return b.relu(y);
    if (activation == "Sigmoid")
      return b.sigmoid(y);
    if (activation == "Softplus")
      return b.softplus(y);
    if (activation == "Softsign")
      return b.softsign(y);
    if (activation == "Tanh")
      return b.tanh(y);
  }
  if (numbers.size() == 1) {
    if (activation == "Elu")
      return b.elu(y, numbers[0]);
    if (activation == "LeakyRelu")
      return b.leakyRelu(y, numbers[0]);
    if (activation == "ThresholdedRelu")
      return b.where(b.greater(y, numbers[0]), y, 0);
  }
  if (numbers.size() == 2) {
    if (activation == "Clip")
      return b.clip(y, numbers[0], numbers[1]);
    if (activation == "HardSigmoid")
      return b.hardSigmoid(y, numbers[0], numbers[1]);
    if (activation == "Selu")
      return b.selu(y, numbers[0], numbers[1]);
  }
  return n
      .fail("activation " + quoted(activation) + " with " + Twine(numbers.size()) + " numbers is not known",
            "it is Relu, Sigmoid, Softplus, Softsign, Tanh, Elu, LeakyRelu, ThresholdedRelu, Clip, HardSigmoid or Selu")
      .value;
}

/// A convolution, its result perhaps with the channels last, then an addend and an activation.
static Value fusedConvolution(Node &n, TensorBuilder &b, bool channelsLast) {
  std::string activation = n.string("activation", "");
  std::optional<llvm::SmallVector<double>> given = n.reals("activation_params");
  Value x = n.input(0), sum = n.optionalInput(3);
  Value y = channelsLast ? b.moveAxis(convolution(n, b, b.moveAxis(x, -1, 1)), 1, -1) : convolution(n, b, x);
  if (!y)
    return {};
  if (sum)
    y = b.add(y, sum);
  return activation.empty() ? y : activated(n, b, y, activation, given.value_or(llvm::SmallVector<double>()));
}

static Value fusedConv(Node &n, TensorBuilder &b) { return fusedConvolution(n, b, /*channelsLast=*/false); }
static Value nhwcFusedConv(Node &n, TensorBuilder &b) { return fusedConvolution(n, b, /*channelsLast=*/true); }

static Value fusedGemm(Node &n, TensorBuilder &b) {
  std::string activation = n.string("activation", "");
  llvm::SmallVector<double> numbers;
  for (llvm::StringRef name : {"activation_alpha", "activation_beta", "activation_gamma"})
    if (n.hasAttr(name))
      numbers.push_back(n.real(name, 0));
  Value y = gemm(n, b).value;
  return activation.empty() || !y ? y : activated(n, b, y, activation, numbers);
}

/// output_shape, and auto_pad's SAME, give the result's size; the padding is the part to cut off. Missing elements
/// after that are added at the end.
static bool padToOutput(Node &n, Value x, Window &window, llvm::ArrayRef<Expr> output, bool moreBefore,
                        llvm::MutableArrayRef<int64_t> outputPad) {
  for (auto [i, kernel] : llvm::enumerate(window.kernel)) {
    Expr full =
        (TensorBuilder::dim(x, 2 + i) - 1) * window.strides[i] + (kernel - 1) * window.dilations[i] + 1 + outputPad[i];
    Expr total = full - output[i];
    if (!total.isConst()) {
      n.fail("the padding " + total.print() + " is not known at import", "fix the sizes with --dim");
      return false;
    }
    int64_t taken = std::max<int64_t>(total.constant(), 0);
    outputPad[i] += taken - total.constant();
    window.padLow[i] = moreBefore ? taken - taken / 2 : taken / 2;
    window.padHigh[i] = Expr(taken) - window.padLow[i];
  }
  return true;
}

/// The elements added at the end of each spatial axis of a result; a failure is noted if the attribute does not fit.
static llvm::SmallVector<int64_t> outputPadding(Node &n, size_t spatial) {
  llvm::SmallVector<int64_t> pads = n.integers("output_padding");
  if (pads.empty())
    pads.assign(spatial, 0);
  if (pads.size() != spatial || llvm::any_of(pads, [](int64_t pad) { return pad < 0 || pad > view::kMaxDim; }))
    n.fail("attribute 'output_padding' does not fit", "it needs one number from 0 on for each spatial axis");
  return pads;
}

static Tensor convTranspose(Node &n, TensorBuilder &b) {
  Value x = n.input(0), weight = n.input(1), bias = n.optionalInput(2);
  int64_t groups = n.integer("group", 1);
  llvm::SmallVector<int64_t> outputShape = n.integers("output_shape");
  std::string autoPad = n.string("auto_pad", "NOTSET");
  bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  std::optional<Window> window = readWindow(n, x, kernelOf(b, weight));
  if (!window)
    return {};
  size_t spatial = window->kernel.size();
  llvm::SmallVector<int64_t> outputPad = outputPadding(n, spatial);
  if (!b.ok())
    return {};
  llvm::SmallVector<Expr> output(outputShape.begin(), outputShape.end());
  if (same && output.empty())
    for (size_t i = 0; i < spatial; ++i)
      output.push_back(b.dim(x, 2 + i) * window->strides[i]);
  if (!output.empty()) {
    if (output.size() != spatial ||
        llvm::any_of(output, [](Expr size) { return size.max() < 0 || size.min() > view::kMaxDim; }))
      return n.fail("attribute 'output_shape' does not fit", "it needs one size for each spatial axis");
    if (!padToOutput(n, x, *window, output, autoPad != "SAME_UPPER", outputPad))
      return {};
  }
  return b.convTranspose(x, weight, bias, *window, groups, outputPad);
}

/// ONNX Runtime's own, whose pads are an input.
static Tensor convTransposeByPads(Node &n, TensorBuilder &b) {
  Value x = n.input(0), weight = n.input(1), bias = n.optionalInput(3);
  int64_t groups = n.integer("group", 1);
  std::optional<Window> window = readWindow(n, x, kernelOf(b, weight));
  if (!window)
    return {};
  size_t spatial = window->kernel.size();
  llvm::SmallVector<int64_t> outputPad = outputPadding(n, spatial);
  if (n.has(2)) {
    std::optional<Elements> pads = n.sizes(2);
    if (!pads)
      return {};
    if (pads->size() != 2 * spatial)
      return n.fail(Twine(pads->size()) + " pads for " + Twine(spatial) + " spatial axes", "give two per axis");
    window->padLow.assign(pads->begin(), pads->begin() + spatial);
    window->padHigh.assign(pads->begin() + spatial, pads->end());
  }
  return b.ok() ? b.convTranspose(x, weight, bias, *window, groups, outputPad) : Value();
}

/// Whether x is of square matrices of floats, along its last two axes; a failure is noted if it is not.
static bool isSquare(TensorBuilder &b, Value &x, llvm::StringRef what) {
  bool areMatrices = b.rank(x) >= 2 && b.isFloat(x);
  // A size that is known stands for one that is a name.
  bool isRowsKnown = areMatrices && b.dim(x, -2).isConst();
  Value square = !areMatrices  ? Value()
                 : isRowsKnown ? b.takeSize(x, -1, b.dim(x, -2), "take matrices for square")
                               : b.takeSize(x, -2, b.dim(x, -1), "take matrices for square");
  bool fits = bool(square);
  if (x && !fits)
    b.fail("the " + what + " of " + describe(b.shape(x)) + " of " + dtypeName(b.element(x)),
           "it is of square matrices of floats");
  x = fits ? square : x;
  return x && fits;
}

/// A call for each of x's matrices; its numbers are their count, their size and their dtype.
static Value ofMatrices(TensorBuilder &b, Value x, llvm::StringRef callee, Shape result) {
  Shape batch = b.shape(x);
  batch.truncate(b.rank(x) - 2);
  return callHost(b, callee, {tensorType(result, b.element(x))}, {x},
                  {view::product(batch), b.dim(x, -1), int64_t(*dtypeOf(b.element(x)))})[0];
}

static Value determinant(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  if (!isSquare(b, x, "determinant"))
    return {};
  Shape batch = b.shape(x);
  batch.truncate(b.rank(x) - 2);
  return ofMatrices(b, x, "determinant", batch);
}

static Value inverse(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  return isSquare(b, x, "inverse") ? ofMatrices(b, x, "inverse", b.shape(x)) : Value();
}

/// The distances between the rows of two matrices: for x [m, k] and y [n, k] the result is [m, n]. Each is the sum of
/// squared differences, not |x|² + |y|² - 2xy, in which two rows near each other cancel.
static Value rowDistances(Node &n, TensorBuilder &b) {
  Value x = n.input(0), y = n.input(1);
  std::string metric = n.string("metric", "sqeuclidean");
  if (!x || !y)
    return {};
  if (metric != "sqeuclidean" && metric != "euclidean")
    return b.fail("attribute 'metric' is " + quoted(metric), "sqeuclidean and euclidean are supported");
  if (b.rank(x) != 2 || b.rank(y) != 2)
    return b.fail("rows " + describe(b.shape(x)) + " and " + describe(b.shape(y)), "both are matrices");
  Value squares = b.sumSquares(b.sub(b.unsqueeze(x, {1}), b.unsqueeze(y, {0})), {2});
  return metric == "euclidean" ? b.sqrt(squares) : squares;
}

void kiln::import::onnx::addProducts(Registry &r) {
  r.add("Conv", 1, conv);
  r.add("ConvTranspose", 1, convTranspose);
  r.add("Det", 11, determinant);
  r.add("Gemm", 1, gemm);
  r.add("MatMul", 1, matmul);
  r.add("com.microsoft", "CDist", 1, rowDistances);
  r.add("com.microsoft", "ConvTransposeWithDynamicPads", 1, convTransposeByPads);
  r.add("com.microsoft", "FusedConv", 1, fusedConv);
  r.add("com.microsoft", "FusedGemm", 1, fusedGemm);
  r.add("com.microsoft", "Inverse", 1, inverse);
  r.add("com.microsoft", "NhwcConv", 1, nhwcFusedConv); // it has no addend and no activation
  r.add("com.microsoft", "NhwcFusedConv", 1, nhwcFusedConv);
}
