//===- Domain.h - The axes of a kernel while it is formed -----------------------===//
//
// A kernel begins with the axes of what it writes. Each reduce that it computes runs over axes of its own: one of the
// domain's that its result does not move along serves where it has the size (the rows of a softmax are walked for the
// maximum, for the sum and for the result), else the domain grows by one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/graph/Graph.h"

#include "llvm/ADT/SmallBitVector.h"

namespace kiln::schedule {

class Domain {
public:
  explicit Domain(llvm::ArrayRef<view::Expr> sizes) : sizes_(sizes), reduced_(sizes.size()) {}

  llvm::ArrayRef<view::Expr> sizes() const { return sizes_; }
  /// Axes that some reduce runs over. They are walked inside the others.
  bool isReduced(size_t axis) const { return reduced_.test(axis); }

  struct Reduced {
    llvm::SmallVector<int64_t> axes; ///< sorted
    view::ShapeTracker input;        ///< from the domain to the elements of the reduce's input
  };
  /// The axes over which `reduce` runs where its result is read through `tracker`.
  Reduced enter(graph::ReduceOp reduce, const view::ShapeTracker &tracker);

  /// A tracker of an earlier, smaller domain, over all axes that there are now.
  view::ShapeTracker widen(const view::ShapeTracker &tracker) const;

private:
  view::Shape sizes_;
  llvm::SmallBitVector reduced_;
};

/// The axes that what a tracker reads, or whether it reads, depends on.
llvm::SmallBitVector axesOf(const view::ShapeTracker &tracker);

/// A tracker with more axes, the last, of these sizes: where `tracker` reads element e, this one reads the elements of
/// the e-th block of `sizes`, in row-major order.
view::ShapeTracker withInnerAxes(const view::ShapeTracker &tracker, llvm::ArrayRef<view::Expr> sizes);

/// Where a reduce whose result is read through `tracker` reads its input, when `axes`, along which the result stands
/// still, are walked for the reduce's own, in their order. Axes of size 1 take any size so.
view::ShapeTracker inputOf(graph::ReduceOp reduce, const view::ShapeTracker &tracker, llvm::ArrayRef<int64_t> axes);

/// Where a gather reads its indices, when its result is read through `tracker`.
view::ShapeTracker indicesOf(graph::GatherOp gather, const view::ShapeTracker &tracker);

} // namespace kiln::schedule
