//===- Edges.h - The graph as a kernel reads it -----------------------------===//
//
// To the scheduler a graph is tensors that are computed and edges that lead to them: an operand with the view that it
// is seen through. This file answers the questions of every step of the stage about them: where an edge leads, what is
// computed, what is memory or a number, and what reads it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/graph/Graph.h"

#include "llvm/ADT/SetVector.h"

namespace kiln::schedule {

/// A tensor seen through the view on an edge, if there is one.
struct Edge {
  mlir::Value base;
  view::ShapeTracker tracker; ///< from the reader's shape to the base's elements
};
Edge edgeOf(mlir::Value value);
/// Whether an edge reads all of its base, in the base's own shape.
bool isWhole(const Edge &edge);

/// The operation of this kind that makes a value; null: none.
graph::AluOp aluOf(mlir::Value value, Alu kind);

/// The base of an operand that is itself seen through `tracker`.
Edge through(mlir::Value operand, const view::ShapeTracker &tracker);

/// Whether all operations that read a value, by itself or through views, are among these.
bool areReadersAmong(mlir::Value value, llvm::function_ref<bool(mlir::Operation *)> among);

/// Whether the view shows every element of its base, in order: then the base's memory is the tensor's, whatever the
/// shape.
bool isWholeInOrder(const Edge &edge);

/// The tensor in whose memory `tensor` is held: the input that an assign writes to, else itself.
mlir::Value memoryOf(mlir::Value tensor);

/// The value of a written tensor that a kernel computes: for an assign the assigned value, which may be a part of it.
mlir::Value writtenBy(mlir::Value tensor);

/// Whether the assign writes only after its input's elements, which nobody reads before.
bool isAppending(graph::AssignOp assign);

/// Ops that a kernel computes; everything else is memory when a kernel reads it, or a number.
bool isComputed(mlir::Value value);

/// The operands of an op that is part of a kernel.
llvm::SmallVector<Edge> sourcesOf(mlir::Value value);

/// Values that leave the block, and those that ops with regions or sizes read: memory, whatever the policy.
llvm::SmallVector<Edge> rootsOf(mlir::Block &block);

/// Values that a kernel knows without reading memory.
bool isNumber(mlir::Value value);

/// The number that all elements have which are seen through an edge; null if there is no such number, as where padding
/// lies around it.
graph::ConstOp numberThroughout(const Edge &edge);

/// Whether every op from `value` down to memory gives 0 for zeros, so that padding may be moved to the loads.
bool isPadSafe(mlir::Value value, llvm::function_ref<bool(mlir::Value)> isMemory);

} // namespace kiln::schedule
