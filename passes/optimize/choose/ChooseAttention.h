//===- ChooseAttention.h - How a kernel that holds rows of scores is walked -----------===//
#pragma once

#include "ir/base/Target.h"
#include "ir/kernel/Kernel.h"

namespace kiln::optimize {

struct AttentionOpts {
  llvm::SmallVector<kernel::OptAttr> opts;
  llvm::SmallVector<size_t> around; ///< axes of the domain whose loops stand around a block, the axis of rows last
  int64_t blocks;                   ///< of rows; -1: only the run knows how many
  bool isPacked;                    ///< rows are packed for whole blocks, so that nothing past the last block is read
};

/// For a kernel that the schedule has hold rows of scores (ir/kernel/Attention.h): a block of these rows is held in
/// memory, then one of their exponentials, each walked with a register tile of its own. nullopt for other kernels.
std::optional<AttentionOpts> chooseAttention(kernel::FuncOp func, TargetAttr target);

} // namespace kiln::optimize
