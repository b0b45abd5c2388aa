//===- Groups.h - How a device of groups and items walks a kernel ---------------------===//
#pragma once

#include "ir/base/Target.h"
#include "ir/kernel/Kernel.h"

namespace kiln::optimize {

/// The opts that give a kernel's points to groups and items. `unrolled`: axes that have had theirs.
llvm::SmallVector<kernel::OptAttr> chooseGroups(kernel::FuncOp func, TargetAttr target,
                                                llvm::ArrayRef<size_t> unrolled);

} // namespace kiln::optimize
