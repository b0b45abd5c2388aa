//===- Operands.h - What the values of a kernel without opts are made of ------------===//
#pragma once

#include "ir/kernel/Kernel.h"

namespace kiln::kernel {

/// Whether a value differs along an axis of the domain of a kernel without opts.
bool dependsOn(mlir::Value value, size_t axis);

/// Whether a value is computed from another, or is that one.
bool isComputedFrom(mlir::Value value, mlir::Value source);

} // namespace kiln::kernel
