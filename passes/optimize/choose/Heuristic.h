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

/// So many rows of a product are worth the time in which a panel of columns is copied. Where only the run knows how
/// many there are, fewer do not pass line by line: chunks are then as wide as one row wants them.
inline constexpr int64_t kManyRows = 32, kManyUnknownRows = 16;
/// So many rows have enough work with a part of each line for the next tile's parts to come meanwhile.
inline constexpr int64_t kFewestWideRows = 4;

/// A copy of a kernel with a good first list of opts, from how its operands move along its axes; it may be empty.
/// Where it does not fit, which is a bug of kiln, opts are left out from the first that does not. `weights` says which
/// of its buffers are the same in every run, so that they can be packed before.
Trial chooseOpts(kernel::FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights);

/// Whether that has few rows of a product read columns as they lie: line by line, or by tiles that ask for the next.
bool readsAsTheyLie(kernel::FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights);

/// Which of a launch's buffers are weights.
llvm::SmallBitVector weightsOf(host::LaunchOp launch);
/// For each kernel, which of its buffers are weights wherever it is launched.
llvm::StringMap<llvm::SmallBitVector> weightsOf(mlir::ModuleOp module);

} // namespace kiln::optimize
