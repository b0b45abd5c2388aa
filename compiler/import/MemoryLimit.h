//===- MemoryLimit.h - Refuse sizes before anything is allocated -------------===//
#pragma once

#include "mlir/IR/Types.h"
#include "view/ShapeTracker.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace kiln::import {

/// The bytes of a tensor of this shape; an error when they are more than `limit`, however large the sizes are.
llvm::Expected<int64_t> byteCount(llvm::ArrayRef<int64_t> shape, mlir::Type element, int64_t limit);

/// The same for a shape with symbols, each at its least value except 0: an empty axis makes no other one small.
llvm::Error checkMemory(llvm::ArrayRef<view::Expr> shape, mlir::Type element, int64_t limit);

} // namespace kiln::import
