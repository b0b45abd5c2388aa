//===- OutputRank.h - Outputs whose rank a run decides --------------------------===//
//
// A tensor has one rank, but the branches of an If can give an output of the model different ones. Its tensor then has
// the largest of these ranks. The output's own axes come first; the others, of size 1, come after them. A symbol, which
// the program binds as it does a size, says how many axes the output has. The program tells the runtime by the output's
// sizes: -1 stands for an axis that is not there.
//
//===------------------------------------------------------------------------===//
#pragma once

#include "ir/base/Base.h"

namespace kiln {

/// Of a result of the graph's main, as an #kiln.expr: how many axes the output has. Without it, as many as the tensor.
inline constexpr llvm::StringLiteral kRankAttr = "graph.rank";

/// Of a host program: for each output, how many of its last axes a run may leave out. Without it, none.
inline constexpr llvm::StringLiteral kOptionalAxesAttr = "host.optional_axes";

/// The sizes by which a program asks for an output's memory: those of its tensor, -1 for an axis that is not there. A
/// null rank leaves none out.
inline view::Shape outputSizes(view::Shape shape, ExprAttr rank) {
  if (rank)
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      view::Expr isThere = view::minimum(view::maximum(rank.getValue() - int64_t(axis), 0), 1);
      shape[axis] = (shape[axis] + 1) * isThere - 1;
    }
  return shape;
}

} // namespace kiln
