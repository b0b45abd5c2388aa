//===- Dtype.h - The dtypes that a renderer spells --------------------------===//
#pragma once

#include "mlir/IR/Types.h"

#include <array>

namespace kiln::render {

/// In the order of kiln_dtype (kiln/kiln.h), so that the number of one is the number of the other.
enum class Dtype { Bool, I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32, F64 };
inline constexpr unsigned kDtypes = 13;

/// Of a scalar, of a vector's lanes or of a pointer's elements.
Dtype dtypeOf(mlir::Type type);
/// "i32", "f16", "bool": the suffix of a generated function's name.
llvm::StringRef shortName(Dtype dtype);
/// "KILN_INT32": the enumerator of kiln/kiln.h.
llvm::StringRef runtimeName(Dtype dtype);
unsigned bitWidth(Dtype dtype);

bool isFloat(Dtype dtype);
bool isSignedInteger(Dtype dtype);
bool isUnsignedInteger(Dtype dtype);
/// Integers of 8 to 64 bits; bool is none.
inline bool isInteger(Dtype dtype) { return isSignedInteger(dtype) || isUnsignedInteger(dtype); }
/// The dtypes that a C family computes with only after widening: half and bfloat16.
inline bool isSmallFloat(Dtype dtype) { return dtype == Dtype::F16 || dtype == Dtype::BF16; }

} // namespace kiln::render
