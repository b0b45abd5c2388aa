//===- Policies.h - The two ways to choose tensors in memory ----------------===//
#pragma once

#include "passes/schedule/Partition.h"

#include "target/Target.h"

namespace kiln::schedule {

/// tinygrad v0.9.2's rules, for the ops directly in `block`.
Partition partitionClassically(mlir::Block &block);

/// The default: from the results backwards, each tensor is computed inside the kernels that read it if that takes less
/// time than a kernel, a write and reads of its own.
Partition partitionByCost(mlir::Block &block, TargetAttr target);

/// A tensor computed by more operations than this, one inside the other, gets memory: kernels are walked recursively.
inline constexpr int kMostDepth = 1000;
/// A tensor computed from more memory than this gets memory: devices have bounded parameter lists.
inline constexpr size_t kMostSources = 64;
/// A tensor that takes more operations than these, as additions, gets memory: LLVM takes much longer for code that is
/// twice as long.
inline constexpr double kMostOperations = 500;

} // namespace kiln::schedule
