//===- NarrowProducts.h - Multiply in a narrower dtype ------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln::import {

/// Rounds the operands of sums of products of float32 to `dtype`, a narrower float: weights are stored so, and tensors
/// are rounded where they are read. The sums, and all other arithmetic, stay as they are. A sum of products is one
/// whose operands each stand still along an axis of the result that the other moves along, or one of a tensor and a
/// weight with each element multiplied once: memory or multipliers limit these.
void narrowProducts(mlir::ModuleOp module, mlir::Type dtype);

} // namespace kiln::import
