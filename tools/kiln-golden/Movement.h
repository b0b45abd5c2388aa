//===- Movement.h - Views and movements as the data write them -----------===//
#pragma once

#include "tools/kiln-golden/Report.h"
#include "view/ShapeTracker.h"

namespace kiln::golden {

view::Shape toShape(const Json &numbers);
llvm::SmallVector<view::Range, 4> toRanges(const Json &pairs);

/// Whether kiln's view has the reference's shape, strides, offset and mask.
bool isSameMap(const view::View &view, const Json &reference);

/// `st` after one movement: reshape, permute, expand, pad, shrink, flip, stride. nullopt, with a mismatch, for any
/// other.
std::optional<view::ShapeTracker> applyMovement(const view::ShapeTracker &st, const std::string &name, const Json &arg,
                                                Report &report);

} // namespace kiln::golden
