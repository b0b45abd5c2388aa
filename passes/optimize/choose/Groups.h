//===- Groups.h - How a device of groups and items walks a kernel ---------------------===//
#pragma once

#include "ir/base/Target.h"
#include "ir/kernel/Kernel.h"

namespace kiln::optimize {

/// Appends to `opts`, of which the axes `unrolled` have had theirs, those that give a kernel's points to groups and
/// items.
void chooseGroups(kernel::FuncOp func, TargetAttr target, llvm::ArrayRef<size_t> unrolled,
                  llvm::SmallVectorImpl<kernel::OptAttr> &opts);

} // namespace kiln::optimize
