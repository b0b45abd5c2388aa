//===- Append.h - Tensors that begin with another ----------------------------===//
#pragma once

#include "ir/graph/Graph.h"

namespace kiln::graph {

/// The axis along which `whole` is `first` followed by more, each element of `first` at its place; nullopt if that is
/// not so, or cannot be seen. `whole` may be a concatenation, or several of parts of `first` that are stacked, with
/// axes turned on the way.
std::optional<int64_t> appendedAxis(mlir::Value whole, mlir::Value first);

/// The elements [begin, end) of a tensor, taken from the earliest tensors that hold them: from a concatenation only
/// those parts that have some of them.
mlir::Value partOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value whole, const view::Shape &begin,
                   const view::Shape &end);

} // namespace kiln::graph
