//===- Heuristic.h - Choose opts from a kernel's structure ---------------------------===//
#pragma once

#include "ir/kernel/Kernel.h"
#include "target/Target.h"

#include "llvm/ADT/SmallBitVector.h"

namespace kiln::optimize {

/// A good first list of opts for a kernel, from how its operands move along its axes; it may be empty. `weights` says
/// which of its buffers are the same in every run, so that they can be packed before.
llvm::SmallVector<kernel::OptAttr> chooseOpts(kernel::FuncOp func, TargetAttr target,
                                              const llvm::SmallBitVector &weights);

} // namespace kiln::optimize
