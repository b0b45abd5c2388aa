//===- Totals.h - The state of a reduce while its loops are open ---------------===//
#pragma once

#include "passes/lower/KernelLowering.h"

namespace kiln::lower {

/// The points that a nest of loops reduces.
struct KernelLowering::Reduced {
  AxisSet axes;
  llvm::SmallVector<int64_t> loops, unrolled; ///< those with loops, and those unrolled, lanes apart
  llvm::SmallVector<int64_t> items;           ///< those that are the items of the group
  AxisSet lane;                               ///< the one that is lanes
};

/// The largest of some scores so far, for every unrolled point and lane that the scores are not reduced over.
struct KernelLowering::Largest {
  mlir::Value score;
  Tile tile;
  Tile decay;   ///< exp(the largest before this step - the largest now)
  Tile weights; ///< exp(score - the largest now), for the reduced unrolled points too
};

/// The result of a reduce so far, for every unrolled point and lane of its input that is not reduced; if lanes are
/// reduced, for each lane separately.
struct KernelLowering::Total {
  kernel::ReduceOp reduce;
  AxisSet inputAxes;
  Tile tile;
  mlir::Value identity;
  Largest *largest = nullptr; ///< of its scores; null: it has none
};

} // namespace kiln::lower
