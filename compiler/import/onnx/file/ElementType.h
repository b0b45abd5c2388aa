//===- ElementType.h - ONNX's dtypes as the IR's ---------------------------===//
#pragma once

#include "mlir/IR/Types.h"

#include <string>

namespace kiln::import::onnx {

/// The element type of a TensorProto::DataType; null for those that kiln lacks (complex).
mlir::Type elementType(mlir::MLIRContext *context, int32_t dataType);

/// The remedy where there is none.
inline constexpr llvm::StringLiteral kKnownDTypes = "dtypes are bool, integers, floats and strings";

/// ONNX's name of a data type, for errors: "FLOAT8E5M2", or its number if ONNX has none.
std::string dataTypeName(int32_t dataType);

} // namespace kiln::import::onnx
