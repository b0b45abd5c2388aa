#include "import/DotProductAttention.h"

#include "import/DType.h"

#include <cmath>

using namespace kiln;
using namespace kiln::import;
using llvm::Twine;
using mlir::Value;
using view::provablyEqual;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

static bool isHalf(mlir::Type type) { return type.isF16() || type.isBF16(); }

/// x's rows by y's columns, y's heads being `groups` times fewer.
static Value grouped(TensorBuilder &b, Value x, Value y, Expr groups) {
  if (groups.isConst(1))
    return b.matmul(x, y);
  Shape sizes = b.shape(x);
  Value split = b.reshape(x, {sizes[0], b.dim(y, 1), groups, sizes[2], sizes[3]});
  return b.reshape(b.matmul(split, b.unsqueeze(y, {2})), {sizes[0], sizes[1], sizes[2], b.dim(y, -1)});
}

Value kiln::import::maskOver(TensorBuilder &b, Value mask, Expr rows, Expr keys) {
  if (!mask)
    return {};
  int64_t rank = b.rank(mask);
  for (auto [axis, size] : {std::pair(rank - 2, rows), std::pair(rank - 1, keys)})
    if (axis >= 0 && b.dim(mask, axis).max() > 1 && b.takeForEqual(b.dim(mask, axis), size, "mask"))
      mask = b.withSize(mask, axis, size);
  return mask;
}

Value DotProductAttention::apply(TensorBuilder &b, Value q, Value k, Value v) {
  if (!q || !k || !v)
    return {};
  if (b.rank(q) != 4 || b.rank(k) != 4 || b.rank(v) != 4)
    return b.fail("queries " + describe(b.shape(q)) + ", keys " + describe(b.shape(k)) + " and values " +
                      describe(b.shape(v)),
                  "each is [batch, heads, length, size]");
  mlir::Type type = b.element(q);
  if (!b.isFloat(q) || b.element(k) != type)
    return b.fail("queries of " + dtypeName(type) + " and keys of " + dtypeName(b.element(k)), "both are one float");
  Expr heads = b.dim(q, 1), keyHeads = b.dim(k, 1), size = b.dim(q, 3);
  Expr groups = provablyEqual(heads, keyHeads) ? Expr(1) : view::floorDiv(heads, keyHeads);
  if (!provablyEqual(groups * keyHeads, heads) || !provablyEqual(b.dim(v, 1), keyHeads))
    return b.fail(heads.print() + " heads of queries, " + keyHeads.print() + " of keys and " + b.dim(v, 1).print() +
                      " of values",
                  "keys and values have as many, queries a multiple");
  if (!scale && !size.isConst())
    return b.fail("the size " + size.print() + " of a head is not known at import", "fix it with --dim");
  double factor = scale ? *scale : 1 / std::sqrt(double(size.constant()));
  if (isHalf(type)) {
    q = b.mul(q, std::sqrt(factor));
    k = b.mul(k, std::sqrt(factor));
  } else {
    q = b.mul(q, factor);
  }
  raw = grouped(b, q, b.transpose(k, -1, -2), groups);
  capped = softcap == 0 ? raw : b.mul(b.tanh(b.div(raw, softcap)), softcap);
  // Masks are repeated to the scores, never scores to masks.
  Expr rows = b.dim(q, 2), keys = b.dim(k, 2);
  bias = maskOver(b, bias, rows, keys);
  allowed = maskOver(b, allowed, rows, keys);
  biased = bias ? b.add(capped, b.expand(bias, b.shape(capped))) : capped;
  if (allowed)
    biased = b.where(b.expand(allowed, b.shape(capped)), biased, -kInfinity);

  mlir::Type wide = softmaxType ? softmaxType : type;
  Value scores = b.cast(biased, wide);
  if (modifyScores)
    scores = modifyScores(scores);
  Value weights = b.softmax(scores, -1);
  if (modifyProbabilities)
    weights = modifyProbabilities(weights);
  if (!weights)
    return {};
  probabilities = b.cast(weights, type);
  if (!keepsPrecision)
    weights = probabilities;
  Value result = b.cast(grouped(b, weights, b.cast(v, b.element(weights)), groups), type);
  if (!mayBlind || !b.ok())
    return result;
  // Decided by the masks alone: a score may be infinite itself.
  Value blind;
  if (!bias) {
    blind = b.logicalNot(b.max(allowed, {-1}, /*keepDims=*/true));
  } else {
    Value mask = allowed ? b.where(allowed, bias, -kInfinity) : bias;
    blind = b.equal(b.max(mask, {-1}, /*keepDims=*/true), -kInfinity);
  }
  probabilities = b.where(blind, 0, probabilities);
  return b.where(blind, 0, result);
}

Value kiln::import::distanceToKeys(TensorBuilder &b, Expr rows, Expr keys, Value offset) {
  offset = b.cast(offset, b.int32());
  if (b.rank(offset) == 1)
    offset = b.unsqueeze(offset, {1, 2, 3});
  Value place = b.add(b.unsqueeze(b.arange(rows, b.int32()), {1}), offset);
  return b.sub(place, b.arange(keys, b.int32()));
}

Value kiln::import::keysUpTo(TensorBuilder &b, Expr rows, Expr keys, Expr ahead) {
  // Counted from the last row and the last key it is the other triangle.
  return b.flip(b.triangle(rows, keys, keys - rows - ahead), {0, 1});
}

Value kiln::import::rotatePairs(TensorBuilder &b, Value x, Value cosines, Value sines, bool interleaved) {
  if (!x || !cosines || !sines)
    return {};
  Shape given[] = {b.shape(cosines), b.shape(sines)};
  Expr size = b.dim(x, -1);
  if (!provablyEqual(view::floorDiv(size, 2) * 2, size)) // the cosines tell how many pairs there are
    x = b.takeSize(x, -1, b.dim(cosines, -1) * 2, "rotate");
  Expr half = x ? view::floorDiv(b.dim(x, -1), 2) : Expr(0);
  cosines = b.takeSize(cosines, -1, half, "rotate");
  sines = b.takeSize(sines, -1, half, "rotate");
  if (!x || !cosines || !sines)
    return b.fail("cosines " + describe(given[0]) + " and sines " + describe(given[1]) +
                      " rotate pairs along an axis of size " + size.print(),
                  "it needs one of each a pair");
  Value first, second;
  if (interleaved) {
    first = b.stride(x, -1, 2);
    second = b.stride(b.narrow(x, -1, 1, half * 2), -1, 2);
  } else {
    first = b.narrow(x, -1, 0, half);
    second = b.narrow(x, -1, half, half * 2);
  }
  Value real = b.sub(b.mul(cosines, first), b.mul(sines, second));
  Value imaginary = b.add(b.mul(sines, first), b.mul(cosines, second));
  return interleaved ? b.reshape(b.stack({real, imaginary}, -1), b.shape(x)) : b.concat({real, imaginary}, -1);
}

Value kiln::import::afterPast(TensorBuilder &b, Value past, Value x) { return past ? b.concat({past, x}, 2) : x; }

Value kiln::import::splitHeads(TensorBuilder &b, Value x, int64_t heads) {
  if (!x)
    return {};
  Expr size = heads > 0 && b.rank(x) == 3 ? view::floorDiv(b.dim(x, 2), heads) : Expr(0);
  if (heads < 1 || b.rank(x) != 3 || !provablyEqual(size * heads, b.dim(x, 2)))
    return b.fail(describe(b.shape(x)) + " does not divide into " + Twine(heads) + " heads",
                  "it is [batch, length, heads · size]");
  return b.transpose(b.reshape(x, {b.dim(x, 0), b.dim(x, 1), heads, size}), 1, 2);
}

Value kiln::import::mergeHeads(TensorBuilder &b, Value x) {
  if (!x)
    return {};
  Value rows = b.transpose(x, 1, 2);
  return b.reshape(rows, {b.dim(rows, 0), b.dim(rows, 1), b.dim(rows, 2) * b.dim(rows, 3)});
}
