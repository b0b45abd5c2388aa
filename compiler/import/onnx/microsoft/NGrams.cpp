//===- NGrams.cpp - Runs of tokens: those to avoid, and their hashes ----------===//
#include "import/onnx/Microsoft.h"
#include "import/onnx/file/ModelFile.h"

#include <limits>

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

/// The scores [batch, vocabulary], without those of tokens that would end a run of tokens [batch, length] a second
/// time: a run that begins as the last tokens do tells which token is excluded.
static Value repeatBlock(Node &n, TensorBuilder &b) {
  Value tokens = n.input(0), scores = n.input(1);
  int64_t length = n.integer("ngram_size");
  if (!tokens || !scores || !b.ok())
    return {};
  if (b.rank(tokens) != 2 || b.rank(scores) != 2 || length < 1 || length > view::kMaxDim)
    return b.fail("tokens " + describe(b.shape(tokens)) + " and scores " + describe(b.shape(scores)) + " for runs of " +
                      Twine(length),
                  "they are [batch, length] and [batch, vocabulary], and runs of 1 or more");
  Expr size = b.dim(tokens, 1), count = view::maximum(size - (length - 1), 0);
  Value begin = b.arange(count, b.int64()), isRepeated;
  for (int64_t i = 0; i + 1 < length; ++i) {
    Value last = b.unsqueeze(b.gather(tokens, b.size(size - (length - 1) + i), 1), {1});
    Value isSame = b.equal(b.gather(tokens, b.add(begin, i), 1), last);
    isRepeated = isRepeated ? b.bitAnd(isRepeated, isSame) : isSame;
  }
  Value ending = b.gather(tokens, b.add(begin, length - 1), 1); // [batch, count]
  Value isOut = b.equal(b.unsqueeze(ending, {1}), b.unsqueeze(b.arange(b.dim(scores, 1), b.element(tokens)), {1}));
  if (isRepeated)
    isOut = b.bitAnd(isOut, b.unsqueeze(isRepeated, {1}));
  Value isAnyOut = b.greater(b.sum(b.cast(isOut, b.int32()), {2}), 0);
  return b.where(isAnyOut, -std::numeric_limits<double>::infinity(), scores);
}

/// Hashes of the runs of 2 up to some number of tokens that end at each token [batch, length], several for each
/// length; then the tokens that the next run needs before its own.
static Tensors hashMapping(Node &n, TensorBuilder &b) {
  Value tokens = n.input(0), factors = n.input(1), sizes = n.input(2), past = n.optionalInput(3);
  Value offsets = n.optionalInput(4), end = n.optionalInput(5), segments = n.optionalInput(6);
  int64_t longest = n.integer("max_ngram_size"), heads = n.integer("n_head_per_ngram"), pad = n.integer("pad_id");
  bool endsReset = n.flag("reset_on_eos", false) && end;
  if (!tokens || !factors || !sizes || !b.ok())
    return {};
  if (longest < 2 || heads < 1 || std::max(longest, heads) > view::kMaxDim || b.rank(tokens) != 2)
    return n.fail("tokens " + describe(b.shape(tokens)) + " for " + Twine(heads) + " hashes of up to " +
                      Twine(longest) + " tokens",
                  "they are [batch, length], hashes 1 or more of 2 tokens or more"),
           Tensors();
  Expr batch = b.dim(tokens, 0), length = b.dim(tokens, 1);
  Value outside = end ? b.reshape(end, {}) : b.constant(pad, b.element(tokens));
  int64_t reach = longest - 1;
  Value before = past ? past : b.expand(outside, {batch, Expr(reach)});
  Value all = b.concat({before, tokens}, 1); // [batch, reach + length]
  segments = segments ? b.pad(segments, {0, reach}, {0, 0}) : Value();
  // An element past an end, or in another segment, counts as outside.
  auto shifted = [&](Value x, int64_t by) { return b.narrow(x, 1, reach - by, length + (reach - by)); };
  Value mixed, isReset;
  llvm::SmallVector<Value> hashes;
  for (int64_t by = 0; by < longest; ++by) {
    Value token = shifted(all, by);
    if (by > 0 && endsReset) {
      Value isEnd = b.equal(token, outside);
      isReset = isReset ? b.bitOr(isReset, isEnd) : isEnd;
    }
    if (by > 0 && segments) {
      // Whether the segment changes between this token and the one after it; the past has none.
      Value isThere = b.greaterEqual(b.sub(b.arange(length, b.int64()), by), 0);
      Value changes = b.bitAnd(isThere, b.notEqual(shifted(segments, by), shifted(segments, by - 1)));
      isReset = isReset ? b.bitOr(isReset, changes) : changes;
    }
    Value seen = by > 0 && isReset ? b.where(isReset, outside, token) : token;
    Value product = b.mul(seen, b.reshape(b.narrow(factors, 0, by, by + 1), {}));
    mixed = mixed ? b.bitXor(mixed, product) : product;
    if (by > 0) {
      Value modulus = b.narrow(sizes, 0, (by - 1) * heads, by * heads);
      hashes.push_back(b.floorMod(b.unsqueeze(mixed, {2}), modulus));
    }
  }
  Value result = b.concat(hashes, 2);
  if (offsets)
    result = b.add(result, offsets);
  return {result, b.narrow(all, 1, length, length + reach)};
}

void kiln::import::onnx::addNGrams(Registry &r) {
  r.add("com.microsoft", "NGramHashMapping", 1, hashMapping);
  r.add("com.microsoft", "NGramRepeatBlock", 1, repeatBlock);
}
