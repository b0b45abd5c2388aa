//===- Fourier.h - Discrete Fourier transforms as graphs ----------------------===//
#pragma once

#include "import/onnx/Node.h"

namespace kiln::import::onnx {

/// A tensor of complex numbers; without `imaginary`, of reals.
struct Complex {
  mlir::Value real, imaginary;
};

/// The first `count` frequencies of signals [before, n, after] in float64, cut to `length` along the middle axis or
/// with zeros appended; `inverse` gives signals of frequencies, divided by their length. The result is [before, count,
/// after].
Complex transform(Node &n, TensorBuilder &b, Complex x, view::Expr length, view::Expr count, bool inverse);

/// The real signals [before, length, after] of the first half of their frequencies: the others mirror them.
mlir::Value realSignal(Node &n, TensorBuilder &b, Complex x, view::Expr length);

} // namespace kiln::import::onnx
