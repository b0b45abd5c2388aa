//===- HoldRows.h - Two products with a softmax between them, in one kernel ----------===//
#pragma once

#include "target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln::schedule {

/// On a graph operation: its kernel computes it once, for a block of rows at a time, and holds it there.
inline constexpr llvm::StringLiteral kHeldAttr = "graph.held";

/// Marks what stands between two sums of products where a block of its rows fits the device's cache, so that one kernel
/// computes all of it: attention's scores, their largest, their exponentials and the sum of these.
void holdRows(mlir::func::FuncOp main, TargetAttr target);

} // namespace kiln::schedule
