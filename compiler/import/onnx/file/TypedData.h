//===- TypedData.h - Numbers of a file as dense elements --------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Error.h"

#include <onnx-ml.pb.h>

namespace kiln::import::onnx {

/// The bytes that ONNX has for elements of `type`: as many as packedByteCount, a bool taking a byte.
int64_t storedByteCount(mlir::RankedTensorType type);
/// Little-endian, row-major elements in that many bytes.
mlir::DenseElementsAttr denseFromBytes(mlir::RankedTensorType type, llvm::StringRef bytes);

/// The strings of a tensor; fails when they are not as many as `type` has elements, or one cannot be a C string.
llvm::Expected<mlir::DenseElementsAttr> denseFromStrings(mlir::RankedTensorType type,
                                                         const ::onnx::TensorProto &tensor);

/// The numbers in the *_data field that ONNX prescribes for the tensor's dtype; fails when they are not as many as
/// `type` has elements.
llvm::Expected<mlir::DenseElementsAttr> denseFromNumbers(mlir::RankedTensorType type,
                                                         const ::onnx::TensorProto &tensor);

} // namespace kiln::import::onnx
