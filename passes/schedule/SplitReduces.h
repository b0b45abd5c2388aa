//===- SplitReduces.h - Large reduces in two steps --------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln::schedule {

/// If a reduce combines at least 32768 elements into one, splits off part of one of its axes: a first reduce keeps that
/// part, a second combines it. tinygrad v0.9.2's choice of axis and part. The tensor between them goes through memory
/// if `writes`, else as the schedule decides.
void splitReduces(mlir::func::FuncOp main, bool writes);

} // namespace kiln::schedule
