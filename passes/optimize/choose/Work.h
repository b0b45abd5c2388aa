//===- Work.h - How long a kernel takes, roughly ------------------------------------===//
#pragma once

#include "ir/kernel/Kernel.h"
#include "target/Target.h"

#include "llvm/ADT/SmallBitVector.h"

namespace kiln::optimize {

/// A size, or a number of elements, with those that are not known at their least, but not at 0.
int64_t leastOf(view::Expr size);

/// What one op of a kernel without opts takes on one core.
struct Work {
  mlir::Operation *op;
  llvm::SmallBitVector axes; ///< of the domain, that it depends on: it is done once for each of their points
  double nanoseconds;
};
llvm::SmallVector<Work> workOf(kernel::FuncOp func, TargetAttr target);

/// Nanoseconds on one core, good for telling a kernel worth sharing out from one that is not: each op once for every
/// point of the axes that it depends on, each element read and written once. An axis of unknown size counts with
/// a typical one. For a kernel without opts.
double nanosecondsOf(kernel::FuncOp func, TargetAttr target);

} // namespace kiln::optimize
