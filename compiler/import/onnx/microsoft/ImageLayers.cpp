//===- ImageLayers.cpp - Parts of image generators, as ONNX Runtime fuses them -===//
//
// ONNX Runtime's optimiser writes diffusion models for GPUs with the channels last, and fuses a group's norm with the
// sum before it and the activation after it. Here they are separate ops again.
//
//===---------------------------------------------------------------------------===//
#include "import/onnx/Microsoft.h"
#include "import/onnx/file/ModelFile.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

static Value biasAdd(Node &n, TensorBuilder &b) { return b.add(b.add(n.input(0), n.input(1)), n.input(2)); }

static Value biasSplitGelu(Node &n, TensorBuilder &b) {
  Value x = b.add(n.input(0), n.input(1));
  Expr half = view::floorDiv(b.dim(x, -1), 2);
  return b.mul(b.narrow(x, -1, 0, half), b.gelu(b.narrow(x, -1, half, half * 2)));
}

static Value gemmFastGelu(Node &n, TensorBuilder &b) {
  Value product = b.matmul(n.input(0), n.input(1)), bias = n.optionalInput(2);
  return b.geluTanh(bias ? b.add(product, bias) : product);
}

/// softmax(x + bias) over the axes from `axis` on as one; the bias is [rows, columns] of fewer rows, which are repeated
/// one by one or as a whole.
static Value biasSoftmax(Node &n, TensorBuilder &b) {
  Value x = n.input(0), bias = n.input(1);
  int64_t axis = n.integer("axis", 1);
  bool repeatsEach = n.flag("is_inner_broadcast", false);
  std::optional<int64_t> from = b.normalizeAxis(axis, b.rank(x));
  if (!x || !bias || !from)
    return {};
  Value rows = b.flatten(x, *from);
  Expr width = b.dim(rows, 1), count = view::floorDiv(view::product(b.shape(bias)), view::maximum(width, 1));
  Expr times = view::floorDiv(b.dim(rows, 0), view::maximum(count, 1));
  Shape split = repeatsEach ? Shape{count, times, width} : Shape{times, count, width};
  Value sum = b.add(b.reshape(rows, split),
                    b.reshape(bias, repeatsEach ? Shape{count, Expr(1), width} : Shape{Expr(1), count, width}));
  return b.reshape(b.softmax(sum, -1), b.shape(x));
}

/// The norm of groups of channels of x [batch, channels, spatial…], or with the channels last, and the ops after it.
static Value groupNormOf(Node &n, TensorBuilder &b, Value x) {
  Value scale = n.input(1), shift = n.input(2);
  int64_t groups = n.integer("groups"), activation = n.integer("activation");
  double epsilon = n.real("epsilon", 1e-5f);
  bool channelsLast = n.flag("channels_last", true);
  if (!x || !scale || !shift || !b.ok())
    return {};
  if (groups < 1 || activation < 0 || activation > 1)
    return b.fail("attributes 'groups' and 'activation' are " + Twine(groups) + " and " + Twine(activation),
                  "give a number of groups, and 0, or 1 for SiLU");
  mlir::Type element = b.element(x), type = b.accumulator(element);
  Value turned = channelsLast ? b.moveAxis(x, -1, 1) : x;
  Value y = b.groupNorm(b.cast(turned, type), groups, b.cast(scale, type), b.cast(shift, type), epsilon);
  y = b.cast(activation == 1 ? b.silu(y) : y, element);
  return channelsLast ? b.moveAxis(y, 1, -1) : y;
}

static Value groupNorm(Node &n, TensorBuilder &b) { return groupNormOf(n, b, n.input(0)); }

/// The same for a sum, and the sum.
static Tensors skipGroupNorm(Node &n, TensorBuilder &b) {
  Value x = n.input(0), skip = n.input(3), bias = n.optionalInput(4);
  bool channelsLast = n.flag("channels_last", true);
  if (!x || !skip)
    return {};
  auto perChannel = [&](Value channel) { return channelsLast ? channel : b.perChannel(x, channel); };
  if (b.rank(skip) == 2) // [batch, channels]
    skip = b.unsqueeze(skip, channelsLast ? llvm::ArrayRef<int64_t>{1, 2} : llvm::ArrayRef<int64_t>{2, 3});
  Value sum = b.add(x, skip);
  if (bias)
    sum = b.add(sum, perChannel(bias));
  return {groupNormOf(n, b, sum), sum};
}

void kiln::import::onnx::addImageLayers(Registry &r) {
  llvm::StringRef domain = "com.microsoft";
  r.add(domain, "BiasAdd", 1, biasAdd);
  r.add(domain, "BiasSoftmax", 1, biasSoftmax);
  r.add(domain, "BiasSplitGelu", 1, biasSplitGelu);
  r.add(domain, "GemmFastGelu", 1, gemmFastGelu);
  r.add(domain, "GroupNorm", 1, groupNorm);
  r.add(domain, "SkipGroupNorm", 1, skipGroupNorm);
}
