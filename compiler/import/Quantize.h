//===- Quantize.h - Numbers as small integers with a scale and a zero point -===//
//
// A quantised tensor q means (q - zero)·scale; q may be small floats too, whose zero point is 0. Scale and zero point
// are one number, one for each index of an axis, or one for each block along an axis. Products are integer products:
// the zero points are subtracted before, so padding is 0, and the sum is brought to the result's scale at the end, in
// float32.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/TensorBuilder.h"

namespace kiln::import {

/// A tensor with the meaning of its integers; a null zero point is 0.
struct Quantized {
  mlir::Value values, scale, zero;
};

/// A scale or zero point as it broadcasts against x: with one element a scalar; otherwise one for each index of the
/// axis, or, if `block` is not 0, one for `block` neighbours along it.
mlir::Value alongAxis(TensorBuilder &b, mlir::Value x, mlir::Value parameter, int64_t axis, int64_t block = 0);

/// A parameter of one element as a scalar.
mlir::Value scalar(TensorBuilder &b, mlir::Value parameter);

/// values - zero, as int32; the zero point broadcasts.
mlir::Value centred(TensorBuilder &b, mlir::Value values, mlir::Value zero);
/// (values - zero)·scale in float32; both broadcast. The zero point of an 8-bit float has to be 0 and is not read.
mlir::Value dequantize(TensorBuilder &b, const Quantized &x);
/// x/scale rounded half to even, plus zero, saturated to the integer dtype, or cast to the narrow float. The division
/// is in x's dtype; both broadcast.
mlir::Value quantize(TensorBuilder &b, mlir::Value x, mlir::Value scale, mlir::Value zero, mlir::Type type,
                     NarrowRounding rounding = {});
/// The same if x is in units of the scale already: rounded, plus zero, saturated.
mlir::Value roundTo(TensorBuilder &b, mlir::Value x, mlir::Value zero, mlir::Type integer);

/// The scale and the zero point by which x fills 0 to 255, and x in uint8. They are scalars; if axes are given there is
/// one pair for all elements along these axes, which have size 1 in them.
Quantized quantizeDynamically(TensorBuilder &b, mlir::Value x, llvm::ArrayRef<int64_t> axes = {});

} // namespace kiln::import
