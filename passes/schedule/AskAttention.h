//===- AskAttention.h - Whether a kernel can hold the rows that it is to hold ----------===//
#pragma once

#include "passes/schedule/Partition.h"

#include "target/Target.h"

namespace kiln::schedule {

/// Asks for each marked attention of a block whether optimize can hold its rows in the kernel that the partition makes
/// (ir/kernel/Attention.h), and takes the marks off each for which it cannot. Returns whether there was one.
/// `isMemory` says which tensors a kernel reads from memory.
bool unmarkWhatIsNotHeld(mlir::Block &block, const Partition &partition, TargetAttr target,
                         llvm::function_ref<bool(mlir::Value)> isMemory);

} // namespace kiln::schedule
