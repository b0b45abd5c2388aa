//===- GroupSize.h - What the groups of a kernel take of a device ----------------------===//
#pragma once

#include "ir/kernel/Kernel.h"

namespace kiln::optimize {

/// What one group has: `items`, and `bytes` of local memory, which stages and the exchange of totals take.
struct GroupSize {
  int64_t items = 1, bytes = 0;
};

/// Of a kernel with opts.
GroupSize groupSizeOf(kernel::FuncOp func);

} // namespace kiln::optimize
