//===- Append.h - Tensors that begin with another ----------------------------===//
#pragma once

#include "ir/graph/Graph.h"

namespace kiln::graph {

/// A concatenation as the importers write it: each part is chosen where it lies, over zeros of the whole shape.
struct Appended {
  int64_t axis;
  llvm::SmallVector<mlir::Value, 2> parts; ///< behind the first, in order
};

/// What `whole` has behind `first`, of which it is a concatenation along one axis; nullopt where it is none.
std::optional<Appended> appendedTo(mlir::Value whole, mlir::Value first);

} // namespace kiln::graph
