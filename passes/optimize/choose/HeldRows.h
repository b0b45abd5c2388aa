//===- HeldRows.h - Two products with a softmax between them --------------------------===//
#pragma once

#include "ir/base/Target.h"
#include "ir/kernel/Kernel.h"

namespace kiln::optimize {

/// How a kernel is walked that holds rows of scores.
struct HeldRows {
  llvm::SmallVector<kernel::OptAttr> opts;
  size_t rows, columns; ///< axes of the domain: of the rows, and of the result's columns
  int64_t blocks;       ///< of rows; -1: only the run knows how many
  bool isPacked;        ///< rows are packed for whole blocks, so that nothing past the last block can be read
};

/// For a kernel that sums up products with what is computed from rows of scores, themselves sums of products and read
/// by several reduces: a block of rows of scores is held in memory, then one of their exponentials, each walked with a
/// register tile of its own. nullopt for other kernels and where that does not fit.
std::optional<HeldRows> chooseHeldRows(kernel::FuncOp func, TargetAttr target);

} // namespace kiln::optimize
