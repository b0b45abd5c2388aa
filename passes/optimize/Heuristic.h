//===- Heuristic.h - Choose opts from a kernel's structure ---------------------------===//
#pragma once

#include "ir/kernel/Kernel.h"
#include "target/Target.h"

namespace kiln::optimize {

/// A good first list of opts for a kernel, from how its operands move along its axes; it may be empty.
llvm::SmallVector<kernel::OptAttr> chooseOpts(kernel::FuncOp func, const target::Target &target);

} // namespace kiln::optimize
