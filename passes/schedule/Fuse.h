//===- Fuse.h - Which tensors get memory, by what it costs -----------------------===//
#pragma once

#include "passes/schedule/Realize.h"

#include "target/Target.h"

namespace kiln::schedule {

/// The default policy: from the results backwards, each tensor is computed inside the kernels that read it where that
/// takes less time than a kernel, a write and reads of its own.
Realization fuse(mlir::Block &block, TargetAttr target);

/// Whether a sum of products takes its operands, which were widened for it, as they were before: where an instruction
/// multiplies matrices of them, and where each element of a constant is multiplied once, which takes as long as reading
/// it.
bool multipliesNarrow(graph::ReduceOp reduce, TargetAttr target, llvm::function_ref<bool(mlir::Value)> isConstant);

/// A sum of products of two tensors, each of which stands still along an axis of the result that the other moves along:
/// what a register tile can be made for.
bool isProduct(graph::ReduceOp reduce);

} // namespace kiln::schedule
