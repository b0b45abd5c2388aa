//===- Append.h - Tensors that begin with another ----------------------------===//
#pragma once

#include "ir/graph/Graph.h"

namespace kiln::graph {

/// The axis along which `whole` is `first` with more behind it, each element of `first` where it is there; nullopt
/// where that is not so, or cannot be seen. `whole` may be a concatenation, or several of parts of `first` that are
/// stacked, with axes turned on the way.
std::optional<int64_t> appendedAxis(mlir::Value whole, mlir::Value first);

/// The elements [begin, end) of a tensor, taken from as far back as they are somewhere whole: of a concatenation only
/// those tensors that have some of them.
mlir::Value partOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value whole, const view::Shape &begin,
                   const view::Shape &end);

} // namespace kiln::graph
