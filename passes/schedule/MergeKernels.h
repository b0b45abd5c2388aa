//===- MergeKernels.h - Kernels that walk the same memory together ----------------===//
#pragma once

#include "passes/schedule/Partition.h"

namespace kiln::schedule {

/// Puts kernels of one iteration space that read the same tensor, and do not wait for each other, into one: the tensor
/// is read once. What only such a kernel reads, and costs alone gave memory, it computes itself. `groups` is keyed by
/// its first output; merged groups go.
void mergeKernels(llvm::MapVector<mlir::Value, KernelGroup> &groups, Partition &partition);

} // namespace kiln::schedule
