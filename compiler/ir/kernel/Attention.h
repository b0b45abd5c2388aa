//===- Attention.h - A kernel that holds rows of scores ------------------------------===//
//
// Attention is sum_j p(q·k_j) v_j: a sum over keys j of products, whose weights p are computed from other sums of
// products, the scores. A kernel that computes all of it holds a block of rows of scores in a cache. The schedule
// decides which kernels do and gives their reduces roles; optimize makes stages and tiles. Both ask here what each
// value and axis of such a kernel is, so that the schedule wants nothing that optimize does not find.
//
//===----------------------------------------------------------------------------------===//
#pragma once

#include "ir/kernel/Kernel.h"

#include <optional>

namespace kiln::kernel {

/// On a reduce: its role in attention, as the schedule decided. A kernel that has one role has one reduce of each.
inline constexpr llvm::StringLiteral kRoleAttr = "kernel.role";
/// The roles: products of queries with keys; the largest score of a row; the sum of products with the values.
inline constexpr llvm::StringLiteral kScores = "scores", kLargest = "largest", kResult = "result";

/// The values and axes of attention in a kernel without opts. Axes are those of its domain.
struct Attention {
  mutable ReduceOp scores, largest, result;
  llvm::SmallVector<mlir::Value> held; ///< the scores, the terms of each sum over a row of them, and the weights p
  llvm::SmallVector<mlir::Value> sums; ///< over a row, which only what follows the second product reads
  mutable LoadOp keys, values;         ///< the loads that the second operands of the two products are made of
  size_t key, terms;                   ///< the axis along a row, and the axis that a score is summed over
  size_t rows;                         ///< the last axis that scores move along and values do not
  llvm::SmallVector<size_t> columns;   ///< the axes that values move along and scores do not, in the domain's order

  /// The axis of columns that lanes go along.
  size_t column() const { return columns.back(); }
};

/// Whether a reduce of the kernel has a role in attention.
bool hasRoles(FuncOp func);
/// Whether it has one reduce of each.
bool hasEachRole(FuncOp func);

/// Finds the values and axes of attention in a kernel by the roles of its reduces. nullopt where a role is missing or
/// given twice; where queries, keys or values are not made of one load each; where there are no rows or no columns;
/// and where the sizes of columns or terms are not fixed.
std::optional<Attention> attentionOf(FuncOp func);

} // namespace kiln::kernel
