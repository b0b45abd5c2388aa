//===- ScoreSums.h - Attention in one walk ----------------------------------===//
#pragma once

#include "target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln::schedule {

/// Sums over a softmax of products, as attention's are, become scored sums if computing the scores a second time, in
/// the sum's own loops and without a register tile, takes less time than moving them through memory.
void scoreSums(mlir::func::FuncOp main, RatesAttr rates);

} // namespace kiln::schedule
