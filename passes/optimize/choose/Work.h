//===- Work.h - The rough time of a kernel ------------------------------------------===//
#pragma once

#include "ir/kernel/Kernel.h"
#include "target/Target.h"

#include "llvm/ADT/SmallBitVector.h"

namespace kiln::optimize {

/// A size, or a number of elements, with unknown ones at their least, but not at 0.
int64_t leastOf(view::Expr size);

/// The time of one op of a kernel without opts on one core.
struct Work {
  mlir::Operation *op;
  llvm::SmallBitVector axes; ///< of the domain: it is done once for each of their points
  double nanoseconds;
};
llvm::SmallVector<Work> workOf(kernel::FuncOp func, TargetAttr target);

/// Nanoseconds on one core, good enough to tell whether a kernel is worth sharing out: each op once for every point of
/// the axes that it depends on, each element read and written once. An axis of unknown size counts with a typical one.
/// For a kernel without opts.
double nanosecondsOf(kernel::FuncOp func, TargetAttr target);

} // namespace kiln::optimize
