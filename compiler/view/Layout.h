//===- Layout.h - In which order, and with how much room, a tensor lies in memory ----===//
//
// A kernel's views say where in a tensor's row-major memory an element is. Where the tensor lies in another order, or
// with zeros around it, the same views are strided otherwise, and padding that the zeros stand for needs no mask.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "view/ShapeTracker.h"

namespace kiln::view {

struct Layout {
  struct Room {
    int64_t before = 0, after = 0;
    bool operator==(const Room &) const = default;
  };
  Shape shape;                         ///< of the tensor, without sizes of 1
  llvm::SmallVector<int64_t, 4> order; ///< its axes as they lie in memory, the outermost first
  llvm::SmallVector<Room, 4> halo;     ///< zeros before and after each axis

  static Layout rowMajor(llvm::ArrayRef<Expr> shape);
  bool isRowMajor() const { return *this == rowMajor(shape); }
  bool hasHalo() const;
  /// With the zeros.
  Expr elements() const;
  /// Elements from one point of an axis to the next.
  Shape strides() const;

  bool operator==(const Layout &) const = default;
};

/// Parts of sizes, each with another form of the same number.
using Equal = llvm::DenseMap<Expr, Expr>;

/// A tracker of row-major memory as one of memory with this layout. nullopt where it goes through the tensor in a way
/// that no strides of the layout follow, or that follows it only for some of the sizes.
std::optional<ShapeTracker> relaid(const ShapeTracker &tracker, const Layout &layout, const Equal &equal = Equal());

/// The zeros around the tensor, an axis each, that would stand for all masks of the view that reads it; nullopt where
/// it has none, or other ones.
std::optional<llvm::SmallVector<Layout::Room, 4>> haloFor(const ShapeTracker &tracker, llvm::ArrayRef<Expr> shape,
                                                          const Equal &equal = Equal());

} // namespace kiln::view
