//===- Windows.h - The order in which sums of products want their input ------------------===//
#pragma once

#include "passes/optimize/choose/Product.h"

#include "view/Layout.h"

namespace kiln::optimize {

/// The axis of `layout`, in which `load` finds its tensor, that should be innermost for a sum of products; nullopt if
/// the tensor's layout is good enough, or no axis suits.
///   Rows of a product of matrices by instructions that add up several narrow terms at a time: the axis that they go
/// along.
///   What is not a product of matrices, as a depthwise convolution, reads each element several times, and its lanes may
/// go along several axes: one that all factors move along, so that each lane has a sum of its own.
std::optional<size_t> turnedAxis(kernel::FuncOp func, kernel::LoadOp load, const view::Layout &layout,
                                 TargetAttr target, const llvm::SmallBitVector &weights);

} // namespace kiln::optimize
