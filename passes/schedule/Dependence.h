//===- Dependence.h - Everything that must be computed before a tensor --------===//
#pragma once

#include "passes/schedule/Edges.h"

namespace kiln::schedule {

/// A kernel waits for more than it reads: results of control flow and calls depend on what these read, and a size that
/// it uses as a number may be bound to another kernel's result.
class Dependence {
public:
  explicit Dependence(mlir::Block &block);

  /// The operands of `value` in the block, one step back; nothing for a value of another block.
  llvm::SmallVector<Edge> of(mlir::Value value) const;

private:
  mlir::Block &block_;
  llvm::DenseMap<view::Expr, mlir::Value> bound_; ///< symbol → the value that it is bound to
};

} // namespace kiln::schedule
