//===- DotProductAttention.h - softmax(q·kᵀ·scale + bias)·v, written out ----===//
//
// Attention is not an operation of the graph: it is two products around a softmax, as a model could write them itself,
// and fuses as those do. The operators of several domains share this: heads that share keys, a soft cap, masks, and the
// precision of the softmax. Half precision rounds where the definition does: after each step.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/TensorBuilder.h"

#include <functional>

namespace kiln::import {

struct DotProductAttention {
  using Value = mlir::Value;
  using Modifier = std::function<Value(Value)>;

  // What is asked for

  std::optional<double> scale; ///< 1/√size unless given
  double softcap = 0;          ///< c·tanh(score/c); 0 is none
  /// Added to the scores, in their dtype; broadcasts to [batch, heads, rows, keys] as maskOver() says. May be null.
  Value bias;
  /// bool: where a row sees a key; broadcasts likewise. Null if each sees all.
  Value allowed;
  /// `bias` or `allowed` may leave a row without a key; its result is 0.
  bool mayBlind = false;
  /// The dtype that the softmax computes in; null: the dtype of q.
  mlir::Type softmaxType;
  /// The probabilities are multiplied by v in `softmaxType`, without rounding to the dtype of q before.
  bool keepsPrecision = false;
  /// Functions of the scores in `softmaxType` and of the probabilities, [batch, heads, rows, keys]; may be empty.
  Modifier modifyScores, modifyProbabilities;

  // The results, each [batch, heads, rows, keys] in the dtype of q

  Value raw, capped, biased, probabilities;

  /// q [batch, heads, rows, size] over k [batch, keyHeads, keys, size] and v [batch, keyHeads, keys, valueSize]; each
  /// key head serves heads/keyHeads neighbouring heads. Null after a failure.
  Value apply(TensorBuilder &b, Value q, Value k, Value v);
};

/// int32 [rows, keys] or [batch, 1, rows, keys]: how far a key's place is before its row's, which is the row's number +
/// `offset`; negative if it comes later. `offset` is an integer tensor [] or [batch].
mlir::Value distanceToKeys(TensorBuilder &b, Expr rows, Expr keys, mlir::Value offset);

/// Bool [rows, keys]: whether a key's number is at most its row's + `ahead`. A view, which costs no kernel anything.
mlir::Value keysUpTo(TensorBuilder &b, Expr rows, Expr keys, Expr ahead);

/// A mask or bias of scores, whose last two axes have so many rows and keys, which the run checks, or 1, which is known
/// at import. Only along batch and heads a run may find that it is repeated. Null gives null.
mlir::Value maskOver(TensorBuilder &b, mlir::Value mask, Expr rows, Expr keys);

/// Turns pairs of elements along x's last axis by angles whose cosines and sines broadcast against half of it: the
/// first half's elements with the second half's, or neighbours if `interleaved`.
mlir::Value rotatePairs(TensorBuilder &b, mlir::Value x, mlir::Value cosines, mlir::Value sines, bool interleaved);

/// Keys or values [batch, heads, keys, size] appended to those of a past, which may be null.
mlir::Value afterPast(TensorBuilder &b, mlir::Value past, mlir::Value x);

/// [batch, rows, heads·size] as [batch, heads, rows, size]; fails if the last axis does not divide.
mlir::Value splitHeads(TensorBuilder &b, mlir::Value x, int64_t heads);
/// And back.
mlir::Value mergeHeads(TensorBuilder &b, mlir::Value x);

} // namespace kiln::import
