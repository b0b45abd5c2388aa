//===- ModelCost.h - A kernel's computation, and its expected time ----------------===//
#pragma once

#include "ir/base/Target.h"
#include "ir/kernel/Kernel.h"

namespace kiln::lower {

/// For one launch, whatever its opts are. Ops that only tell where an element is, or whether it exists, do not count.
struct ModelCost {
  view::Expr operations;  ///< each once for every point of its value, a step of a sum too
  view::Expr picoseconds; ///< by the device's rates, and those of its caches
};
ModelCost modelCostOf(kernel::FuncOp func, TargetAttr target);

} // namespace kiln::lower
