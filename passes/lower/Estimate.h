//===- Estimate.h - The cost of one launch, as tinygrad counts it ------------===//
#pragma once

#include "ir/kernel/Kernel.h"
#include "ir/uop/UOp.h"

namespace kiln::lower {

/// How often ranges run if their end is neither a constant nor a size.
using TripCounts = llvm::DenseMap<mlir::Operation *, view::Expr>;

/// Arithmetic operations of a whole launch: every ALU op times the trip counts around it, a multiply-add twice; ops
/// that feed an address are left out, those that feed a gate alone are not.
view::Expr countOperations(uop::FuncOp func, const TripCounts &trips);

/// Bytes of the buffers that a launch touches: for each run of neighbouring loads and stores of one buffer (from the
/// stores down, each once) the elements that its widest view reaches.
view::Expr countBytes(kernel::FuncOp func);

} // namespace kiln::lower
