//===- RowStages.h - Values of a row that several walks of it need -------------------===//
#pragma once

#include "passes/optimize/choose/Trial.h"

#include "ir/base/Target.h"
#include "ir/kernel/Kernel.h"

#include <optional>

namespace kiln::optimize {

/// How a kernel is walked that holds values of a row.
struct RowStages {
  Trial trial;
  size_t rows;    ///< the axis of the domain along which rows lie
  int64_t blocks; ///< of rows; -1: not known
};

/// For a kernel that walks rows several times, once for a sum over them and again for what it stores, and would compute
/// a value in each of these walks: the value is held in memory where that takes less time (target::paysToHold), so that
/// it is computed once. `trial` has the opts that there are already, and `loopOf` says which loop they have left of an
/// axis. nullopt for other kernels and where that does not fit.
std::optional<RowStages> chooseRowStages(kernel::FuncOp func, TargetAttr target, Trial trial,
                                         llvm::function_ref<int64_t(size_t)> loopOf);

} // namespace kiln::optimize
