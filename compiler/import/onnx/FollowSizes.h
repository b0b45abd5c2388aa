//===- FollowSizes.h - Results of ops on sizes -------------------------------===//
//
// Exporters compute sizes with floats, too: a picture's height, cast, divided by 32, rounded up, multiplied and cast
// back. The result is an expression over the sizes if no float on the way was rounded. So elements are followed through
// the ops that a node became, floats as quotients of integers: exact if the divisor is a power of two, else rounded
// once, which rounding up, down or to an integer undoes. All of this holds while no integer is larger than the dtype
// holds exactly, 2^24 in float32; if bounds do not say so, the run checks it.
//
//===--------------------------------------------------------------------------===//
#pragma once

#include "import/TensorBuilder.h"

#include "llvm/ADT/DenseMap.h"

namespace kiln::import::onnx {

/// An integer, or a float that is over/under, rounded once if `under` is not a power of two.
struct Followed {
  Expr over;
  int64_t under = 1;
  /// Integers that must not be larger than `most`, as they passed through a float dtype.
  llvm::SmallVector<std::pair<Expr, int64_t>, 1> limits;
};

using FollowedElements = llvm::SmallVector<Followed, 4>;

class FollowedSizes {
public:
  /// Finds the op's result in terms of sizes, if it follows from them.
  void follow(mlir::Operation *op);
  /// Null if it does not follow from sizes.
  const FollowedElements *find(mlir::Value value) const;
  /// Call this before the value is erased.
  void forget(mlir::Value value) { elements_.erase(value); }

private:
  const FollowedElements *operand(mlir::Value value);
  std::optional<FollowedElements> move(mlir::Operation *op);
  std::optional<FollowedElements> compute(graph::AluOp op);
  std::optional<FollowedElements> reduce(graph::ReduceOp op);

  llvm::DenseMap<mlir::Value, FollowedElements> elements_;
};

} // namespace kiln::import::onnx
