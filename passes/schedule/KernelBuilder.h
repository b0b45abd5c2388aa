//===- KernelBuilder.h - Write one kernel for a group of tensors ----------------===//
#pragma once

#include "passes/schedule/Partition.h"

#include "ir/kernel/Kernel.h"

namespace kiln::schedule {

/// A kernel and its buffer arguments: the group's outputs, then the tensors that it reads.
struct BuiltKernel {
  kernel::FuncOp func;
  llvm::SmallVector<mlir::Value> buffers;
};

/// Writes the kernel of `group` at the builder's insertion point, named "kernel". `isMemory` says which tensors a
/// kernel may read from memory; all others are computed in it.
BuiltKernel buildKernel(mlir::OpBuilder &builder, const KernelGroup &group,
                        llvm::function_ref<bool(mlir::Value)> isMemory, bool classic);

} // namespace kiln::schedule
