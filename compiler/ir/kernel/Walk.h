//===- Walk.h - How the values of a kernel go through its domain ----------------===//
//
// A kernel has one walk for what it stores, and one for each stage: the loops that fill the stage's memory. All speak
// of the same domain, so a stage can be walked in any order, with lanes along any axis, whatever its readers do: what
// both know of each other is where a point of the domain lies in memory (StageOp::elementAt).
//
// What can go wrong is here in one place (faultOf), and looked at after every opt.
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
  llvm::SmallVector<mlir::Value> results; ///< what the walk is for: the values that are stored, or the one that is held

  /// The place of a loop axis among `axes`; their number where it is another walk's.
  size_t positionOf(int64_t id) const;
  bool contains(int64_t id) const { return positionOf(id) < axes.size(); }
  /// The operations that are computed in this walk, not those behind its stages; operands first.
  llvm::SetVector<mlir::Operation *> operations() const;
};

/// The kernel's own walk.
Walk walkOf(FuncOp func);
Walk walkOf(StageOp stage);
/// The kernel's own walk, then those of its stages, in the order of the body.
llvm::SmallVector<Walk> walksOf(FuncOp func);

/// The loop axes around a walk's own that an expression or a value in it depends on, and its own.
llvm::DenseSet<int64_t> axesOf(view::Expr expr);
llvm::DenseSet<int64_t> axesOf(const Walk &walk, mlir::Value value);

/// Whether a stage's memory moves along an axis of the domain, or stands at another place of it for each of its base.
bool dependsOn(StageOp stage, size_t domainAxis);

/// The axes that totals which are held need a place along: those that the result moves along, and loops around loops
/// of these, in each step of which the same points are summed up once more.
llvm::DenseSet<int64_t> totalsAxes(const Walk &walk, ReduceOp reduce);

/// The reduced loops of a reduce that stand around loops of its result, outermost first: what it has summed up in their
/// earlier iterations has to be held.
llvm::SmallVector<int64_t> heldLoops(const Walk &walk, ReduceOp reduce);

inline constexpr int64_t kMostBuffers = 8;

/// The loop whose steps a stage of several buffers would be filled for ahead: the innermost of those that stand around
/// what it holds, among its readers' own. -1: there is none, or its readers are not one walk.
int64_t loopAhead(StageOp stage);

/// What is wrong with how a stage lies in memory, as a clause; nullopt: nothing.
std::optional<std::string> faultOfLayout(StageOp stage);

/// What is wrong with a kernel's walks, as a clause; nullopt: nothing.
std::optional<std::string> faultOf(FuncOp func);

} // namespace kiln::kernel
