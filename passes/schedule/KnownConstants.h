//===- KnownConstants.h - Tensors that are known at compile time -----------------===//
#pragma once

#include "passes/schedule/Edges.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace kiln::schedule {

/// Whether IEEE 754 or the row's definition leaves one result. Mathematical functions come from the machine's library,
/// which may choose among several by the CPU that it finds.
bool isExact(Alu kind);

/// The tensors that are computed only from weights and numbers, at fixed sizes, by exact rows.
class KnownConstants {
public:
  explicit KnownConstants(mlir::func::FuncOp main);

  /// For the tensor that an edge leads to.
  bool contains(mlir::Value base) const {
    return values_.contains(base) || base.getDefiningOp<graph::ConstOp>() != nullptr;
  }
  /// For a tensor, also through a view. The view may have symbolic sizes.
  bool isConstant(mlir::Value tensor) const { return contains(edgeOf(tensor).base); }
  /// Notes an op that was made since; whether its result is constant. A number always is.
  bool add(mlir::Operation *op);
  /// Erases the op if nothing reads it any more; returns the ops whose results it read.
  llvm::SmallVector<mlir::Operation *> eraseIfDead(mlir::Operation *op);

private:
  llvm::DenseSet<mlir::Value> values_;
};

/// Whether the map has no symbols.
bool isFixed(const view::ShapeTracker &tracker);

/// The value of an edge, as a tensor: its base, a number, or a view.
mlir::Value tensorOf(mlir::OpBuilder &builder, mlir::Location loc, const Edge &edge);

/// The product of a sum's result and `factors`, which are given from the shape of the sum's input and stand still along
/// the summed axes.
mlir::Value multipliedAfter(mlir::OpBuilder &builder, graph::ReduceOp sum, mlir::Value result,
                            llvm::ArrayRef<Edge> factors);

/// A result of floats that `sum` was rewritten to and that may be NaN for an empty sum, as there is no largest score
/// then, nor a share of the total: 0 there, as the sum is. `result` if the sum has terms wherever the result has
/// elements.
mlir::Value zeroWhereEmpty(mlir::OpBuilder &builder, graph::ReduceOp sum, mlir::Value result);

/// Has every reader of `tensor` read through `edge`; a view of it becomes a view of the edge's base.
void replaceByEdge(mlir::Value tensor, const Edge &edge);

/// An element-wise row on constants, which are seen through trackers of one shape, computed only at the points at which
/// one of them moves; a number if all operands are. Returns the result as it is seen from that shape. nullopt if the
/// remaining sizes are not fixed, or there are no elements. `made`: the new op.
std::optional<Edge> computeOnce(mlir::OpBuilder &builder, mlir::Location loc, Alu kind, llvm::ArrayRef<Edge> operands,
                                mlir::Type element, mlir::Operation *&made);

/// `tracker` and `through` have one shape, and `through` leads to all elements of `base`. The tracker over `base`
/// that gives for each element the element of `tracker` at a place where `through` leads to it; nullopt if there is
/// none.
std::optional<view::ShapeTracker> pullBack(const view::ShapeTracker &tracker, const view::ShapeTracker &through,
                                           llvm::ArrayRef<view::Expr> base);

/// The axes that an edge moves along; none for a number.
llvm::SmallBitVector movesOf(const Edge &edge);

/// Bytes of a tensor of fixed sizes in a package.
int64_t packedBytes(mlir::Value tensor);

/// Whether a tensor has the same contents as another one, in more bytes.
bool isWidened(mlir::Value tensor);

} // namespace kiln::schedule
