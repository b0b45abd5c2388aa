//===- StoreNarrow.h - Tensors of narrow dtypes become bytes ----------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln::import {

/// A packed narrow tensor's bytes in memory: codes of 2, 4 or 6 bits follow each other from the lowest bit of each byte
/// up.
int64_t packedByteCount(int64_t elements, mlir::Type element);
/// One byte per element, the code in its low bits, of `elements` packed codes.
std::string unpackCodes(llvm::StringRef packed, int64_t elements, mlir::Type element);

/// The elements' codes as bytes; any other attribute unchanged.
mlir::ElementsAttr storedElements(mlir::ElementsAttr elements);

/// The last step of an import: element types that are stored as others (ir/base/NarrowDType.h) become those, and a port
/// of @main keeps the old one in `graph.dtype`.
void storeNarrow(mlir::ModuleOp module);

} // namespace kiln::import
