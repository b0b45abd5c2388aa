//===- Windows.h - The order in which windows over single channels want their input ------===//
#pragma once

#include "passes/optimize/choose/Product.h"

#include "view/Layout.h"

namespace kiln::optimize {

/// A sum of products that is not a product of matrices, as a depthwise convolution's: it reads each element several
/// times, and its lanes may go along several axes. Returns the axis of `layout`, in which `load` finds its tensor, that
/// should be innermost so that lanes are contiguous: one that all factors move along, so that each lane has a sum of
/// its own. nullopt if lanes do well enough with the tensor's layout, or no axis suits.
std::optional<size_t> turnedAxis(kernel::FuncOp func, kernel::LoadOp load, const view::Layout &layout,
                                 TargetAttr target, const llvm::SmallBitVector &weights);

} // namespace kiln::optimize
