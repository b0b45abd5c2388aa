//===- Dependence.h - What must be there before a tensor ----------------------===//
#pragma once

#include "passes/schedule/Edges.h"

namespace kiln::schedule {

/// A kernel waits for more than what it reads: what control flow and calls give it takes what they read, and a size
/// that it uses as a number may be bound to what another kernel computes.
class Dependence {
public:
  explicit Dependence(mlir::Block &block);

  /// What `value` of the block takes, one step back; nothing for what another block gives.
  llvm::SmallVector<Edge> of(mlir::Value value) const;

private:
  mlir::Block &block_;
  llvm::DenseMap<view::Expr, mlir::Value> bound_; ///< symbol → what it is bound to
};

} // namespace kiln::schedule
