//===- NarrowProducts.h - Multiply in a narrower dtype ------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln::import {

/// Rounds what sums of products of float32 multiply to `dtype`, a narrower float: weights are stored so, and tensors
/// where they are read. The sums, and all other arithmetic, stay as they are. A sum of products is one whose operands
/// each stand still along an axis of the result that the other moves along, or of a tensor and a weight of which each
/// element is multiplied once: what memory or multipliers limit.
void narrowProducts(mlir::ModuleOp module, mlir::Type dtype);

} // namespace kiln::import
