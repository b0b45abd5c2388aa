//===- PackedWeights.h - Weights of few bits, packed in bytes -----------------===//
#pragma once

#include "import/TensorBuilder.h"

namespace kiln::import::onnx {

/// The numbers of 2, 4 or 8 bits along the last axis of a uint8 tensor, the lowest first.
mlir::Value unpackBits(TensorBuilder &b, mlir::Value packed, int64_t bits);

/// One scale or zero point for each block along an axis of `size` elements, as one for each element.
mlir::Value spread(TensorBuilder &b, mlir::Value parameter, int64_t axis, int64_t block, Expr size);

} // namespace kiln::import::onnx
