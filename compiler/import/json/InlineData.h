//===- InlineData.h - Numbers written in the document -----------------------===//
#pragma once

#include "import/json/Document.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace kiln::import::json {

/// The numbers as a tensor: nested as the shape says, or one flat list, or one number for every element. The caller has
/// checked that the shape may be allocated.
llvm::Expected<mlir::DenseElementsAttr> readInlineData(const Json &value, llvm::ArrayRef<int64_t> shape,
                                                       mlir::Type element);

/// One number, "inf", "-inf" or "nan" in the dtype.
llvm::Expected<mlir::TypedAttr> readNumber(const Json &value, mlir::Type element);

} // namespace kiln::import::json
