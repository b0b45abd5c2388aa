#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln::import {

/// Raises the defaults of open sizes until the checks of a model hold, if it can: --random, --bench and estimates take
/// these sizes. A symbol without a default of its own has 1, which no large window fits. Needs what checkSizes adds.
void raiseDefaults(mlir::ModuleOp module);

} // namespace kiln::import
