//===- Movement.h - Movement ops as views --------------------------------------===//
#pragma once

#include "ir/graph/Graph.h"
#include "view/ShapeTracker.h"

namespace kiln::graph {

/// The tracker of a movement op's result over the tensor that its input is `from` of; nullopt for any other op.
std::optional<view::ShapeTracker> movedBy(mlir::Operation *op, const view::ShapeTracker &from);

} // namespace kiln::graph
