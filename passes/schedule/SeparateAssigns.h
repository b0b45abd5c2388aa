//===- SeparateAssigns.h - Copy tensors that are overwritten too early ------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln::schedule {

/// Afterwards every kernel that reads an input which is assigned to can run before the kernel that overwrites it, and
/// that one reads each element at most where it writes it. An error if an input may not be written.
mlir::LogicalResult separateAssigns(mlir::func::FuncOp main);

} // namespace kiln::schedule
