//===- Realize.h - Which tensors get memory ---------------------------------===//
//
// A kernel ends where a tensor is written to memory, so the partition of a graph into kernels is the set of tensors
// that are realized. Everything else is computed inside the kernels that read it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/graph/Graph.h"
#include "ir/host/Host.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace kiln::schedule {

/// A tensor seen through the view on an edge, if there is one.
struct Edge {
  mlir::Value base;
  view::ShapeTracker tracker; ///< from the reader's shape to the base's elements
};
Edge edgeOf(mlir::Value value);

/// The operation of this kind that makes a value; null: none.
graph::AluOp aluOf(mlir::Value value, Alu kind);

/// What is behind an operand that is itself seen through `tracker`.
Edge through(mlir::Value operand, const view::ShapeTracker &tracker);

/// Whether all operations that read a value, by itself or through views, are among these.
bool areReadersAmong(mlir::Value value, llvm::function_ref<bool(mlir::Operation *)> among);

/// Whether some of the elements may be padding, which reads nothing.
bool isMasked(const view::ShapeTracker &tracker);

/// Whether the view shows every element of its base, in order: then the base's memory is the tensor's, whatever the
/// shape.
bool isWholeInOrder(const Edge &edge);

/// The tensor in whose memory `tensor` is held: the input that an assign writes to, else itself.
mlir::Value memoryOf(mlir::Value tensor);

/// What a kernel computes of a tensor that it writes: of an assign the value, which may be a part of it.
mlir::Value writtenBy(mlir::Value tensor);

/// Whether the assign writes only what lies behind its input, which nobody reads before.
bool isAppending(graph::AssignOp assign);

/// Ops that a kernel computes; everything else is memory when a kernel reads it, or a number.
bool isComputed(mlir::Value value);

/// What an op reads when it is part of a kernel.
llvm::SmallVector<Edge> sourcesOf(mlir::Value value);

/// What leaves the block, and what ops with regions or sizes read: memory, whatever the policy.
llvm::SmallVector<Edge> rootsOf(mlir::Block &block);

/// What a kernel knows without reading memory.
bool isNumber(mlir::Value value);

/// A tensor computed by more operations than this, one inside the other, gets memory: kernels are walked recursively.
inline constexpr int kMostDepth = 1000;

/// The kernels of one block: each writes `outputs`, which share one reduce (null: none) and one iteration space.
struct KernelGroup {
  llvm::SmallVector<mlir::Value> outputs;
  graph::ReduceOp reduce;
};

/// Why the policy put a tensor where it is; the times as in host.placement.
struct Placement {
  host::Reason reason;
  int64_t insideNs = 0, ownNs = 0;
  unsigned readers = 0;
};

struct Realization {
  /// Tensors that are written by a kernel.
  llvm::SetVector<mlir::Value> realized;
  /// Of every tensor that the policy could have put elsewhere.
  llvm::DenseMap<mlir::Value, Placement> placements;
  /// In an order in which every kernel comes after those that it reads from.
  llvm::SmallVector<KernelGroup> groups;
};

/// Whether every op from `value` down to memory gives 0 for zeros, so that padding may be moved to the loads.
bool isPadSafe(mlir::Value value, const llvm::SetVector<mlir::Value> &realized);

/// Every kernel after those that it reads from, and before those that overwrite what it reads.
llvm::SmallVector<KernelGroup *> inOrder(llvm::MapVector<mlir::Value, KernelGroup> &groups);

/// The classic policy, tinygrad v0.9.2's rules, for the ops directly in `block`.
Realization realize(mlir::Block &block);

} // namespace kiln::schedule
