//===- RowStages.h - Values of a row that several walks of it need -------------------===//
#pragma once

#include "passes/optimize/choose/Trial.h"

#include "ir/base/Target.h"
#include "ir/kernel/Kernel.h"

#include <optional>

namespace kiln::optimize {

/// The walk of a kernel that holds values of a row.
struct RowStages {
  Trial trial;
  size_t rows;    ///< the axis of the domain that counts the rows
  int64_t blocks; ///< of rows; -1: not known
};

/// For a kernel that walks rows several times, once for a sum over them and again for its stores, and would compute a
/// value in each of these walks: the value is held in memory if that takes less time (target::paysToHold), so that it
/// is computed once. `trial` has the existing opts, and `loopOf` says which loop they have left of an axis. nullopt for
/// other kernels and if that does not fit.
std::optional<RowStages> chooseRowStages(kernel::FuncOp func, TargetAttr target, Trial trial,
                                         llvm::function_ref<int64_t(size_t)> loopOf);

} // namespace kiln::optimize
