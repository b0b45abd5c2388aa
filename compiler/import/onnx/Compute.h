//===- Compute.h - Compute what is known at import ---------------------------===//
//
// A node that reads nothing but constants gives constants, whatever its operator: an axis, a number of trips, whether a
// branch is taken. The ops that it became are run at once, by the interpreter that says what a graph means, so that a
// number known at import is the one that a run would compute: integers wrap, and a float is rounded to its dtype.
//
//===--------------------------------------------------------------------------===//
#pragma once

#include "import/onnx/Registry.h"

namespace kiln::import::onnx {

/// Where a node's ops begin: what the block of the insertion point held before.
class NodeOps {
public:
  explicit NodeOps(Importer &importer);

  /// Finds the elements of those results that follow from constants alone and are at most kMostElements, and puts a
  /// constant for them. One that only moves the elements of a weight stays a view of it, and floats that a library
  /// rounds, as those of an exponential, stay ops too, so that a program does not depend on the machine that made it;
  /// their elements are known all the same. What takes long to compute is left to the run, as is what ends in an error.
  /// `names`: of the results.
  /// Integers that follow from sizes become expressions over these, which `b` checks where floats were on the way.
  void compute(llvm::MutableArrayRef<Tensor> results, llvm::ArrayRef<std::string> names, TensorBuilder &b);

private:
  void computeOne(Tensor &result, llvm::ArrayRef<mlir::Operation *> own, const std::string &name) const;
  void followSizes(Tensor &result, TensorBuilder &b) const;
  /// The ops made since, in order.
  llvm::SmallVector<mlir::Operation *> made() const;

  Importer &importer_;
  mlir::Block *block_;
  mlir::Operation *last_;         ///< null where the block was empty
  mlir::Operation *lastConstant_; ///< the last of the constants at the function's head then; null for none
  size_t numSymbols_;
};

} // namespace kiln::import::onnx
