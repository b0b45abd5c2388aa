//===- Sequence.h - Sequences of tensors, and optional values ---------------===//
//
// A list whose length the model gives exists only in the importer: a tensor taken out of it is the one that was put in,
// and no list is left (Tensor::items).
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

/// The common properties of all tensors of a sequence with this one.
mlir::Type heldType(const Tensor &tensor);
/// A sequence of these tensors; `dtype` is its element type if there are none. Null, and a failure noted, if their
/// dtypes differ.
Tensor sequenceOf(Node &n, mlir::Type dtype, std::vector<Tensor> items);

/// An optional that has this tensor or sequence.
Tensor optionalOf(const Tensor &given);
/// A type that a model declares for a tensor, as a sequence holds it: sizes that are not fixed are dynamic.
llvm::Expected<mlir::Type> declaredType(mlir::MLIRContext *context, const ::onnx::TypeProto &type);

} // namespace kiln::import::onnx
