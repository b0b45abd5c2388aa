//===- Partition.h - The kernels of a block and the tensors in memory -------===//
//
// A kernel ends where a tensor is written to memory, so the partition of a graph into kernels is the set of tensors
// that are realized. Everything else is computed inside the kernels that read it. Two policies (Policies.h) choose the
// set and say why.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "passes/schedule/Edges.h"

#include "ir/host/Host.h"

#include "llvm/ADT/MapVector.h"

namespace kiln::schedule {

/// The kernels of one block: each writes `outputs`, which share one reduce (null: none) and one iteration space.
struct KernelGroup {
  llvm::SmallVector<mlir::Value> outputs;
  graph::ReduceOp reduce;
};

/// The policy's reason for a tensor's place; the times as in host.placement.
struct Placement {
  host::Reason reason;
  int64_t insideNs = 0, ownNs = 0;
  unsigned readers = 0;
};

struct Partition {
  /// Tensors that are written by a kernel.
  llvm::SetVector<mlir::Value> realized;
  /// For every tensor that the policy could have put elsewhere.
  llvm::DenseMap<mlir::Value, Placement> placements;
  /// In an order in which every kernel comes after those that it reads from.
  llvm::SmallVector<KernelGroup> groups;
};

/// Every kernel after those that it reads from, and before those that overwrite what it reads.
llvm::SmallVector<KernelGroup *> inOrder(llvm::MapVector<mlir::Value, KernelGroup> &groups);

} // namespace kiln::schedule
