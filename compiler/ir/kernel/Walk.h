//===- Walk.h - How the values of a kernel go through its domain ----------------===//
//
// A kernel has one walk for its stores, and one for each stage: the loops that fill the stage's memory. All refer to
// the same domain, so a stage can be walked in any order, with lanes along any axis, whatever its readers do. Both only
// share the place of a point of the domain in memory (StageOp::elementAt).
//
// All possible faults are in one place (faultOf), and checked after every opt.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "ir/kernel/Kernel.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

#include <optional>
#include <string>

namespace kiln::kernel {

struct Walk {
  mutable StageOp stage;                  ///< whose walk it is; null: the kernel's own
  llvm::SmallVector<AxisAttr> axes;       ///< outermost first
  llvm::SmallVector<view::Expr> index;    ///< of each axis of the domain
  llvm::SmallVector<mlir::Value> results; ///< the stored values, or the one that is held

  /// The place of a loop axis among `axes`; their number if it is another walk's.
  size_t positionOf(int64_t id) const;
  bool contains(int64_t id) const { return positionOf(id) < axes.size(); }
  /// The operations that are computed in this walk, not those of its stages; operands first.
  llvm::SetVector<mlir::Operation *> operations() const;
};

/// The kernel's own walk.
Walk walkOf(FuncOp func);
Walk walkOf(StageOp stage);
/// The kernel's own walk, then those of its stages, in the order of the body.
llvm::SmallVector<Walk> walksOf(FuncOp func);

/// Whether the items of a group share the walk's points.
bool hasItems(const Walk &walk);

/// The loop axes around a walk's own that an expression or a value in it depends on, and its own.
llvm::DenseSet<int64_t> axesOf(view::Expr expr);
llvm::DenseSet<int64_t> axesOf(const Walk &walk, mlir::Value value);

/// The same for many values of one walk, each looked at once.
class WalkAxes {
public:
  explicit WalkAxes(const Walk &walk) : walk_(walk) {}
  const llvm::DenseSet<int64_t> &of(mlir::Operation *op);

private:
  const Walk &walk_;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<llvm::DenseSet<int64_t>>> known_;
};

/// Whether a stage's memory moves along an axis of the domain, or is at another place of it for each of its base.
bool dependsOn(StageOp stage, size_t domainAxis);

/// The axes along which held totals need a place: those that the result moves along, and loops around loops of these,
/// whose every step sums up the same points once more.
llvm::DenseSet<int64_t> totalsAxes(const Walk &walk, ReduceOp reduce);

/// The reduced loops of a reduce that are around loops of its result, outermost first: the sums of their earlier
/// iterations have to be held.
llvm::SmallVector<int64_t> heldLoops(const Walk &walk, ReduceOp reduce);

inline constexpr int64_t kMostBuffers = 8;

/// The loop for whose steps a stage of several buffers would be filled ahead: the innermost of those around the held
/// values, among its readers' own. -1: there is none, or its readers are not one walk.
int64_t loopAhead(StageOp stage);

/// The fault of a stage's layout in memory, as a clause; nullopt: none.
std::optional<std::string> faultOfLayout(StageOp stage);

/// The fault of a kernel's walks, as a clause; nullopt: none.
std::optional<std::string> faultOf(FuncOp func);

} // namespace kiln::kernel
