//===- StoreNarrow.h - Tensors of narrow dtypes become bytes ----------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln::import {

/// A packed narrow tensor's bytes in memory: codes of 2, 4 or 6 bits follow each other from the lowest bit of each byte
/// up.
int64_t packedByteCount(int64_t elements, mlir::Type element);
/// One byte per element, the code in its low bits, of `elements` packed codes.
std::string unpackCodes(llvm::StringRef packed, int64_t elements, mlir::Type element);

/// The elements' codes as bytes; any other attribute as it is.
mlir::ElementsAttr storedElements(mlir::ElementsAttr elements);

/// The last step of an import: what has an element type that is stored as another (ir/base/NarrowDType.h) has that one
/// afterwards, and a port of @main says in `graph.dtype` what it was.
void storeNarrow(mlir::ModuleOp module);

} // namespace kiln::import
