//===- Strings.h - Tensors of strings ----------------------------------------===//
#pragma once

#include "import/TensorBuilder.h"

namespace kiln::import::onnx {

/// Whether an operator takes strings: one that only moves elements, or an operator of strings.
bool takesStrings(llvm::StringRef op);

/// A tensor of the model's own strings.
mlir::Value stringConstant(TensorBuilder &b, llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> strings,
                           TensorBuilder::Sizes shape);
/// The same of attributes.
mlir::Value stringList(TensorBuilder &b, llvm::StringRef name, llvm::ArrayRef<std::string> strings);

/// For each string the key that it equals: places as int64, -1 if there is none.
mlir::Value stringPlaces(TensorBuilder &b, mlir::Value x, mlir::Value keys);

/// Whether strings are the same.
mlir::Value stringEqual(TensorBuilder &b, mlir::Value x, mlir::Value y);

} // namespace kiln::import::onnx
