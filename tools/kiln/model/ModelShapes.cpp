#include "ModelShapes.h"

#include "ir/base/Base.h"
#include "ir/graph/Source.h"

using namespace kiln;
using namespace kiln::driver;

ModelShapes::ModelShapes(mlir::ModuleOp module) {
  module.walk([&](mlir::Operation *op) {
    auto type = op->getNumResults() == 1 ? llvm::dyn_cast<mlir::RankedTensorType>(op->getResult(0).getType()) : nullptr;
    if (!type)
      return;
    // A node's ops come in order, so the last one makes its result.
    for (const graph::Source &source : graph::sourcesOf(op->getLoc())) {
      nodes_[source.node] = type;
      if (source.tensor)
        tensors_[source.tensor] = type;
    }
  });
}

mlir::RankedTensorType ModelShapes::typeOf(host::TensorAttr tensor) const {
  auto sizesOf = [](mlir::RankedTensorType type) {
    view::Shape sizes = shapeOf(type);
    llvm::erase_if(sizes, [](view::Expr size) { return size.isConst(1); });
    return sizes;
  };
  auto fits = [&](mlir::RankedTensorType known) {
    return known && known.getElementType() == tensor.getType().getElementType() &&
           sizesOf(known) == sizesOf(tensor.getType());
  };
  for (mlir::StringAttr name : tensor.getNames())
    if (mlir::RankedTensorType known = tensors_.lookup(name); fits(known))
      return known;
  auto node = mlir::StringAttr::get(tensor.getContext(), tensor.getNode());
  mlir::RankedTensorType known = nodes_.lookup(node);
  return fits(known) ? known : tensor.getType();
}

void ModelShapes::note(mlir::ModuleOp module) const {
  module.walk([&](host::LaunchOp launch) {
    mlir::ArrayAttr tensors = launch.getTensorsAttr();
    if (!tensors)
      return;
    llvm::SmallVector<mlir::Attribute> noted;
    for (auto tensor : tensors.getAsRange<host::TensorAttr>())
      noted.push_back(host::TensorAttr::get(launch.getContext(), tensor.getNode(), tensor.getOp(), tensor.getOperands(),
                                            tensor.getNames(), tensor.getFolded(), typeOf(tensor), tensor.getMemory(),
                                            tensor.getPlacement(), tensor.getLayout()));
    launch.setTensorsAttr(mlir::ArrayAttr::get(launch.getContext(), noted));
  });
}
