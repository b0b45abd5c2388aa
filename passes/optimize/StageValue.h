//===- StageValue.h - Give a value of a kernel memory of its own ---------------------===//
#pragma once

#include "ir/base/Target.h"
#include "ir/kernel/Walk.h"

#include "llvm/Support/Error.h"

namespace kiln::optimize {

/// The opt STAGE: holds a value that `walk` computes inside the opt's axis, or outside all axes if that is -1; for an
/// output's buffer, the running totals of its reduce. A value held outside all axes is laid out in the target's panels.
/// An error says why the kernel cannot do so.
llvm::Error stageValue(kernel::FuncOp func, kernel::OptAttr opt, const kernel::Walk &walk, TargetAttr target);

/// Whether the kernel has a buffer of this number, as opts name them.
llvm::Error checkBuffer(kernel::FuncOp func, int64_t number);

/// An id that no loop axis of the kernel has, nor any greater one.
int64_t freshAxis(kernel::FuncOp func);

} // namespace kiln::optimize
