//===- Sequence.h - Sequences of tensors, and what may be absent ------------===//
//
// A list whose length the model says is a list of the importer's alone: what is taken out of it is the tensor that went
// in, and no list is left (Tensor::items).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/onnx/Node.h"

namespace kiln::import::onnx {

class Registry;
/// SequenceMap, which is in a file of its own.
void addSequenceMap(Registry &registry);

/// Whether an operator takes sequences and optionals.
bool takesContainers(llvm::StringRef op);

/// What all tensors of a sequence of this one have in common with it.
mlir::Type heldType(const Tensor &tensor);
/// A sequence of these tensors; `dtype` is its element type where there are none. Null, and a failure noted, where
/// their dtypes differ.
Tensor sequenceOf(Node &n, mlir::Type dtype, std::vector<Tensor> items);

/// An optional that has this tensor or sequence.
Tensor optionalOf(const Tensor &given);
/// A type that a model declares, of a tensor as a sequence holds it: sizes that it does not fix are dynamic.
llvm::Expected<mlir::Type> declaredType(mlir::MLIRContext *context, const ::onnx::TypeProto &type);

} // namespace kiln::import::onnx
