//===- MarkAttention.h - Decide which kernels hold rows of attention's scores -----------===//
#pragma once

#include "ir/graph/Graph.h"
#include "target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln::schedule {

/// On a graph operation: its kernel computes it once, for a block of rows at a time, and holds it there.
inline constexpr llvm::StringLiteral kHeldAttr = "graph.held";
/// On a reduce of an attention: its role (ir/kernel/Attention.h), which the kernel's reduce gets.
inline constexpr llvm::StringLiteral kRoleAttr = "graph.role";

/// On the last operation of an attention: its result, multiplied by the factors that stand still along the keys, such
/// as one by a softmax's total.
inline constexpr llvm::StringLiteral kGivenAttr = "graph.attention";

inline bool isHeld(mlir::Value value) { return value.getDefiningOp()->hasAttr(kHeldAttr); }
/// The role of a reduce; null: it has none.
inline mlir::StringAttr roleOf(graph::ReduceOp reduce) { return reduce->getAttrOfType<mlir::StringAttr>(kRoleAttr); }
/// Whether a tensor is the result of an attention, and not the last operation: factors follow that are computed from
/// the same rows, so in the same kernel.
bool isMultipliedResult(mlir::Value value);

/// Marks each attention whose block of rows fits the device's cache, so that one kernel computes all of it: the scores,
/// their largest, their exponentials and the sum of these. Rows or columns of the result may come first.
void markAttention(mlir::func::FuncOp main, TargetAttr target);

/// The result of the attention that a reduce has a role in.
graph::ReduceOp resultOf(graph::ReduceOp reduce);

/// Takes the marks off the attention that has this result: costs decide which of its tensors get memory.
void unmarkAttention(graph::ReduceOp result);

} // namespace kiln::schedule
