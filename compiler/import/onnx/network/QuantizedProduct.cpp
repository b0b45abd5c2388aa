//===- QuantizedProduct.cpp - Products of dequantised tensors ---------------===//
#include "import/onnx/network/QuantizedProduct.h"

#include <limits>

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using mlir::Value;

/// The largest difference of a tensor's numbers from their zero point; 0 if they are not small integers.
static int64_t largestDistance(Value values) {
  auto type = llvm::dyn_cast<mlir::IntegerType>(TensorBuilder::element(values));
  return type && type.getWidth() <= 8 ? (int64_t(1) << type.getWidth()) - 1 : 0;
}

/// Whether a parameter is one number, or one for each index of this axis.
static bool isAlong(Value parameter, int64_t axis) {
  for (auto [i, size] : llvm::enumerate(TensorBuilder::shape(parameter)))
    if (int64_t(i) != axis && !size.isConst(1))
      return false;
  return true;
}

Value IntegerOperands::scaled(TensorBuilder &b, Value product, int64_t axis) const {
  if (!product)
    return {};
  Value factor = b.rank(scale) == 0 ? scale : alongAxis(b, product, scale, axis);
  return b.cast(b.mul(b.cast(product, b.float32()), factor), element);
}

std::optional<IntegerOperands> kiln::import::onnx::integerOperands(Node &n, TensorBuilder &b, view::Expr terms,
                                                                   int64_t outputs) {
  const Tensor &first = n.tensor(0), &second = n.tensor(1);
  if (!first.quantized || !second.quantized || first.element() != second.element())
    return std::nullopt;
  const Quantized &x = *first.quantized, &y = *second.quantized;
  int64_t largest = largestDistance(x.values) * largestDistance(y.values);
  if (largest == 0 || terms.max() > std::numeric_limits<int32_t>::max() / largest)
    return std::nullopt;
  if (b.rank(x.scale) != 0 || !isAlong(y.scale, outputs))
    return std::nullopt;
  Value scale = y.scale;
  if (b.rank(scale) != 0)
    scale = b.reshape(scale, {b.dim(scale, outputs)});
  scale = b.mul(b.cast(x.scale, b.float32()), b.cast(scale, b.float32()));
  return IntegerOperands{centred(b, x.values, x.zero), centred(b, y.values, y.zero), scale, first.element()};
}
