//===- Cuts.h - Choose the axes along which a launch is cut into chunks ---------------===//
#pragma once

#include "ir/kernel/Kernel.h"
#include "target/Target.h"

#include "llvm/ADT/SmallBitVector.h"

namespace kiln::optimize {

/// A remaining loop over an axis of the domain: `count` steps, to be cut into `least` parts or more, all of one size if
/// `evenly`.
struct CutAxis {
  size_t axis;
  int64_t count, least = 1;
  bool evenly = false;
};

/// `parts` chunks along an axis, all of the same number of steps except the last.
struct Cut {
  size_t axis;
  int64_t parts;
};

/// The cuts of a kernel without opts with which it takes the least time on any number of threads; none if it is too
/// short, or `most` chunks are too few. `axes`: those that may be cut, in loop order; `most`: chunks; `weights`:
/// buffers that are the same in every run; `open`: how many chunks each axis of the domain is cut into anyway, if only
/// a run knows. Cuts are those of one of them, as there may be no more.
llvm::SmallVector<Cut, 2> chooseCuts(kernel::FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights,
                                     llvm::ArrayRef<CutAxis> axes, int64_t most, llvm::ArrayRef<double> open = {});

} // namespace kiln::optimize
