//===- CheckSizes.h - Check sizes inside a model that are known at run time ---===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln::import {

/// Has the run check every size of a tensor, every amount of padding and every part of an axis of @main that bounds do
/// not prove to be possible, before the op that needs it, and drops the checks that repeat others.
void checkSizes(mlir::ModuleOp module);

} // namespace kiln::import
