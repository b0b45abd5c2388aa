//===- Resample.h - An axis at places between its elements ------------------===//
//
// Resizing treats one axis after another. At twice the size and with half-pixel centres, element o of the result is at
// (2o - 1) / 4 of the input, which is -1/4, 1/4, 3/4, 5/4 …: every second place has the same distances to its
// neighbours, so that they get the same weights. If places repeat like that (twice the size, two thirds …), an axis is
// a product of windows with a few weights, and no index is ever read; otherwise elements are gathered at computed
// places. Nearest neighbours that are repeated or evenly spaced are moved, without a product.
//
//===------------------------------------------------------------------------===//
#pragma once

#include "import/TensorBuilder.h"

namespace kiln::import {

enum class Interpolation { Nearest, Linear, Cubic };
/// Which neighbour is the nearest.
enum class Rounding { HalfDown, HalfUp, Floor, Ceil };

/// The place of element o of the result in the input: (slope·o + offset) / divisor, exactly.
struct AxisPlaces {
  Expr slope, offset, divisor;
  /// Instead, for known sizes: from the first to the second of these fractions of the input's length.
  std::optional<std::pair<double, double>> crop;
};

struct Resampling {
  Interpolation interpolation = Interpolation::Nearest;
  Rounding rounding = Rounding::HalfDown;
  double cubic = -0.75; ///< Keys' a
  /// If the result is smaller by a factor of `scale`, an element is made of more neighbours.
  bool antialias = false;
  /// Neighbours outside the input do not count; without this they are its first or last element.
  bool excludeOutside = false;
  /// Places outside the input give this.
  std::optional<double> extrapolation;
};

/// x with `count` elements along an axis. `scale` is the result's size over the input's, if antialias needs it.
mlir::Value resample(TensorBuilder &b, mlir::Value x, int64_t axis, Expr count, const AxisPlaces &places,
                     const Resampling &how, double scale);

/// Floats as integers of this dtype, in ONNX Runtime's way. With antialias: the nearest, halves away from 0; to be
/// called after each axis. Without: cut towards 0, except that a number within errors of rounding of an integer is that
/// integer.
mlir::Value integersOf(TensorBuilder &b, mlir::Value x, mlir::Type element, bool antialias);

} // namespace kiln::import
