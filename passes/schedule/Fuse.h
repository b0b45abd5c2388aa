//===- Fuse.h - Which tensors get memory, by what it costs -----------------------===//
#pragma once

#include "passes/schedule/Realize.h"

#include "target/Target.h"

namespace kiln::schedule {

/// The default policy: from the results backwards, each tensor is computed inside the kernels that read it where that
/// takes less time than a kernel, a write and reads of its own.
Realization fuse(mlir::Block &block, TargetAttr target);

/// What a sum of products multiplies: a tensor and a constant, or two tensors, and how.
enum class Multiplied {
  Wide,     ///< in the sum's dtype
  Matrices, ///< in a narrower dtype, whose matrices an instruction multiplies
  Once      ///< each element of a constant, which was widened, by one of a tensor: as long as it takes to read it
};
Multiplied multipliedBy(graph::ReduceOp reduce, TargetAttr target, llvm::function_ref<bool(mlir::Value)> isConstant);

/// A sum of products of two tensors, each of which stands still along an axis of the result that the other moves along:
/// what a register tile can be made for.
bool isProduct(graph::ReduceOp reduce);

} // namespace kiln::schedule
