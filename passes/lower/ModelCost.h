//===- ModelCost.h - What a kernel computes, and what that should take ------------===//
#pragma once

#include "ir/base/Target.h"
#include "ir/kernel/Kernel.h"

namespace kiln::lower {

/// Of one launch, whatever its opts are. What only says where an element is, or whether there is one, does not count.
struct ModelCost {
  view::Expr operations;  ///< each once for every point that its value has, a step of a sum too
  view::Expr picoseconds; ///< by the device's rates, those by which the schedule chose the kernel
};
ModelCost modelCostOf(kernel::FuncOp func, TargetAttr target);

} // namespace kiln::lower
