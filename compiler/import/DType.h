//===- DType.h - Element types by their names in model files -----------------===//
#pragma once

#include "mlir/IR/Types.h"
#include "llvm/ADT/StringRef.h"

namespace kiln::import {

/// The element type that numpy calls `name` (bool, int8 … int64, uint8 … uint64, float16, float32, float64) or
/// bfloat16; null for any other name. Signed integers are signless in the IR.
mlir::Type parseDType(mlir::MLIRContext *context, llvm::StringRef name);

/// The name that parseDType reads, or, for a narrow dtype, the one that ml_dtypes has.
std::string dtypeName(mlir::Type element);

/// The names that parseDType knows, for an error's remedy.
std::string dtypeNames();

} // namespace kiln::import
