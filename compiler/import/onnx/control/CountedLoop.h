//===- CountedLoop.h - A graph.loop whose body is made by a function --------===//
#pragma once

#include "import/onnx/Node.h"

namespace kiln::import::onnx {

/// The arguments of an iteration.
struct Iteration {
  Expr index;         ///< its number from 0 on, as a size: a slice at it is a view
  mlir::Value number; ///< the same as data, an int64 scalar
  llvm::ArrayRef<mlir::Value> carried;
};

/// Its results: the carried tensors for the next one, of the same types, and one slice for each stacked result.
/// `goesOn`, a bool scalar, says whether there is a next one; null: always. With it there are no stacked results.
struct IterationResult {
  llvm::SmallVector<mlir::Value> carried, slices;
  mlir::Value goesOn = {};
};

/// `trips` iterations at most; no loop if that is one. Returns the carried tensors after the last, then the stacked
/// slices, [trips, …]; nothing after a failure, which is noted.
llvm::SmallVector<mlir::Value> countedLoop(Node &node, Expr trips, llvm::ArrayRef<mlir::Value> inits,
                                           llvm::function_ref<IterationResult(const Iteration &)> body);

} // namespace kiln::import::onnx
