//===- Experts.cpp - Mixtures of experts ---------------------------------------===//
//
// A router gives each token a score for each expert, and the best few experts compute the token's result, each a small
// network of two or three layers. The choice is data. So each token gathers the weights of its own experts, which are
// read only then; the others cost nothing.
//
//===---------------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/Order.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Microsoft.h"
#include "import/onnx/quantized/PackedWeights.h"

#include <limits>

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
/// A layer of each expert: weights [experts, outputs, inputs], perhaps packed, and a bias [experts, outputs], or null.
struct ExpertLayer {
  Value weights, bias;
  /// For packed weights: [experts, outputs, blocks], or without the last axis if a row has one scale.
  Value scales = {}, zeros = {};
  int64_t bits = 8, block = 0;
};
} // namespace

/// The chosen experts' weights, [tokens, chosen, outputs, inputs] in float32.
static Value chosenWeights(TensorBuilder &b, const ExpertLayer &layer, Value chosen) {
  auto take = [&](Value x) { return b.gather(x, chosen, 0); };
  if (!layer.scales)
    return b.cast(take(layer.weights), b.float32());
  Value numbers = b.cast(unpackBits(b, take(layer.weights), layer.bits), b.float32());
  if (!numbers)
    return {};
  Expr inputs = b.dim(numbers, -1), outputs = b.dim(numbers, -2);
  auto perElement = [&](Value parameter) {
    return layer.block ? spread(b, parameter, 3, layer.block, inputs) : b.unsqueeze(parameter, {-1});
  };
  Value scale = b.cast(take(layer.scales), b.float32()), zero;
  if (layer.zeros) {
    zero = b.cast(unpackBits(b, take(layer.zeros), layer.bits), b.float32());
    zero = b.narrow(zero, -1, 0, layer.block ? b.dim(scale, -1) : outputs);
  }
  numbers = zero ? b.sub(numbers, perElement(zero)) : b.sub(numbers, int64_t(1) << (layer.bits - 1));
  return b.mul(numbers, perElement(scale));
}

/// x [tokens, chosen or 1, inputs] through the chosen experts' layer.
static Value throughLayer(TensorBuilder &b, const ExpertLayer &layer, Value chosen, Value x) {
  Value y = b.squeeze(b.matmul(chosenWeights(b, layer, chosen), b.unsqueeze(x, {-1})), {-1});
  return layer.bias ? b.add(y, b.cast(b.gather(layer.bias, chosen, 0), b.float32())) : y;
}

namespace {
struct ExpertActivation {
  std::string name;
  double alpha, beta, limit;
  int64_t fusion;
};
} // namespace

/// Notes a failure if a node's attributes are not supported.
static ExpertActivation activationOf(Node &n) {
  ExpertActivation how{n.string("activation_type", "relu"), n.real("activation_alpha", 1), n.real("activation_beta", 0),
                       n.real("swiglu_limit", kInfinity), n.integer("swiglu_fusion", 0)};
  if (!llvm::is_contained({"relu", "gelu", "silu", "swiglu", "identity"}, how.name))
    n.fail("attribute 'activation_type' is " + quoted(how.name), "it is relu, gelu, silu, swiglu or identity");
  if (how.fusion < 0 || how.fusion > 2)
    n.fail("attribute 'swiglu_fusion' is " + Twine(how.fusion), "it is 0, 1 or 2");
  for (llvm::StringRef name : {"use_sparse_mixer", "swiglu_limit_after_activation"})
    if (n.flag(name, false))
      n.fail("attribute " + quoted(name) + " is not supported", "leave it 0");
  return how;
}

/// The first layer's result x, and for a gate in a layer of its own that of the third.
static Value activated(Node &n, TensorBuilder &b, const ExpertActivation &how, Value x, Value third) {
  if (!x)
    return {};
  if (how.name != "swiglu") {
    if (third)
      return b.fail("a third layer with activation " + quoted(how.name), "it goes with swiglu");
    return how.name == "relu" ? b.relu(x) : how.name == "gelu" ? b.geluTanh(x) : how.name == "silu" ? b.silu(x) : x;
  }
  Value gate = x, linear = third;
  if ((how.fusion == 0) != bool(third))
    return b.fail("attribute 'swiglu_fusion' is " + Twine(how.fusion) + (third ? " with" : " without") +
                      " a third layer",
                  "it is 0 with one, 1 or 2 without");
  if (!third) { // neighbours, or halves
    Expr half = view::floorDiv(b.dim(x, -1), 2);
    bool isInterleaved = how.fusion == 1;
    Shape split = b.shape(x);
    split.pop_back();
    split.append(isInterleaved ? Shape{half, Expr(2)} : Shape{Expr(2), half});
    int64_t axis = isInterleaved ? b.rank(x) : b.rank(x) - 1;
    Value parts = b.reshape(x, split);
    gate = b.squeeze(b.narrow(parts, axis, 0, 1), {axis});
    linear = b.squeeze(b.narrow(parts, axis, 1, 2), {axis});
  }
  if (how.limit != kInfinity) {
    gate = b.minimum(gate, how.limit);
    linear = b.clip(linear, Operand(-how.limit), Operand(how.limit));
  }
  return b.mul(b.mul(gate, b.sigmoid(b.mul(gate, how.alpha))), b.add(linear, how.beta));
}

/// The experts' results for x [..., size], each token by those that the router's scores [tokens, experts] choose.
/// `shares` has the weight of each expert's result, null: the router's probabilities.
static Tensor mixture(Node &n, TensorBuilder &b, Value x, Value scores, Value shares,
                      llvm::ArrayRef<ExpertLayer> layers) {
  int64_t count = n.integer("k", 1);
  bool normalizes = n.flag("normalize_routing_weights", false);
  ExpertActivation how = activationOf(n);
  if (!x || !scores || !layers[0].weights || !layers[1].weights || !b.ok())
    return {};
  if (b.rank(scores) != 2 || b.rank(x) < 2 || b.rank(layers[0].weights) != 3 || b.rank(layers[1].weights) != 3)
    return n.fail("tokens " + describe(b.shape(x)) + " with scores " + describe(b.shape(scores)) + " and weights " +
                      describe(b.shape(layers[0].weights)),
                  "scores are [tokens, experts], weights [experts, outputs, inputs]");
  if (count < 1 || b.dim(scores, 1).max() < count)
    return n.fail("attribute 'k' is " + Twine(count) + " of " + b.dim(scores, 1).print() + " experts",
                  "it is 1 or more, and not above their number");
  Shape shape = b.shape(x);
  Expr tokens = b.dim(scores, 0);
  Value rows = b.cast(b.reshape(x, {tokens, shape.back()}), b.float32());
  scores = b.cast(scores, b.float32());
  Value chosen = b.contiguous(firstInOrder(b, placesInOrder(b, scores), count)); // [tokens, k]
  Value share;
  if (shares) {
    share = b.gatherElements(b.cast(shares, b.float32()), chosen, 1);
    if (normalizes)
      share = b.div(share, b.sum(share, {1}, /*keepDims=*/true));
  } else {
    share = normalizes ? b.softmax(b.gatherElements(scores, chosen, 1), 1)
                       : b.gatherElements(b.softmax(scores, 1), chosen, 1);
  }
  rows = b.unsqueeze(rows, {1});
  Value third = layers.size() > 2 && layers[2].weights ? throughLayer(b, layers[2], chosen, rows) : Value();
  Value hidden = activated(n, b, how, throughLayer(b, layers[0], chosen, rows), third);
  Value results = throughLayer(b, layers[1], chosen, hidden); // [tokens, k, size]
  Value y = b.sum(b.mul(results, b.unsqueeze(share, {2})), {1});
  return b.cast(b.reshape(y, shape), b.element(x));
}

static Tensor mixtureOfExperts(Node &n, TensorBuilder &b) {
  ExpertLayer layers[] = {
      {n.input(2), n.optionalInput(3)}, {n.input(4), n.optionalInput(5)}, {n.optionalInput(6), n.optionalInput(7)}};
  return mixture(n, b, n.input(0), n.input(1), Value(), layers);
}

/// The same with weights of few bits.
static Tensor quantizedMixture(Node &n, TensorBuilder &b) {
  int64_t bits = n.integer("expert_weight_bits", 4), block = n.integer("block_size", 0);
  std::string kind = n.string("quant_type", "int");
  n.ignore({"accuracy_level"}); // the accuracy that may be lost
  if (kind != "int")
    return n.fail("attribute 'quant_type' is " + quoted(kind), "experts of integers are supported");
  if (n.integer("weights_prepacked", -1) > 0)
    return n.fail("attribute 'weights_prepacked' is set", "store the weights as the operator defines them");
  if (block < 0 || block > view::kMaxDim)
    return n.fail("attribute 'block_size' is " + Twine(block), "it is 0 or the size of a block");
  for (int i = 15; i < n.numInputs(); ++i)
    if (n.has(i))
      return n.fail("scales of whole experts or of activations are not supported", "leave input " + Twine(i) + " out");
  if (!n.flag("normalize_routing_weights", false) && !n.has(14))
    return n.fail("attribute 'normalize_routing_weights' is 0, which ONNX Runtime takes for 1 on CPUs", "set it to 1");
  llvm::SmallVector<ExpertLayer> layers;
  for (int i = 0; i < 3; ++i) {
    auto at = [&](int place) { return i == 2 ? n.optionalInput(place) : n.input(place); };
    ExpertLayer layer{at(2 + 3 * i), n.optionalInput(4 + 3 * i), at(3 + 3 * i), n.optionalInput(11 + i)};
    layer.bits = n.integer("fc" + std::to_string(i + 1) + "_expert_weight_bits", bits);
    layer.block = block;
    if (layer.weights && (!llvm::is_contained({2, 4, 8}, layer.bits) || !b.element(layer.weights).isUnsignedInteger(8)))
      return n.fail("weights of " + dtypeName(b.element(layer.weights)) + ", " + Twine(layer.bits) + " bits wide",
                    "they are uint8, of 2, 4 or 8 bits");
    layers.push_back(layer);
  }
  return mixture(n, b, n.input(0), n.input(1), n.optionalInput(14), layers);
}

/// The experts that a router allows a token: the best of the groups whose best experts have the largest sums. The first
/// result is log(score) there and a mark elsewhere; or, for others to choose, the second and third are scores with
/// their bias and without.
static Tensors groupRouter(Node &n, TensorBuilder &b) {
  Value logits = n.input(0), bias = n.input(1), weight = n.optionalInput(2);
  int64_t groups = n.integer("n_group", 1), bestGroups = n.integer("topk_group", 1), count = n.integer("top_k");
  int64_t bestOfGroup = n.integer("group_topk", 2);
  double mark = n.real("router_sentinel", -10000);
  if (!logits || !bias || !b.ok())
    return {};
  if (std::min({groups, bestGroups, count, bestOfGroup}) < 1 || groups > view::kMaxDim)
    return n.fail("attributes 'n_group', 'topk_group', 'group_topk' and 'top_k' are 1 or more"), Tensors();
  logits = b.cast(logits, b.float32());
  if (weight)
    logits = b.matmul(logits, b.transpose(b.cast(weight, b.float32()), 0, 1));
  Expr experts = b.dim(logits, -1), tokens = view::floorDiv(view::product(b.shape(logits)), view::maximum(experts, 1));
  Value scores = b.sigmoid(b.reshape(logits, {tokens, experts})), biased = b.add(scores, bias);
  if (n.proto().output(0).empty())
    return {Tensor(scores), biased, scores};
  Value grouped = b.reshape(biased, {tokens, groups, view::floorDiv(experts, groups)});
  Value isBest = b.less(placesInOrder(b, grouped), bestOfGroup);
  Value sums = b.sum(b.where(isBest, grouped, 0), {2});
  Value isOpen = b.unsqueeze(b.less(placesInOrder(b, sums), bestGroups), {2});
  Value open = b.reshape(b.where(isOpen, grouped, -kInfinity), {tokens, experts});
  Value isChosen = b.bitAnd(b.less(placesInOrder(b, open), count), b.greater(open, -kInfinity));
  Value routed = b.where(isChosen, b.log(b.maximum(scores, 1e-20)), mark);
  return {b.cast(routed, b.element(n.input(0))), biased, scores};
}

void kiln::import::onnx::addExperts(Registry &r) {
  r.add("com.microsoft", "MoE", 1, mixtureOfExperts);
  r.add("com.microsoft", "MoEGroupRouter", 1, groupRouter);
  r.add("com.microsoft", "QMoE", 1, quantizedMixture);
}
