//===- ViewImpl.h - Shared by the parts of View (private) ----------------===//
#pragma once

#include "view/ShapeTracker.h"
#include "view/WithoutZeros.h"

namespace kiln::view {

/// Row-major strides of `shape`; 0 at axes of size 1.
Shape rowMajorStrides(llvm::ArrayRef<Expr> shape);

/// A constant 0 among the dims: the view has no element, whatever its symbols are.
bool hasZero(llvm::ArrayRef<Expr> shape);

/// The variable idx`axis` over an axis of size `size`.
Expr axisVariable(unsigned axis, Expr size);

/// Neighbouring axes that one stride walks through: `size` elements at `stride`; the innermost `real` of them really
/// move (0 if the stride is 0).
struct MergedAxis {
  Expr size, stride, real;
};
llvm::SmallVector<MergedAxis, 4> mergeAxes(const View &view);

/// The mask over `newShape` that means the same as `mask` over `oldShape`; nullopt if there is none.
std::optional<llvm::SmallVector<Range, 4>> reshapeMask(llvm::ArrayRef<Range> mask, llvm::ArrayRef<Expr> oldShape,
                                                       llvm::ArrayRef<Expr> newShape);

/// Expressions for variables in all parts of the view.
View substitute(const View &view, const llvm::DenseMap<Expr, Expr> &values);

/// From the values back to the variables; numbers stay.
llvm::DenseMap<Expr, Expr> inverted(const llvm::DenseMap<Expr, Expr> &values);

/// How many steps along an axis with this stride a distance is, if it is a number of them.
std::optional<int64_t> stepsIn(Expr distance, Expr stride);

/// Where a place of row-major memory with these strides is: all of it lies along one axis, or each of the terms that
/// the place is a sum of does. nullopt if one lies along none, or is below 0.
std::optional<llvm::SmallVector<int64_t, 4>> coordinatesOf(Expr place, llvm::ArrayRef<Expr> strides);

/// The same map with as few axes as its strides allow.
View withFewestAxes(const View &view);

} // namespace kiln::view
