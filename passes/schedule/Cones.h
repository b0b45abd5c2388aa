//===- Cones.h - What an element of a tensor is computed from ---------------------------===//
#pragma once

#include "passes/schedule/Edges.h"

namespace kiln::schedule {

/// The element-wise operations an element takes, down to memory and reduces, and what these are.
struct Cone {
  double operations = 0; ///< in steps of an addition
  double choices = 0;    ///< those of them that choose between elements of one tensor by place
  int depth = 1;         ///< through reduces too
  llvm::SmallSetVector<mlir::Value, 8> sources;
};

/// The cones of a block's tensors. `realized` are those that get memory whatever their cones are.
class Cones {
public:
  Cones(mlir::Block &block, llvm::SetVector<mlir::Value> &realized) : block_(block), realized_(realized) {}

  /// Finds them all. Where one would be too deep, have too many sources or take too many operations, adds some of the
  /// tensors that it is made of to what is realized.
  void find();
  /// Of a tensor that the block computes; empty for others.
  const Cone &of(mlir::Value value) const;
  bool isHere(mlir::Value value) const { return isComputed(value) && value.getParentBlock() == &block_; }

private:
  Cone coneOf(mlir::Value value) const;
  /// Whether a condition is computed from places and numbers alone.
  bool isMadeOfPlaces(mlir::Value condition) const;
  /// The tensor whose elements a choice by place takes, as one that repeats a picture's edges does; null: it is another
  /// value. A kernel loads one element, from the chosen place.
  mlir::Value chosenFrom(mlir::Value value) const;
  bool isOneNumber(mlir::Value value) const;
  /// Whether an element takes too many operations. Those of each tensor count once.
  bool takesTooMany(mlir::Value value) const;
  /// Of the operands that are made of several tensors and are no larger than the value, realizes the one that is made
  /// of most, or the narrower tensor that it is widened from. False if no operand is such a one.
  bool realizeOperand(mlir::Value value);

  mlir::Block &block_;
  llvm::SetVector<mlir::Value> &realized_;
  llvm::DenseMap<mlir::Value, Cone> cones_;
};

} // namespace kiln::schedule
