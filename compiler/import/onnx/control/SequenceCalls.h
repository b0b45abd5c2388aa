//===- SequenceCalls.h - Sequences known only at run time -------------------===//
//
// If a list grows in a Loop, or comes from outside, its length and its tensors' sizes are data. Then it is a reference,
// which the device moves like integers; functions that look into the list are calls of the host (kiln/call.h). A
// sequence's type has the common properties of its tensors (ir/base/ObjectType.h): only other sizes are read.
//
// Values of the type of a sequence or an optional are scalars. Null values after a failure.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/onnx/Node.h"

namespace kiln::import::onnx {

class Importer;

/// A sequence or an optional whose items are known, as a value of the program.
mlir::Value referenceTo(Importer &importer, const Tensor &container, Scope &scope, TensorBuilder &b);

/// A reference that is used as one of another type.
mlir::Value asContainer(TensorBuilder &b, mlir::Value reference, mlir::Type type);

/// `position` is an int64 scalar; null: after the last tensor. `held`: the common properties of the result's tensors.
mlir::Value insertInto(TensorBuilder &b, mlir::Value sequence, mlir::Value tensor, mlir::Value position,
                       mlir::Type held);
mlir::Value eraseFrom(TensorBuilder &b, mlir::Value sequence, mlir::Value position);
mlir::Value lengthOf(TensorBuilder &b, mlir::Value sequence);
/// `shape` is that of each tensor, if it is known; else sizes that differ become symbols.
mlir::Value tensorAt(Node &n, TensorBuilder &b, mlir::Value sequence, mlir::Value position,
                     std::optional<Shape> shape = std::nullopt);
mlir::Value concatOf(Node &n, TensorBuilder &b, mlir::Value sequence, int64_t axis, bool isNew);
/// Parts of x of these sizes (int64), or as many of one size as fit, if it is a scalar.
mlir::Value splitOf(TensorBuilder &b, mlir::Value x, mlir::Value sizes, int64_t axis, bool keepsAxis);

mlir::Value hasElement(TensorBuilder &b, mlir::Value optional);
/// The run ends if there is none.
mlir::Value elementOf(Node &n, TensorBuilder &b, mlir::Value optional);

} // namespace kiln::import::onnx
