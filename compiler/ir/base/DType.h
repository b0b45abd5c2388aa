//===- DType.h - Element types as values -----------------------------------===//
//
// MLIR names an element's type by an object of a context; code that computes on bytes names it by this enum, in the
// order of the runtime's kiln_dtype.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/base/HalfFloat.h"

#include "mlir/IR/Types.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"

#include <optional>

namespace kiln {

enum class DType : uint8_t { Bool, I8, U8, I16, U16, I32, U32, I64, U64, F16, BF16, F32, F64 };
inline constexpr unsigned kDTypes = 13;

/// nullopt for an element type that no tensor has.
std::optional<DType> dtypeOf(mlir::Type element);
mlir::Type elementType(mlir::MLIRContext *context, DType dtype);
/// Bytes of one element in memory; bool takes one, 0 or 1.
unsigned byteSize(DType dtype);
bool isFloat(DType dtype);
/// As MLIR writes the element type: i1, i8, ui8 … f16, bf16, f32, f64.
llvm::StringRef dtypeName(DType dtype);

template <class T> struct TypeTag {
  using Type = T;
};

/// Calls `visit` with the TypeTag of the C++ type that holds an element.
template <class Visitor> decltype(auto) withElement(DType dtype, Visitor &&visit) {
  switch (dtype) {
  case DType::Bool:
    return visit(TypeTag<bool>());
  case DType::I8:
    return visit(TypeTag<int8_t>());
  case DType::U8:
    return visit(TypeTag<uint8_t>());
  case DType::I16:
    return visit(TypeTag<int16_t>());
  case DType::U16:
    return visit(TypeTag<uint16_t>());
  case DType::I32:
    return visit(TypeTag<int32_t>());
  case DType::U32:
    return visit(TypeTag<uint32_t>());
  case DType::I64:
    return visit(TypeTag<int64_t>());
  case DType::U64:
    return visit(TypeTag<uint64_t>());
  case DType::F16:
    return visit(TypeTag<Half>());
  case DType::BF16:
    return visit(TypeTag<BFloat16>());
  case DType::F32:
    return visit(TypeTag<float>());
  case DType::F64:
    return visit(TypeTag<double>());
  }
  llvm_unreachable("every dtype is handled");
}

} // namespace kiln
