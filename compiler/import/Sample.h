//===- Sample.h - Elements at places that are data ---------------------------===//
//
// The places of a result's elements in the input may be known only at run time: a grid that is an input, scales that
// are. Then each element gathers its neighbours by index and weighs them by their distance. The number of neighbours is
// a size, so the neighbours are axes and their weighted sum is a reduction.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/Resample.h"

namespace kiln::import {

/// The share of a neighbour at `distance` (floats): a triangle's, or Keys' with its a.
mlir::Value weightAt(TensorBuilder &b, mlir::Value distance, Interpolation interpolation, double cubic);

/// x with elements along `axis` at `places` ([count] of float64), each from `taps` neighbours. `scale` (a float64
/// scalar, null: 1) is the factor by which antialias spreads a neighbour's share.
mlir::Value resampleAt(TensorBuilder &b, mlir::Value x, int64_t axis, mlir::Value places, Expr taps,
                       const Resampling &how, mlir::Value scale);

/// The values outside the input.
enum class Outside { Zeros, Border, Reflection };

struct Sampling {
  Interpolation interpolation = Interpolation::Linear;
  Outside outside = Outside::Zeros;
  /// The outermost elements' middles are the input's border; otherwise the border includes their outer halves.
  bool alignCorners = false;
};

/// The neighbours of places: their values, 0 if they are outside and count as zeros, and their shares, null if each
/// place has one neighbour. One axis of neighbours for each axis of x that is sampled comes first, then the axes of the
/// places, so that what is known of each neighbour lies side by side for the places of a row.
struct Neighbours {
  mlir::Value values, weights;
};

/// For x [n, c, d1…dk] at places along each of d1…dk: floats, in elements, whose shapes broadcast to [m, c, o…].
/// `images` (int64, [m, 1, …], as many axes) says which of x's n each of the m is; null: its own.
Neighbours neighboursAt(TensorBuilder &b, mlir::Value x, mlir::Value images, llvm::ArrayRef<mlir::Value> places,
                        const Sampling &how);

/// x [n, c, d1…dk] at places, interpolated: [n, c, o…].
mlir::Value sample(TensorBuilder &b, mlir::Value x, llvm::ArrayRef<mlir::Value> places, const Sampling &how);

} // namespace kiln::import
