//===- Products.h - Sums of products, which kernels have register tiles for ------===//
#pragma once

#include "passes/schedule/Edges.h"

#include "target/Target.h"

namespace kiln::schedule {

/// A sum of products of two tensors, each of which stands still along an axis of the result that the other moves along:
/// what a register tile can be made for.
bool isProduct(graph::ReduceOp reduce);

/// Whether a sum of products takes its operands, which were widened for it, as they were before: where an instruction
/// multiplies matrices of them, and where each element of a constant is multiplied once, which takes as long as reading
/// it.
bool multipliesNarrow(graph::ReduceOp reduce, TargetAttr target, llvm::function_ref<bool(mlir::Value)> isConstant);

/// What an operand is cast from; itself where it is not.
mlir::Value uncast(mlir::Value operand);

} // namespace kiln::schedule
