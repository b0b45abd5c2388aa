//===- Quantize.h - Numbers as small integers with a scale and a zero point -===//
//
// A quantised tensor q stands for (q - zero)·scale; q may be small floats too, whose zero point is 0. Scale and zero
// point are one number, one an index of an axis, or one for each block along an axis. Products are integer products:
// the zero points are taken away before, so padding is 0, and the sum is brought to the result's scale at the end, in
// float32.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/TensorBuilder.h"

namespace kiln::import {

/// A tensor with what its integers mean; a null zero point is 0.
struct Quantized {
  mlir::Value values, scale, zero;
};

/// A scale or zero point against x: of one element as a scalar; otherwise one an index of the axis, or, where `block`
/// is not 0, one for `block` neighbours along it.
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
/// The same where x is in units of the scale already: rounded, plus zero, saturated.
mlir::Value roundTo(TensorBuilder &b, mlir::Value x, mlir::Value zero, mlir::Type integer);

/// The scale and the zero point by which x fills 0 to 255, and x in uint8. They are scalars; where axes are given there
/// is one of each for all that lies along these, which are 1 long in them.
Quantized quantizeDynamically(TensorBuilder &b, mlir::Value x, llvm::ArrayRef<int64_t> axes = {});

} // namespace kiln::import
