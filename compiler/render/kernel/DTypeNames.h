//===- DTypeNames.h - Names and properties of dtypes for renderers -------------===//
#pragma once

#include "ir/base/DType.h"

namespace kiln::render {

/// The dtype of a scalar, of a vector's lanes or of a pointer's elements.
DType scalarDType(mlir::Type type);
/// "i32", "f16", "bool": the suffix of a generated function's name.
llvm::StringRef shortName(DType dtype);
/// "KILN_INT32": the enumerator of kiln/kiln.h, whose number is the dtype's.
llvm::StringRef runtimeName(DType dtype);
/// The same of an element type, which may be narrow.
llvm::StringRef runtimeName(mlir::Type element);
inline unsigned bitWidth(DType dtype) { return 8 * byteSize(dtype); }

bool isSignedInteger(DType dtype);
bool isUnsignedInteger(DType dtype);
/// Integers of 8 to 64 bits; not bool.
inline bool isInteger(DType dtype) { return isSignedInteger(dtype) || isUnsignedInteger(dtype); }
/// The dtypes that a C family computes with only after widening: half and bfloat16.
inline bool isSmallFloat(DType dtype) { return dtype == DType::F16 || dtype == DType::BF16; }

} // namespace kiln::render
