//===- Totals.h - What a reduce knows while its loops are open -----------------===//
#pragma once

#include "passes/lower/KernelLowering.h"

namespace kiln::lower {

/// The points that a nest of loops reduces.
struct KernelLowering::Reduced {
  AxisSet axes;
  llvm::SmallVector<int64_t> loops, unrolled; ///< of them, lanes apart
  llvm::SmallVector<int64_t> items;           ///< of them, those that are the items of the group
  AxisSet lane;                               ///< of them, the one that is lanes
};

/// The largest of some scores so far, for every unrolled point and lane that the scores are not reduced over.
struct KernelLowering::Largest {
  mlir::Value score;
  Tile tile;
  Tile decay;   ///< exp(the largest before this step - the largest now)
  Tile weights; ///< exp(score - the largest now), for the reduced unrolled points too
};

/// What a reduce has put together so far, for every unrolled point and lane of its input that is not reduced; where
/// lanes are reduced, for each lane apart.
struct KernelLowering::Total {
  kernel::ReduceOp reduce;
  AxisSet inputAxes;
  Tile tile;
  mlir::Value identity;
  Largest *largest = nullptr; ///< of its scores; null: it has none
};

} // namespace kiln::lower
