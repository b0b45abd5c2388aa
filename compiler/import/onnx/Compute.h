//===- Compute.h - Compute values that are known at import -------------------===//
//
// A node that reads only constants gives constants, whatever its operator: an axis, a number of trips, whether a branch
// is taken. Its ops are run at once, by the interpreter that defines the meaning of a graph, so that a number known at
// import is the one that a run would compute: integers wrap, and a float is rounded to its dtype.
//
//===--------------------------------------------------------------------------===//
#pragma once

#include "import/onnx/Registry.h"

namespace kiln::import::onnx {

/// The beginning of a node's ops: the block of the insertion point before them.
class NodeOps {
public:
  explicit NodeOps(Importer &importer);

  /// Finds the elements of those results that follow from constants alone and are at most kMostElements, and replaces
  /// them by a constant. A result that only moves the elements of a weight stays a view of it. Floats that a library
  /// rounds, as those of an exponential, stay ops too, so that a program does not depend on the machine that made it;
  /// their elements are known all the same. Long computations are left to the run, as are those that end in an error.
  /// `names`: of the results. Integers that follow from sizes become expressions over these, which `b` checks if floats
  /// were on the way.
  void compute(llvm::MutableArrayRef<Tensor> results, llvm::ArrayRef<std::string> names, TensorBuilder &b);

  /// Erases the node's ops and forgets the symbols that came since, for a node that is to be imported elsewhere.
  void undo();

private:
  void computeOne(Tensor &result, llvm::ArrayRef<mlir::Operation *> own, const std::string &name) const;
  void followSizes(Tensor &result, TensorBuilder &b) const;
  /// The ops made since, in order.
  llvm::SmallVector<mlir::Operation *> made() const;

  Importer &importer_;
  mlir::Block *block_;
  mlir::Operation *last_;         ///< null if the block was empty
  mlir::Operation *lastConstant_; ///< the last of the constants at the function's head then; null for none
  size_t numSymbols_;
};

} // namespace kiln::import::onnx
