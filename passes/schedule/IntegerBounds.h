//===- IntegerBounds.h - The numbers that integers of a graph may be ----------===//
#pragma once

#include "ir/graph/Graph.h"

#include "llvm/IR/ConstantRange.h"

#include <optional>

namespace kiln::schedule {

/// From one number to another, both included. All ranges here are of 64 bits, which sums and products of 32 bits fit.
llvm::ConstantRange between(int64_t min, int64_t max);

/// The numbers of a dtype; nullopt: it is not one of integers of at most 32 bits.
std::optional<llvm::ConstantRange> boundsOf(mlir::Type element);
/// The bounds of a tensor's elements, as its last operations prove them; nullopt if its dtype has none.
std::optional<llvm::ConstantRange> boundsOf(mlir::Value tensor);
/// The bounds of an operation's results; nullopt: not known, or one may wrap around in its dtype.
std::optional<llvm::ConstantRange> exactBoundsOf(graph::AluOp alu);

/// An integer of at most 64 bits, as its dtype says whether it is below 0.
int64_t numberOf(mlir::IntegerAttr number);

} // namespace kiln::schedule
