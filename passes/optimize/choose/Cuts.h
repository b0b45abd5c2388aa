//===- Cuts.h - Along which axes a launch is cut into chunks --------------------------===//
#pragma once

#include "ir/kernel/Kernel.h"
#include "target/Target.h"

#include "llvm/ADT/SmallBitVector.h"

namespace kiln::optimize {

/// A loop that is left of an axis of the domain: `count` steps, which are to be cut into `least` parts or more, all of
/// one size where `evenly`.
struct CutAxis {
  size_t axis;
  int64_t count, least = 1;
  bool evenly = false;
};

/// `parts` chunks along an axis, of the same number of steps but for the last.
struct Cut {
  size_t axis;
  int64_t parts;
};

/// The cuts of a kernel without opts with which it takes the least time on whatever number of threads there turn out to
/// be; none where it is too short, or `most` chunks are too few. `axes`: what may be cut, in loop order; `most`:
/// chunks; `weights`: buffers that are the same in every run.
llvm::SmallVector<Cut, 2> chooseCuts(kernel::FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights,
                                     llvm::ArrayRef<CutAxis> axes, int64_t most);

} // namespace kiln::optimize
