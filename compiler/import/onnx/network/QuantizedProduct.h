//===- QuantizedProduct.h - Products of dequantised tensors -----------------===//
//
// A quantiser that writes QDQ puts a DequantizeLinear before each operand of a product. This means the product of the
// integers, scaled once: that is exact up to the scale, while a sum of scaled floats is rounded at each term.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/onnx/Node.h"

namespace kiln::import::onnx {

struct IntegerOperands {
  mlir::Value x, y;   ///< int32, their zero points taken away
  mlir::Value scale;  ///< of the product: one number, or a vector with one for each of the second operand's outputs
  mlir::Type element; ///< the dtype that the product has as floats

  /// The product of the integers, scaled; `axis` is that of the second operand's outputs in it.
  mlir::Value scaled(TensorBuilder &b, mlir::Value product, int64_t axis = -1) const;
};

/// A node's first two inputs, if both are dequantised from at most 8 bits, the first by one scale, the second by one or
/// by one for each index of its axis `outputs` (-1: it has none), and the sums of `terms` products fit int32.
std::optional<IntegerOperands> integerOperands(Node &n, TensorBuilder &b, view::Expr terms, int64_t outputs);

} // namespace kiln::import::onnx
