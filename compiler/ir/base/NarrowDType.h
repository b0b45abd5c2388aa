//===- NarrowDType.h - Dtypes of a byte and less that nothing computes with -===//
//
// 8-bit floats and less, and integers of 4 and 2 bits, are for storing tensors. Nobody adds two of them: they
// are decoded, computed with and encoded again. So they are MLIR's element types while a model is imported, and
// names in a program's inputs and outputs and in files. In between they are byte tensors: one element per byte,
// in the low bits with zeros above, and decoding is ordinary integer arithmetic, which every device has
// already.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/base/DType.h"

#include "mlir/IR/BuiltinAttributeInterfaces.h"

#include <array>

namespace kiln {

struct NarrowDType {
  enum class Kind : uint8_t {
    Integer,
    Unsigned,
    Ieee,     ///< the largest exponent is infinity and NaN
    Finite,   ///< every code is a number
    OneNaN,   ///< no infinity; the code of ones, with either sign, is NaN
    NoMinus0, ///< no infinity and no -0, whose code is NaN
    Scale,    ///< powers of two, without sign or zero; the code of ones is NaN
  };
  llvm::StringLiteral name;        ///< ml_dtypes' name
  llvm::StringLiteral runtimeName; ///< the enumerator of kiln/kiln.h
  Kind kind;
  uint8_t exponentBits, mantissaBits; ///< for an integer: none, and all of its bits
  uint8_t bias;
  mlir::Type (*type)(mlir::MLIRContext *);

  bool isInteger() const { return kind <= Kind::Unsigned; }
  bool hasSign() const { return kind != Kind::Unsigned && kind != Kind::Scale; }
  /// Of a code.
  unsigned bits() const { return exponentBits + mantissaBits + (hasSign() && !isInteger()); }
};

/// In the order of the runtime's kiln_dtype, in which they follow those of DType.
llvm::ArrayRef<NarrowDType> narrowDTypes();
/// Null for any other type.
const NarrowDType *narrowDType(mlir::Type element);
/// The code of a number of a narrow dtype.
llvm::APInt codeOf(mlir::TypedAttr number);
inline bool isNarrow(mlir::Type element) { return narrowDType(element) != nullptr; }
/// The type of an element in memory: ui8 for a narrow dtype, i64 for a reference (ObjectType.h), else the type itself.
mlir::Type storageType(mlir::Type element);

/// The attribute of an argument or result of @main whose elements are stored as another type: their own type. Ports of
/// a host.program have it as the element type of their type.
inline constexpr llvm::StringLiteral kPortDTypeAttr = "graph.dtype";

/// The number that the runtime's kiln_dtype has for the element type of a port.
int32_t runtimeDType(mlir::Type element);

} // namespace kiln
