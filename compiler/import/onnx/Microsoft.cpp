//===- Microsoft.cpp - Operators that ONNX Runtime's exporters put into models ----===//
//
// The domain com.microsoft names operators that ONNX Runtime has fused: an activation with its bias, a norm with the
// sum before it, attention with its projections' bias, masks and caches. Models keep those names, so they are taken
// apart here; the parts then fuse by the scheduler's own rules. Their definition is ONNX Runtime's code.
//
//===----------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/DotProductAttention.h"
#include "import/Quantize.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"
#include "import/onnx/microsoft/RotaryEmbedding.h"
#include "import/onnx/tensor/DataSizes.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;
using view::provablyEqual;

/// An input that is not supported where it is there; false after a failure.
static bool isAbsent(Node &n, int index, llvm::StringRef what) {
  if (n.has(index))
    n.fail(what + " is not supported", "leave input " + Twine(index) + " out");
  return !n.has(index);
}

//===----------------------------------------------------------------------===//
// Activations, products and norms
//===----------------------------------------------------------------------===//

static Value gelu(Node &n, TensorBuilder &b) { return b.gelu(n.input(0)); }
static Value biasGelu(Node &n, TensorBuilder &b) { return b.gelu(b.add(n.input(0), n.input(1))); }

static Value fastGelu(Node &n, TensorBuilder &b) {
  Value x = n.input(0), bias = n.optionalInput(1);
  return b.geluTanh(bias ? b.add(x, bias) : x);
}

static Value quickGelu(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  return b.mul(x, b.sigmoid(b.mul(x, n.real("alpha", 1.702f))));
}

/// An operand of FusedMatMul: its first axis moved after the batches, its last two exchanged, or both.
static Value turned(TensorBuilder &b, Value x, bool batch, bool matrix) {
  if (batch && b.rank(x) > 2) {
    llvm::SmallVector<int64_t> order = b.allAxes(x);
    std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
    x = b.permute(x, order);
  }
  return matrix && b.rank(x) > 1 ? b.transpose(x, -1, -2) : x;
}

static Value fusedMatmul(Node &n, TensorBuilder &b) {
  Value x = turned(b, n.input(0), n.flag("transBatchA", false), n.flag("transA", false));
  Value y = turned(b, n.input(1), n.flag("transBatchB", false), n.flag("transB", false));
  double alpha = n.real("alpha", 1);
  Value product = b.matmul(x, y);
  return alpha == 1 ? product : b.mul(product, alpha);
}

/// The norm of a sum, and its intermediate results: the mean, 1/√(variance + epsilon), the sum.
static Tensors skipNorm(Node &n, TensorBuilder &b, bool simplified) {
  Value x = n.input(0), skip = n.input(1), scale = n.input(2);
  Value shift = simplified ? Value() : n.optionalInput(3), bias = n.optionalInput(simplified ? 3 : 4);
  double epsilon = n.real("epsilon", 1e-12f);
  Value sum = b.add(x, skip);
  if (bias)
    sum = b.add(sum, bias);
  if (!sum || !scale)
    return {};
  Value y = simplified ? b.rmsNorm(sum, {-1}, epsilon, scale) : b.layerNorm(sum, {-1}, epsilon, scale, shift);
  Value wide = b.cast(sum, b.accumulator(b.element(sum)));
  Value power = simplified ? b.mean(b.square(wide), {-1}, /*keepDims=*/true)
                           : b.var(wide, {-1}, /*keepDims=*/true, /*correction=*/0);
  return {y, b.mean(wide, {-1}, /*keepDims=*/true), b.rsqrt(b.add(power, epsilon)), sum};
}

static Tensors skipLayerNormalization(Node &n, TensorBuilder &b) { return skipNorm(n, b, /*simplified=*/false); }
static Tensors skipSimplified(Node &n, TensorBuilder &b) { return skipNorm(n, b, /*simplified=*/true); }

/// The norm of the sum of the embeddings of tokens, positions and segments; the number of tokens of each batch in the
/// mask; the sum.
static Tensors embedNorm(Node &n, TensorBuilder &b, Value words, Value places, Value sentences, Value scale,
                         Value shift, Value mask) {
  double epsilon = n.real("epsilon", 1e-12f);
  Value sum = b.add(words, places);
  if (sentences)
    sum = b.add(sum, sentences);
  if (!sum || !scale || !shift)
    return {};
  Value shown = mask ? b.sum(b.cast(b.equal(mask, 1), b.int32()), {1}) : b.constant(0, b.int32(), {b.dim(words, 0)});
  return {b.layerNorm(sum, {-1}, epsilon, scale, shift), shown, sum};
}

/// Whether there are tokens [batch, length], and segments with their embeddings or neither.
static bool hasTokens(Node &n, TensorBuilder &b, Value tokens, Value segments, Value sentences) {
  if (tokens && b.rank(tokens) != 2)
    n.fail("its tokens are " + describe(b.shape(tokens)), "they are [batch, length]");
  else if (tokens && !segments != !sentences)
    n.fail("it has numbers or embeddings of segments alone", "give both");
  return tokens && b.ok();
}

static Tensors embedLayerNormalization(Node &n, TensorBuilder &b) {
  Value tokens = n.input(0), segments = n.optionalInput(1), words = n.input(2), places = n.input(3);
  Value sentences = n.optionalInput(4), scale = n.input(5), shift = n.input(6), mask = n.optionalInput(7);
  Value positions = n.optionalInput(8);
  n.ignore({"mask_index_type"}); // for the second output's shape
  if (!hasTokens(n, b, tokens, segments, sentences))
    return {};
  Value place = positions ? b.take(places, positions, 0) : b.narrow(places, 0, 0, b.dim(tokens, 1));
  Value sentence = segments ? b.take(sentences, segments, 0) : Value();
  return embedNorm(n, b, b.take(words, tokens, 0), place, sentence, scale, shift, mask);
}

/// The same for quantised tables; only the chosen rows are dequantised.
static Tensors quantizedEmbedNorm(Node &n, TensorBuilder &b) {
  Value tokens = n.input(0), segments = n.optionalInput(1), words = n.input(2), places = n.input(3);
  Value sentences = n.optionalInput(4), scale = n.input(5), shift = n.input(6), mask = n.optionalInput(7);
  if (!hasTokens(n, b, tokens, segments, sentences))
    return {};
  auto real = [&](Value x, int parameters) { // its scale at this input, its zero point five inputs later
    return dequantize(b, {x, scalar(b, n.input(parameters)), scalar(b, n.input(parameters + 5))});
  };
  Value place = real(b.narrow(places, 0, 0, b.dim(tokens, 1)), 9);
  Value sentence = segments ? real(b.take(sentences, segments, 0), 10) : Value();
  return embedNorm(n, b, real(b.take(words, tokens, 0), 8), place, sentence, real(scale, 11), real(shift, 12), mask);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The part of a packed tensor [batch, length, heads, parts, size] as [batch, heads, length, size].
static Value unpackPart(TensorBuilder &b, Value packed, int64_t part) {
  return b.transpose(b.squeeze(b.narrow(packed, 3, part, part + 1), {3}), 1, 2);
}

/// Both biases of the scores; either may be null.
static Value addBoth(TensorBuilder &b, Value x, Value y, Expr rows, Expr keys) {
  x = maskOver(b, x, rows, keys);
  y = maskOver(b, y, rows, keys);
  return x && y ? b.add(x, y) : x ? x : y;
}

/// bool [batch, 1, 1, keys]: the keys that a mask of lengths leaves to each of the batch. With `mayBegin` the mask may
/// also give where they begin, after all lengths; if sizes do not tell, the run does.
static Value keysWithin(Node &n, TensorBuilder &b, Value lengths, Expr batch, Expr keys, bool mayBegin) {
  Expr size = b.dim(lengths, 0), begins = mayBegin && !provablyEqual(size, batch) ? isEqual(size, batch * 2) : Expr(0);
  bool fits = begins.isConst() ? begins.isConst(1) || provablyEqual(size, batch) || b.takeForEqual(size, batch, "mask")
                               : b.check(view::maximum(isEqual(size, batch), begins),
                                         "the mask has " + size.print() + " lengths for a batch of " + batch.print() +
                                             "; it needs as many, or twice as many");
  if (!fits)
    return n.fail("a padding mask " + describe(b.shape(lengths)), "of rank 1 it has a length for each of the batch")
        .value;
  Value key = b.arange(keys, b.element(lengths));
  Value seen = b.less(key, b.unsqueeze(b.narrow(lengths, 0, 0, batch), {1, 2, 3}));
  if (begins.isConst(0))
    return seen;
  Value begin = b.mul(b.narrow(lengths, 0, size - batch, size), b.cast(b.size(begins), b.element(lengths)));
  return b.bitAnd(seen, b.greaterEqual(key, b.unsqueeze(begin, {1, 2, 3})));
}

/// The addend of the scores [batch, heads, rows, keys] for a mask of lengths or of zeros and ones. One of lengths may
/// also give where the keys begin, if the operator has that.
static Value paddingBias(Node &n, TensorBuilder &b, Value mask, Expr batch, Expr keys, mlir::Type type, double filtered,
                         bool mayBegin = false) {
  if (!mask)
    return {};
  Value seen;
  if (b.rank(mask) == 1)
    seen = keysWithin(n, b, mask, batch, keys, mayBegin);
  else if (b.rank(mask) == 2)
    seen = b.unsqueeze(b.greater(mask, 0), {1, 2});
  else if (b.rank(mask) == 3)
    seen = b.unsqueeze(b.greater(mask, 0), {1});
  else
    return n.fail("a padding mask " + describe(b.shape(mask)), "it is [batch], [batch, keys] or [batch, rows, keys]")
        .value;
  return b.where(seen, b.constant(0.0, type), filtered);
}

static Tensors multiHeadAttention(Node &n, TensorBuilder &b) {
  Value q = n.input(0), k = n.optionalInput(1), v = n.optionalInput(2), bias = n.optionalInput(3);
  Value mask = n.optionalInput(4), scoreBias = n.optionalInput(5);
  Value pastKey = n.optionalInput(6), pastValue = n.optionalInput(7);
  int64_t heads = n.integer("num_heads");
  double filtered = n.real("mask_filter_value", -10000);
  bool isCausal = n.flag("unidirectional", false);
  DotProductAttention op;
  if (double scale = n.real("scale", 0))
    op.scale = scale;
  if (!isAbsent(n, 8, "a cache in a shared buffer") || !isAbsent(n, 9, "a cache of beams") || !q || !b.ok())
    return {};
  if (!pastKey != !pastValue)
    return n.fail("it has a past of keys or of values alone", "give both"), Tensors();

  if (b.rank(q) == 5) { // all three in one
    k = unpackPart(b, q, 1);
    v = unpackPart(b, q, 2);
    q = unpackPart(b, q, 0);
  } else {
    if (bias) {
      Expr size = b.dim(q, 2), keySize = b.rank(k) == 3 ? b.dim(k, 2) : size;
      q = b.add(q, b.narrow(bias, 0, 0, size));
      if (b.rank(k) == 3 && b.rank(v) == 3) {
        k = b.add(k, b.narrow(bias, 0, size, size + keySize));
        v = b.add(v, b.narrow(bias, 0, size + keySize, b.dim(bias, 0)));
      }
    }
    q = splitHeads(b, q, heads);
    if (b.rank(k) == 5) { // keys and values in one
      v = unpackPart(b, k, 1);
      k = unpackPart(b, k, 0);
    } else if (b.rank(k) == 3) {
      k = splitHeads(b, k, heads);
      v = splitHeads(b, v, heads);
    }
  }
  Expr past = pastKey ? b.dim(pastKey, 2) : Expr(0);
  k = afterPast(b, pastKey, k);
  v = afterPast(b, pastValue, v);
  if (!q || !k || !v)
    return {};
  Expr rows = b.dim(q, 2), keys = b.dim(k, 2);
  op.bias = addBoth(b, paddingBias(n, b, mask, b.dim(q, 0), keys, b.element(q), filtered), scoreBias, rows, keys);
  if (isCausal)
    op.allowed = keysUpTo(b, rows, keys, past);
  Value y = op.apply(b, q, k, v);
  return {mergeHeads(b, y), k, v, op.probabilities};
}

/// Whether x [batch, length, size] can be projected by a weight [size, sizes of queries, keys and values].
static bool isProjection(Node &n, TensorBuilder &b, Value x, Value weight, size_t projections) {
  if (x && weight && (b.rank(x) != 3 || b.rank(weight) != 2 || projections != 3))
    n.fail("its input is " + describe(b.shape(x)) + ", its weight " + describe(b.shape(weight)) + ", for " +
               Twine(projections) + " projections",
           "they are [batch, length, size] and [size, sizes of queries, keys and values]");
  return x && weight && b.ok();
}

/// Attention of one tensor to itself, given its projection to queries, keys and values of these sizes, concatenated.
/// Past and present have keys and values in one tensor.
static Tensors selfAttention(Node &n, TensorBuilder &b, Value projected, llvm::ArrayRef<Expr> sizes, Value mask,
                             Value past, Value scoreBias) {
  int64_t heads = n.integer("num_heads");
  double filtered = n.real("mask_filter_value", -10000);
  bool isCausal = n.flag("unidirectional", false);
  DotProductAttention op;
  if (double scale = n.real("scale", 0))
    op.scale = scale;
  for (llvm::StringRef name : {"do_rotary", "past_present_share_buffer"})
    if (n.flag(name, false))
      return n.fail("attribute " + quoted(name) + " is not supported", "leave it 0"), Tensors();
  llvm::SmallVector<Value> parts = b.split(projected, 2, sizes);
  if (parts.size() != 3)
    return {};
  auto cached = [&](int64_t which) { return past ? b.squeeze(b.narrow(past, 0, which, which + 1), {0}) : Value(); };
  Value q = splitHeads(b, parts[0], heads);
  Value k = afterPast(b, cached(0), splitHeads(b, parts[1], heads));
  Value v = afterPast(b, cached(1), splitHeads(b, parts[2], heads));
  if (!q || !k || !v)
    return {};
  Expr rows = b.dim(q, 2), keys = b.dim(k, 2);
  Value padding = paddingBias(n, b, mask, b.dim(q, 0), keys, b.element(q), filtered, /*mayBegin=*/true);
  op.bias = addBoth(b, padding, scoreBias, rows, keys);
  if (isCausal)
    op.allowed = keysUpTo(b, rows, keys, keys - rows);
  Value y = op.apply(b, q, k, v);
  bool wantsPresent = n.proto().output_size() > 1 && !n.proto().output(1).empty();
  return {mergeHeads(b, y), wantsPresent ? b.stack({k, v}, 0) : Value()};
}

static Tensors attention(Node &n, TensorBuilder &b) {
  Value x = n.input(0), weight = n.input(1), bias = n.optionalInput(2), mask = n.optionalInput(3);
  Value past = n.optionalInput(4), scoreBias = n.optionalInput(5);
  llvm::SmallVector<int64_t> widths = n.integers("qkv_hidden_sizes");
  n.ignore({"rotary_embedding_dim"}); // of do_rotary
  Elements sizes(widths.begin(), widths.end());
  if (widths.empty())
    sizes.assign(3, view::floorDiv(b.dim(weight, -1), 3));
  if (!isProjection(n, b, x, weight, sizes.size()) || !isAbsent(n, 6, "a cache in a shared buffer"))
    return {};
  Value projected = b.matmul(x, weight);
  return selfAttention(n, b, bias ? b.add(projected, bias) : projected, sizes, mask, past, scoreBias);
}

/// The same with a projection in integers; the weight's scale may be one for each column.
static Tensors quantizedAttention(Node &n, TensorBuilder &b) {
  Value x = n.input(0), weight = n.input(1), bias = n.input(2), xScale = n.input(3), scale = n.input(4);
  Value mask = n.optionalInput(5), xZero = n.optionalInput(6), zero = n.optionalInput(7), past = n.optionalInput(8);
  if (!isProjection(n, b, x, weight, 3))
    return {};
  Value sum = b.matmul(centred(b, x, scalar(b, xZero)), centred(b, weight, zero));
  Value projected = b.add(b.mul(b.cast(sum, b.float32()), b.mul(scalar(b, xScale), scale)), bias);
  Elements sizes(3, view::floorDiv(b.dim(weight, -1), 3));
  return selfAttention(n, b, projected, sizes, mask, past, Value());
}

/// A cache of `total` keys: those of the past up to where the new ones begin, the new ones, zeros. Each batch has its
/// own place.
static Value extendCache(TensorBuilder &b, Value past, Value added, Expr total, Value begin, Value end) {
  Value all = afterPast(b, past, added);
  Expr kept = past ? b.dim(past, 2) : Expr(0);
  Value place = b.arange(total, b.int32()), first = b.unsqueeze(begin, {1});
  Value source = b.where(b.less(place, first), place, b.add(b.sub(place, first), b.cast(b.size(kept), b.int32())));
  Value used = b.less(place, b.unsqueeze(end, {1}));
  source = b.where(used, source, 0);
  Value rows = b.gatherND(b.transpose(all, 1, 2), b.unsqueeze(source, {2}), 1);
  return b.where(b.unsqueeze(used, {1, 3}), b.transpose(rows, 1, 2), 0);
}

/// Whether GroupQueryAttention has nothing that is not supported, and fitting numbers of heads; notes a failure.
static bool checkGroupQuery(Node &n, int64_t heads, int64_t keyHeads) {
  n.ignore({"qk_norm_epsilon", "kv_cache_bit_width"}); // of inputs that are refused
  if (n.integer("sliding_window_cache", 0) > 0)
    return n.fail("attribute 'sliding_window_cache' is not supported", "leave it 0"), false;
  if (int64_t mode = n.integer("qk_output", 0); mode < 0 || mode > 2)
    return n.fail("attribute 'qk_output' is " + Twine(mode), "it is 0, 1 or 2"), false;
  for (llvm::StringRef name : {"k_quant_type", "v_quant_type"})
    if (n.string(name, "NONE") != "NONE")
      return n.fail("attribute " + quoted(name) + " is not supported", "leave it NONE"), false;
  if (!isAbsent(n, 12, "a quantised cache") || !isAbsent(n, 13, "a quantised cache") ||
      !isAbsent(n, 14, "a norm of the queries") || !isAbsent(n, 16, "a count of the rows that are no padding"))
    return false;
  if (heads < 1 || keyHeads < 1 || heads % keyHeads != 0)
    return n.fail(Twine(heads) + " heads of queries and " + Twine(keyHeads) + " of keys",
                  "the former are a multiple of the latter"),
           false;
  return true;
}

/// A sink takes a share of each row's attention: it adds to the softmax's sum as a key with this score would, [heads],
/// and gives nothing. With the sum Σ = Σ exp(score) of the scores, the keys keep Σ / (Σ + exp(sink)).
static void addSink(TensorBuilder &b, DotProductAttention &op, Value sink) {
  auto left = std::make_shared<Value>();
  op.modifyScores = [&b, sink, left](Value scores) {
    Value reach = b.logSumExp(scores, {-1}, /*keepDims=*/true);
    *left = b.sigmoid(b.sub(reach, b.unsqueeze(b.cast(sink, b.element(scores)), {0, 2, 3})));
    return scores;
  };
  op.modifyProbabilities = [&b, left](Value weights) { return b.mul(weights, *left); };
}

static Tensors groupQueryAttention(Node &n, TensorBuilder &b) {
  Value q = n.input(0), k = n.optionalInput(1), v = n.optionalInput(2);
  Value pastKey = n.optionalInput(3), pastValue = n.optionalInput(4), lengths = n.input(5);
  std::optional<Elements> totals = n.sizes(6);
  Value cosines = n.optionalInput(7), sines = n.optionalInput(8), positions = n.optionalInput(9);
  Value scoreBias = n.optionalInput(10), sink = n.optionalInput(11);
  int64_t heads = n.integer("num_heads"), keyHeads = n.integer("kv_num_heads");
  bool hasSink = n.integer("smooth_softmax", 0) > 0; // with score 0 if none is given
  int64_t window = n.integer("local_window_size", -1);
  bool rotates = n.flag("do_rotary", false), interleaved = n.flag("rotary_interleaved", false);
  bool isCausal = n.flag("causal", true);
  DotProductAttention op;
  if (double scale = n.real("scale", 0))
    op.scale = scale;
  op.softcap = n.real("softcap", 0);
  if (!checkGroupQuery(n, heads, keyHeads))
    return {};
  if (!q || !lengths || !totals || totals->size() != 1 || !b.ok())
    return {};
  if (!pastKey != !pastValue || !k != !v)
    return n.fail("it has keys or values alone", "give both"), Tensors();
  if (!k) { // all three in one, concatenated
    q = splitHeads(b, q, heads + 2 * keyHeads);
    v = b.narrow(q, 1, heads + keyHeads, heads + 2 * keyHeads);
    k = b.narrow(q, 1, heads, heads + keyHeads);
    q = b.narrow(q, 1, 0, heads);
  } else {
    q = splitHeads(b, q, heads);
    k = splitHeads(b, k, keyHeads);
    v = splitHeads(b, v, keyHeads);
  }
  if (!q || !k || !v)
    return {};
  // Each batch has its own number of keys: `end`. The rows are the last of them, from `begin` on. A first run begins at
  // 0 whatever its padding.
  Expr rows = b.dim(q, 2), total = totals->front(), keys = pastKey ? view::maximum(total, b.dim(pastKey, 2)) : total;
  Value end = b.add(b.reshape(b.cast(lengths, b.int32()), {b.dim(q, 0)}), 1);
  Value begin = b.constantLike(end, 0);
  if (!provablyEqual(rows, total))
    begin = b.where(b.equal(b.size(rows), b.size(total)), begin, b.sub(end, b.cast(b.size(rows), b.int32())));
  if (rotates) {
    if (!positions)
      positions = b.add(b.unsqueeze(begin, {1}), b.arange(rows, b.int32()));
    q = rotateAt(b, q, positions, cosines, sines, interleaved);
    k = rotateAt(b, k, positions, cosines, sines, interleaved);
  }
  k = extendCache(b, pastKey, k, keys, begin, end);
  v = extendCache(b, pastValue, v, keys, begin, end);
  if (!k || !v)
    return {};
  Value distance = distanceToKeys(b, rows, keys, begin);
  if (isCausal)
    op.allowed = b.greaterEqual(distance, 0);
  else
    op.allowed = b.less(b.arange(keys, b.int32()), b.unsqueeze(end, {1, 2, 3}));
  if (window >= 0)
    op.allowed = b.bitAnd(op.allowed, b.less(distance, std::min(window, view::kMaxDim)));
  op.bias = scoreBias;
  if (hasSink && !sink)
    sink = b.constant(0, b.element(q), {heads});
  if (sink)
    addSink(b, op, sink);
  Value y = op.apply(b, q, k, v);
  // Before the softmax, a key that is not seen has 0.
  Value scores = n.integer("qk_output", 0) == 1 ? b.where(op.allowed, op.biased, 0) : op.probabilities;
  return {mergeHeads(b, y), k, v, scores};
}

void kiln::import::onnx::addMicrosoft(Registry &r) {
  llvm::StringRef domain = "com.microsoft";
  r.add(domain, "Attention", 1, attention);
  r.add(domain, "BiasGelu", 1, biasGelu);
  r.add(domain, "EmbedLayerNormalization", 1, embedLayerNormalization);
  r.add(domain, "FastGelu", 1, fastGelu);
  r.add(domain, "FusedMatMul", 1, fusedMatmul);
  r.add(domain, "Gelu", 1, gelu);
  r.add(domain, "GroupQueryAttention", 1, groupQueryAttention);
  r.add(domain, "MultiHeadAttention", 1, multiHeadAttention);
  r.add(domain, "QAttention", 1, quantizedAttention);
  r.add(domain, "QEmbedLayerNormalization", 1, quantizedEmbedNorm);
  r.add(domain, "QuickGelu", 1, quickGelu);
  r.add(domain, "SkipLayerNormalization", 1, skipLayerNormalization);
  r.add(domain, "SkipSimplifiedLayerNormalization", 1, skipSimplified);
  r.add(domain, "SparseToDenseMatMul", 1, fusedMatmul); // sparse initializers are dense here
  r.add(domain, "TransposeMatMul", 1, fusedMatmul);     // as FusedMatMul was called
}
