#include "passes/schedule/Cost.h"

#include "ir/base/AluTraits.h"

using namespace kiln;
using view::Expr;

double schedule::elementsOf(llvm::ArrayRef<Expr> shape) {
  double elements = 1;
  for (Expr size : shape)
    elements *= typicalSize(size);
  return elements;
}

double schedule::elementsOf(mlir::Value tensor) { return elementsOf(shapeOf(tensor)); }

double schedule::bytesOf(mlir::Value tensor) {
  return elementsOf(tensor) * byteSize(llvm::cast<mlir::RankedTensorType>(tensor.getType()).getElementType());
}

double schedule::operationsOf(Alu kind) { return aluTraits(kind).steps; }
