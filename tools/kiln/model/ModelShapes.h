//===- ModelShapes.h - The shapes that tensors have in the model --------------------===//
//
// Kernels compute tensors in shapes of their own: a convolution's has axes for groups and for the window. People know
// the shape that the model has, so records of launches (host.tensor) get it. It is in the types of the imported graph,
// which the stage view does not keep.
//
//===------------------------------------------------------------------------------------===//
#pragma once

#include "ir/host/Host.h"

#include "llvm/ADT/DenseMap.h"

namespace kiln::driver {

class ModelShapes {
public:
  /// Of nothing: every tensor keeps the shape that it is computed in.
  ModelShapes() = default;
  /// Those of a module of stage import.
  explicit ModelShapes(mlir::ModuleOp module);

  /// Gives the tensors of a scheduled module's launches their types in the model, if only axes of size 1 differ.
  void note(mlir::ModuleOp module) const;

private:
  /// That of the tensor's name or of the result of its node; else its own.
  mlir::RankedTensorType typeOf(host::TensorAttr tensor) const;

  llvm::DenseMap<mlir::StringAttr, mlir::RankedTensorType> tensors_, nodes_;
};

} // namespace kiln::driver
