//===- Source.h - The source of an op, in its location -------------------------===//
//
// An op's location names its source node and, if the op makes the node's result, the model's name of that tensor:
// loc("conv1"("y")). A view that combines movement of several nodes names them all, fused. An op that has taken in ops
// after a tensor, as weights take in the factor of a batch norm, names that tensor as folded,
// loc("conv1"(fused<"folded">["y"])): its own elements differ from that tensor's.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include "llvm/ADT/SmallVector.h"

namespace kiln::graph {

struct Source {
  mlir::StringAttr node;
  mlir::StringAttr tensor; ///< null if the op makes only a part of the node's result, or the node's name says it
};

mlir::Location locationOf(Source source, llvm::ArrayRef<mlir::StringAttr> folded = {});

/// The model's names of tensors that lost their own values when ops after them were folded into the op.
llvm::SmallVector<mlir::StringAttr, 1> foldedOf(mlir::Location location);

/// The nodes of a location, the nearest to memory first; none if it names no node.
llvm::SmallVector<Source, 1> sourcesOf(mlir::Location location);

/// The location of a movement that is folded into the view before it, which has the location `before`. For a long chain
/// the first few nodes are kept.
mlir::Location foldLocations(mlir::Location before, mlir::Location behind);

} // namespace kiln::graph
