#include "import/onnx/file/Tensor.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace kiln::import::onnx;

/// Nothing if one does not fit into int64.
static std::optional<Elements> elementsOf(mlir::DenseElementsAttr dense) {
  auto integer = llvm::dyn_cast<mlir::IntegerType>(dense.getElementType());
  if (!integer || dense.getNumElements() > kMostElements)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned() || integer.getWidth() == 1;
  Elements elements;
  for (const llvm::APInt &value : dense.getValues<llvm::APInt>()) {
    if (isUnsigned && value.getActiveBits() > 63)
      return std::nullopt;
    elements.push_back(isUnsigned ? int64_t(value.getZExtValue()) : value.getSExtValue());
  }
  return elements;
}

const Elements *Tensor::exactElements() const {
  auto isExact = [](view::Expr element) {
    return !element.isConst() || (element.constant() > -(int64_t(1) << 62) && element.constant() < int64_t(1) << 62);
  };
  return elements && llvm::all_of(*elements, isExact) ? &*elements : nullptr;
}

Tensor::Tensor(mlir::RankedTensorType type, mlir::Attribute data, llvm::StringRef name)
    : type(type), data(data), name(name) {
  if (auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(data))
    elements = elementsOf(dense);
}
