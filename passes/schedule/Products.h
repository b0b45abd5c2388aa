//===- Products.h - Sums of products, which kernels have register tiles for ------===//
//
// The schedule asks of a sum of products whether a register tile can compute it, whether an instruction takes its
// operands before they are widened, and whether it is a block of another sum. Which instructions there are is the
// target's; what an operand was before its cast can be seen in the graph.
//
//===-------------------------------------------------------------------------------===//
#pragma once

#include "passes/schedule/Edges.h"

#include "target/Target.h"

namespace kiln::schedule {

/// The multiplication whose results a reduce adds up; null: it does something else, or weighs by scores.
graph::AluOp multiplicationOf(graph::ReduceOp reduce);

/// A sum of products of two tensors, each standing still along an axis of the result that the other moves along: a
/// register tile can compute it.
bool isProduct(graph::ReduceOp reduce);

/// The sum whose terms are made of the elements of `block`, a sum of products, one of each; null where no sum is. Both
/// factors of `block` move along every axis that the outer sum adds up, so that neither is read twice for it.
graph::ReduceOp sumOfBlocks(graph::ReduceOp block);

/// Whether a sum of products takes its operands before they were widened for it: if an instruction
/// multiplies matrices of them, and if each element of a constant is multiplied once, which takes as long as
/// reading it.
bool multipliesNarrow(graph::ReduceOp reduce, TargetAttr target, llvm::function_ref<bool(mlir::Value)> isConstant);

/// Whether it would if both operands were widened from `narrow`, once the taps of a window are one axis.
bool mayMultiplyNarrow(graph::ReduceOp reduce, TargetAttr target, mlir::Type narrow,
                       llvm::function_ref<bool(mlir::Value)> isConstant);

/// The same for operands of the dtypes that `elementOf` gives, if their terms lie along one axis or become one: those
/// of a window over few channels.
bool mayMultiplyBytes(graph::ReduceOp reduce, TargetAttr target, llvm::function_ref<mlir::Type(mlir::Value)> elementOf,
                      llvm::function_ref<bool(mlir::Value)> isConstant);

/// The source of an operand's cast; itself if it is not cast.
mlir::Value uncast(mlir::Value operand);

} // namespace kiln::schedule
