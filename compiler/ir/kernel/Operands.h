//===- Operands.h - What the values of a kernel without opts are made of ------------===//
#pragma once

#include "ir/kernel/Kernel.h"

namespace kiln::kernel {

/// Whether a value differs along an axis of the domain of a kernel without opts.
bool dependsOn(mlir::Value value, size_t axis);

/// Whether a value is computed from another, or is that one.
bool isComputedFrom(mlir::Value value, mlir::Value source);

/// The one load that a value is made of by element-wise ops; null when there are several, none, a reduce or a stage.
LoadOp onlyLoadOf(mlir::Value value);

/// The multiplication that a reduce sums up; null where it does something else, or weighs by scores.
AluOp productOf(ReduceOp reduce);

} // namespace kiln::kernel
