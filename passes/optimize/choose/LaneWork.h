//===- LaneWork.h - The work of a kernel with its lanes along an axis -----------------===//
#pragma once

#include "passes/optimize/choose/Product.h"

#include "llvm/ADT/SmallBitVector.h"

namespace kiln::optimize {

/// About how many instructions a kernel without opts takes with `lanes` lanes along an axis. A vector is one
/// instruction if its elements are neighbours in memory, else one for each of its elements; a sum over lanes has these
/// added up for each of its results. On an axis of unknown size the last vector is half full on average. `packed`:
/// buffers whose elements can be laid out such that lanes find theirs contiguous.
double laneSteps(kernel::FuncOp func, TargetAttr target, size_t axis, int64_t lanes,
                 const llvm::SmallBitVector &packed);

/// If some memory is contiguous along one axis and some along another: the sides of the tiles.
inline constexpr int64_t kTurnedTile = 8;

/// Whether an access that has its elements apart along an axis has them side by side along another one that is long
/// enough for tiles of both, which are turned in registers.
bool turnsWith(const Access &access, size_t axis, size_t other);

/// Points of an axis that fill the gaps between an access's elements along another.
struct Woven {
  size_t axis;
  int64_t points; ///< how many, and how far apart the other's elements are
  int64_t lanes;  ///< of the other axis: more do not lie so
};

/// What fills the gaps between an access's elements along `axis`, a few apart, so that vectors of both are whole lines
/// of memory, with `lanes` lanes at most; nullopt if no axis of fixed size does.
std::optional<Woven> wovenAxis(const Access &access, size_t axis, int64_t lanes);

/// How many elements of memory an access reaches: the most that it can reach, or the points of the axes that it moves
/// along if these are fewer.
double elementsOf(const Access &access);

} // namespace kiln::optimize
