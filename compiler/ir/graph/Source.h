//===- Source.h - Where an op comes from, as its location says -----------------===//
//
// An op's location names the source node that it came from and, where the op makes what the node gives, the model's
// name of that tensor: loc("conv1"("y")). A view that stands for movement of several nodes names them all, fused. An op
// that has taken in what followed a tensor, as weights take in the factor of a batch norm, names that tensor as folded,
// loc("conv1"(fused<"folded">["y"])): its own elements are others.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include "llvm/ADT/SmallVector.h"

namespace kiln::graph {

struct Source {
  mlir::StringAttr node;
  mlir::StringAttr tensor; ///< null where the op makes only a part of what the node gives, or the node's name says it
};

mlir::Location locationOf(Source source, llvm::ArrayRef<mlir::StringAttr> folded = {});

/// The model's names of what was computed before something that followed was folded into the op.
llvm::SmallVector<mlir::StringAttr, 1> foldedOf(mlir::Location location);

/// The nodes of a location, the nearest to memory first; none where it names no node.
llvm::SmallVector<Source, 1> sourcesOf(mlir::Location location);

/// The location of movement `behind` that is folded into a view from `before`. Of a long chain the first few nodes are
/// kept.
mlir::Location foldLocations(mlir::Location before, mlir::Location behind);

} // namespace kiln::graph
