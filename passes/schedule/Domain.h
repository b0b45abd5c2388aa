//===- Domain.h - The axes of a kernel while it is formed -----------------------===//
//
// A kernel begins with the axes of its output. Each reduce in it runs over axes of its own. One of the domain's that
// its result does not move along serves if it has the size (the rows of a softmax are walked for the maximum, for the
// sum and for the result); otherwise the domain grows by one.
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
  /// The axes over which `reduce` runs if its result is read through `tracker`.
  Reduced enter(graph::ReduceOp reduce, const view::ShapeTracker &tracker);

  /// A tracker of an earlier, smaller domain, over all current axes.
  view::ShapeTracker widen(const view::ShapeTracker &tracker) const;

private:
  view::Shape sizes_;
  llvm::SmallBitVector reduced_;
};

/// The axes that a tracker's elements, or its mask, depend on.
llvm::SmallBitVector axesOf(const view::ShapeTracker &tracker);

/// A tracker with more axes, the last, of these sizes: where `tracker` reads element e, this one reads the elements of
/// the e-th block of `sizes`, in row-major order.
view::ShapeTracker withInnerAxes(const view::ShapeTracker &tracker, llvm::ArrayRef<view::Expr> sizes);

/// The place where a reduce reads its input, if its result is read through `tracker` and `axes`, along which the result
/// stands still, are walked for the reduce's own, in their order. Axes of size 1 take any size so.
view::ShapeTracker inputOf(graph::ReduceOp reduce, const view::ShapeTracker &tracker, llvm::ArrayRef<int64_t> axes);

/// The place where a gather reads its indices, if its result is read through `tracker`.
view::ShapeTracker indicesOf(graph::GatherOp gather, const view::ShapeTracker &tracker);

} // namespace kiln::schedule
