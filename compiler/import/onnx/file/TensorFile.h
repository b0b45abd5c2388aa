//===- TensorFile.h - A tensor in a file of its own ------------------------===//
//
// ONNX keeps the data of its tests as files of one TensorProto each: test_data_set_0/input_0.pb.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Error.h"

namespace kiln::import {

/// Reads `path`; strings are a DenseStringElementsAttr. A file that is not a tensor, has a dtype that kiln does not
/// have, or more bytes than `memoryLimit` is an error.
llvm::Expected<mlir::DenseElementsAttr> readTensorFile(mlir::MLIRContext *context, llvm::StringRef path,
                                                       int64_t memoryLimit);

} // namespace kiln::import
