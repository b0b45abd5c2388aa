//===- Attention.cpp - Attention, and the operators that models put around it -===//
//
// The masks of Attention are of three kinds, which may be combined. What a row may see by its place (causal, windows,
// the length of a padded cache) is a comparison of two positions and needs no memory; a mask of bool is one more such
// test; a mask of floats is added to the scores.
//
//===----------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/DotProductAttention.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"
#include "import/onnx/control/CountedLoop.h"
#include "import/onnx/file/ElementType.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;
using view::provablyEqual;

/// The float dtype that an attribute names; null if it is absent, or after a failure.
static mlir::Type floatAttribute(Node &n, TensorBuilder &b, llvm::StringRef name) {
  if (!n.hasAttr(name))
    return {};
  int64_t number = n.integer(name);
  mlir::Type type = elementType(b.builder().getContext(), number);
  if (!llvm::isa_and_nonnull<mlir::FloatType>(type))
    n.fail("attribute " + quoted(name) + " is " + dataTypeName(number), "it is FLOAT, FLOAT16, BFLOAT16 or DOUBLE");
  return type;
}

static Value allOf(TensorBuilder &b, Value some, Value more) { return some ? b.bitAnd(some, more) : more; }

/// The mask with as many keys as there are; those that it does not cover are not visible.
static Value padMask(TensorBuilder &b, Value mask, Expr keys) {
  if (!mask || b.rank(mask) == 0)
    return b.expand(mask, {keys});
  if (provablyEqual(b.dim(mask, -1), keys))
    return mask;
  Shape low(b.rank(mask), Expr(0)), high = low;
  high.back() = keys - b.dim(mask, -1);
  return b.isBool(mask) ? b.pad(mask, low, high) : b.pad(mask, low, high, -std::numeric_limits<double>::infinity());
}

/// The most that keys may be before a row and after it, unless below 0; and for batches with their own lengths, these.
struct KeyWindow {
  int64_t left, right;
  Value lengths;
};

/// Leaves to each row the keys in its window; `past` keys come before the first row.
static void allowByPlace(TensorBuilder &b, DotProductAttention &op, KeyWindow window, Expr rows, Expr keys, Expr past) {
  auto [left, right, lengths] = window;
  left = std::min(left, view::kMaxDim);
  right = std::min(right, view::kMaxDim);
  if ((left >= 0 || right >= 0) && b.ok() && !lengths) {
    // A row's place among the keys is a size, so the visible keys are triangles; a window ends where the keys do.
    if (right >= 0)
      op.allowed = allOf(b, op.allowed, keysUpTo(b, rows, keys, past + std::min(right, keys.max())));
    if (left >= 0)
      op.allowed = allOf(b, op.allowed, b.triangle(rows, keys, past - std::min(left, (past + rows).max())));
  } else if ((left >= 0 || right >= 0) && b.ok()) {
    Value distance = distanceToKeys(b, rows, keys, b.sub(lengths, b.size(rows)));
    if (right >= 0)
      op.allowed = allOf(b, op.allowed, b.greaterEqual(distance, -right));
    if (left >= 0)
      op.allowed = allOf(b, op.allowed, b.lessEqual(distance, left));
  }
  if (lengths)
    op.allowed = allOf(b, op.allowed, b.less(b.arange(keys, b.int64()), b.unsqueeze(lengths, {1, 2, 3})));
}

static Tensors attention(Node &n, TensorBuilder &b) {
  Value q = n.input(0), k = n.input(1), v = n.input(2), mask = n.optionalInput(3);
  Value pastKey = n.optionalInput(4), pastValue = n.optionalInput(5);
  Value lengths = n.opset() >= 24 ? n.optionalInput(6) : Value();
  DotProductAttention op;
  if (n.hasAttr("scale"))
    op.scale = n.real("scale", 1);
  op.softcap = n.real("softcap", 0);
  op.softmaxType = floatAttribute(n, b, "softmax_precision");
  int64_t heads = n.integer("q_num_heads", 0), keyHeads = n.integer("kv_num_heads", 0);
  int64_t mode = n.integer("qk_matmul_output_mode", 0);
  bool isCausal = n.flag("is_causal", false);
  int64_t left = n.opset() >= 25 ? n.integer("left_window_size", -1) : -1;
  int64_t right = n.opset() >= 25 ? n.integer("right_window_size", -1) : -1;
  if (!q || !k || !v || !b.ok())
    return {};
  if (mode < 0 || mode > 3)
    return n.fail("attribute 'qk_matmul_output_mode' is " + Twine(mode), "it is 0 to 3"), Tensors();
  if (!pastKey != !pastValue)
    return n.fail("it has a past of keys or of values alone", "give both"), Tensors();
  if (pastKey && lengths)
    return n.fail("it has a past and 'nonpad_kv_seqlen'", "give one of them"), Tensors();

  bool isFlat = b.rank(q) == 3;
  if (isFlat) {
    q = splitHeads(b, q, heads);
    k = splitHeads(b, k, keyHeads);
    v = splitHeads(b, v, keyHeads);
  }
  Expr past = pastKey ? b.dim(pastKey, 2) : Expr(0);
  k = afterPast(b, pastKey, k);
  v = afterPast(b, pastValue, v);
  Expr rows = b.dim(q, 2), keys = b.dim(k, 2);
  mask = padMask(b, mask, keys);
  if (mask && b.isBool(mask))
    op.allowed = mask;
  else if (mask && b.ok())
    op.bias = b.cast(mask, b.element(q));
  op.mayBlind = mask || lengths || left >= 0;

  allowByPlace(b, op, {left, isCausal ? 0 : right, lengths}, rows, keys, past);
  Value y = op.apply(b, q, k, v);
  Value scores[] = {op.raw, op.capped, op.biased, op.probabilities};
  return {isFlat ? mergeHeads(b, y) : y, k, v, scores[mode]};
}

//===----------------------------------------------------------------------===//
// FlexAttention
//===----------------------------------------------------------------------===//

/// A graph of the node's as a function of one tensor to one of its type.
static DotProductAttention::Modifier modifier(Node &n, TensorBuilder &b, llvm::StringRef name) {
  if (!n.hasAttr(name))
    return {};
  const ::onnx::GraphProto *graph = n.graph(name);
  return [&n, &b, graph, name = name.str()](Value x) -> Value {
    if (!x || !graph)
      return {};
    if (graph->input_size() != 1 || graph->output_size() != 1)
      return b.fail("graph " + quoted(name) + " has " + Twine(graph->input_size()) + " inputs and " +
                        Twine(graph->output_size()) + " outputs",
                    "it takes one tensor and gives one");
    Scope scope(n.scope());
    scope.define(graph->input(0).name(), x);
    if (llvm::Error error = n.importer().importGraph(*graph, scope))
      return b.fail(std::move(error));
    llvm::Expected<llvm::SmallVector<Tensor>> outputs = n.importer().outputs(*graph, scope);
    if (!outputs)
      return b.fail(outputs.takeError());
    Value result = n.importer().materialize(outputs->front(), scope, b, /*isNamed=*/false);
    if (result && result.getType() != x.getType())
      return b.fail("graph " + quoted(name) + " makes " + describe(b.shape(result)) + " of " +
                        dtypeName(b.element(result)) + " from " + describe(b.shape(x)) + " of " +
                        dtypeName(b.element(x)),
                    "shape and dtype stay");
    return result;
  };
}

static Value flexAttention(Node &n, TensorBuilder &b) {
  Value q = n.input(0), k = n.input(1), v = n.input(2);
  DotProductAttention op;
  if (n.hasAttr("scale"))
    op.scale = n.real("scale", 1);
  op.softmaxType = floatAttribute(n, b, "softmax_precision");
  op.modifyScores = modifier(n, b, "score_mod");
  op.modifyProbabilities = modifier(n, b, "prob_mod");
  op.keepsPrecision = true;
  if (q && !op.softmaxType)
    op.softmaxType = b.accumulator(b.element(q));
  return op.apply(b, q, k, v);
}

//===----------------------------------------------------------------------===//
// LinearAttention and CausalConvWithState
//===----------------------------------------------------------------------===//

/// ONNX Runtime's own may return the states after each of the last rows.
static bool hasOneState(Node &n) {
  bool several = n.proto().domain() == "com.microsoft" && n.integer("state_window", 0) != 0;
  if (several)
    n.fail("attribute 'state_window' is not supported", "leave it 0");
  return !several;
}

/// A state [batch, keyHeads, keySize, valueSize]: each row decays it, adds its key's and value's product to it, and
/// reads it by its query.
static Tensors linearAttention(Node &n, TensorBuilder &b) {
  Value q = n.input(0), k = n.input(1), v = n.input(2), past = n.optionalInput(3);
  Value decay = n.optionalInput(4), beta = n.optionalInput(5);
  int64_t heads = n.integer("q_num_heads"), keyHeads = n.integer("kv_num_heads");
  double scale = n.real("scale", 0);
  std::string rule = n.string("update_rule", "gated_delta");
  n.ignore({"chunk_size"}); // a way to compute it
  if (!hasOneState(n))
    return {};
  bool gates = rule == "gated" || rule == "gated_delta", corrects = rule == "delta" || rule == "gated_delta";
  if (!q || !k || !v || !b.ok())
    return {};
  if (!gates && !corrects && rule != "linear")
    return n.fail("attribute 'update_rule' is " + quoted(rule), "it is linear, gated, delta or gated_delta"), Tensors();
  if (gates != bool(decay) || corrects != bool(beta))
    return n.fail("update rule " + quoted(rule) + (decay ? " with" : " without") + " 'decay' and " +
                      (beta ? "with" : "without") + " 'beta'",
                  "the gated rules need the one, the delta rules the other"),
           Tensors();
  mlir::Type type = b.element(q), wide = b.accumulator(type);
  auto unpack = [&](Value x, int64_t count) { return b.cast(splitHeads(b, x, count), wide); };
  Value queries = unpack(q, heads), keys = unpack(k, keyHeads), values = unpack(v, keyHeads);
  if (!queries || !keys || !values)
    return {};
  if (heads % keyHeads != 0 || !b.dim(queries, 3).isConst())
    return n.fail(Twine(heads) + " heads of size " + b.dim(queries, 3).print() + " and " + Twine(keyHeads) +
                      " heads of keys",
                  "the former are a multiple, of a known size"),
           Tensors();
  if (scale == 0)
    scale = 1 / std::sqrt(double(b.dim(queries, 3).constant()));
  Value factors = gates ? b.exp(unpack(decay, keyHeads)) : Value();
  Value rates = corrects ? unpack(beta, b.dim(beta, -1).isConst(1) ? 1 : keyHeads) : Value();
  Expr batch = b.dim(q, 0), trips = b.dim(q, 1), keySize = b.dim(keys, 3), valueSize = b.dim(values, 3);
  Value start = past ? b.cast(past, wide) : b.constant(0, wide, {batch, keyHeads, keySize, valueSize});

  llvm::SmallVector<Value> results = countedLoop(n, trips, {start}, [&](const Iteration &step) -> IterationResult {
    auto column = [&](Value x) { return b.transpose(b.narrow(x, 2, step.index, step.index + 1), 2, 3); };
    auto row = [&](Value x) { return b.narrow(x, 2, step.index, step.index + 1); };
    Value state = step.carried[0], key = column(keys), value = row(values);
    if (gates)
      state = b.mul(state, column(factors));
    if (corrects)
      value = b.mul(row(rates), b.sub(value, b.sum(b.mul(state, key), {2}, /*keepDims=*/true)));
    state = b.add(state, b.mul(key, value));
    // Each state serves the heads that share it.
    Value asked = b.reshape(row(queries), {batch, keyHeads, heads / keyHeads, keySize});
    Value answer = b.reshape(b.matmul(asked, state), {batch, heads, valueSize});
    return {{state}, {b.mul(answer, scale)}};
  });
  if (results.size() != 2)
    return {};
  Value y = b.reshape(b.permute(results[1], {1, 0, 2, 3}), {batch, trips, valueSize * heads});
  return {b.cast(y, type), b.cast(results[0], past ? b.element(past) : type)};
}

/// A convolution of each channel with the elements before; the last of these become the next run's past. ONNX Runtime's
/// own may be dilated, and have the channels last.
static Tensors causalConvolution(Node &n, TensorBuilder &b) {
  Value x = n.input(0), weight = n.input(1), bias = n.optionalInput(2), past = n.optionalInput(3);
  std::string activation = n.string("activation", "none");
  bool isRuntimes = n.proto().domain() == "com.microsoft", isTurned = isRuntimes && n.flag("channels_last", false);
  int64_t dilation = isRuntimes ? n.integer("dilation", 1) : 1;
  if (isRuntimes && n.integer("ndim", 1) != 1)
    return n.fail("attribute 'ndim' is not supported", "leave it 1"), Tensors();
  if (!hasOneState(n) || !x || !weight)
    return {};
  if (dilation < 1 || dilation > view::kMaxDim)
    return n.fail("attribute 'dilation' is " + Twine(dilation), "it is a distance from 1 on"), Tensors();
  auto turned = [&](Value y) { return isTurned && y && b.rank(y) == 3 ? b.transpose(y, 1, 2) : y; };
  x = turned(x);
  past = turned(past);
  if (b.rank(x) != 3 || b.rank(weight) != 3 || !b.dim(x, 1).isConst() || !b.dim(weight, 2).isConst())
    return n.fail("input " + describe(b.shape(x)) + " and weight " + describe(b.shape(weight)),
                  "they are [batch, channels, length] and [channels, 1, kernel], channels and kernel known"),
           Tensors();
  if (activation != "none" && activation != "silu" && activation != "swish")
    return n.fail("attribute 'activation' is " + quoted(activation), "it is none, silu or swish"), Tensors();
  Expr reach = (b.dim(weight, 2) - 1) * dilation, length = b.dim(x, 2);
  Value whole = past ? b.concat({past, x}, 2) : b.pad(x, {0, 0, reach}, {0, 0, 0});
  Window window;
  window.dilations = {dilation};
  Value y = b.conv(whole, weight, bias, window, b.dim(x, 1).constant());
  if (activation != "none" && y)
    y = b.cast(b.silu(b.cast(y, b.accumulator(b.element(y)))), b.element(y));
  return {turned(y), turned(b.narrow(whole, 2, length, length + reach))};
}

//===----------------------------------------------------------------------===//
// RotaryEmbedding and SwiGLU
//===----------------------------------------------------------------------===//

/// The first `rotary_embedding_dim` elements of each head are rotated by the angles of the row's position.
static Tensor rotaryEmbedding(Node &n, TensorBuilder &b) {
  Value x = n.input(0), cosines = n.input(1), sines = n.input(2), positions = n.optionalInput(3);
  int64_t heads = n.integer("num_heads", 0), rotated = n.integer("rotary_embedding_dim", 0);
  bool interleaved = n.flag("interleaved", false);
  if (!x || !cosines || !sines)
    return {};
  bool isFlat = b.rank(x) == 3;
  Shape given = b.shape(x);
  if (isFlat)
    x = splitHeads(b, x, heads);
  if (x && b.rank(x) != 4)
    return n.fail("its input is " + describe(given),
                  "it is [batch, length, heads · size] or [batch, heads, length, size]");
  if (positions) {
    cosines = b.take(cosines, positions, 0);
    sines = b.take(sines, positions, 0);
  }
  cosines = b.unsqueeze(cosines, {1});
  sines = b.unsqueeze(sines, {1});
  Expr size = b.dim(x, 3), part = rotated == 0 ? size : Expr(rotated);
  Value y = rotatePairs(b, b.narrow(x, 3, 0, part), cosines, sines, interleaved);
  if (!provablyEqual(part, size))
    y = b.concat({y, b.narrow(x, 3, part, size)}, 3);
  return isFlat ? mergeHeads(b, y) : y;
}

static Value swiGlu(Node &n, TensorBuilder &b) {
  Value gate = n.input(0), x = n.input(1);
  return b.mul(b.mul(gate, b.sigmoid(b.mul(gate, n.real("alpha", 1)))), x);
}

void kiln::import::onnx::addAttention(Registry &r) {
  r.add("Attention", 23, attention);
  r.add("CausalConvWithState", 27, causalConvolution);
  r.add("LinearAttention", 27, linearAttention);
  r.add("RotaryEmbedding", 23, rotaryEmbedding);
  r.add("SwiGLU", 28, swiGlu);
  r.add("ai.onnx.preview", "FlexAttention", 1, flexAttention);
  r.add("com.microsoft", "CausalConvWithState", 1, causalConvolution);
  r.add("com.microsoft", "LinearAttention", 1, linearAttention);
}
