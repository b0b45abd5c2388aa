//===- DeadOps.h - Ops that nothing reads -------------------------------------------------===//
#pragma once

#include "mlir/IR/Operation.h"

namespace kiln::graph {

/// Whether an op inside `root` can go: nothing reads its results, and it neither changes the run nor gives one of them
/// a size that something after it names.
bool isDead(mlir::Operation *op, mlir::Operation *root);

/// Erases all dead ops inside `root`, and those that only they read.
void eraseDeadOps(mlir::Operation *root);

} // namespace kiln::graph
