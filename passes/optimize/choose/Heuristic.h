//===- Heuristic.h - Choose opts from a kernel's structure ---------------------------===//
#pragma once

#include "passes/optimize/choose/Trial.h"

#include "ir/host/Host.h"
#include "ir/kernel/Kernel.h"
#include "target/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringMap.h"

namespace kiln::optimize {

/// So many rows of a product are worth the time of copying a panel of columns. If their number is known only at run
/// time, fewer are not computed line by line: chunks are then as wide as one row wants them.
inline constexpr int64_t kManyRows = 32, kManyUnknownRows = 16;
/// So many rows have enough work with a part of each line while the next tile's parts come.
inline constexpr int64_t kFewestWideRows = 4;
/// So many rows pay for packing columns that are no weight for matrices and dots.
inline constexpr int64_t kFewestPackedRows = 4;

/// A copy of a kernel with a good first list of opts, from how its operands move along its axes; it may be empty. If it
/// does not fit, which is a bug of kiln, opts are left out from the first that does not. `weights` says which of its
/// buffers are the same in every run, so that they can be packed before.
Trial chooseOpts(kernel::FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights);

/// Whether few rows of a product there read columns in place: line by line, or by tiles that prefetch the next.
bool readsAsTheyLie(kernel::FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights);

/// Which of a launch's buffers are weights.
llvm::SmallBitVector weightsOf(host::LaunchOp launch);
/// For each kernel, which of its buffers are weights wherever it is launched.
llvm::StringMap<llvm::SmallBitVector> weightsOf(mlir::ModuleOp module);

} // namespace kiln::optimize
