//===- Evaluate.h - The result of each element-wise operation ----------------===//
//
// The definition of Alu.def's rows on numbers. Alu.def says what is decided of integers, NaN and bool; beyond it:
//   Floats compute in their own precision with the C library's functions; f16 and bf16 compute in f32 and round the
//   result. Rows that are functions of reals (SQRT, EXP, SIN …) take an integer to f64 and come back as CAST does.
//   FLOOR, CEIL, ROUND and TRUNC leave an integer as it is; FDIV and RECIP of integers are IDIV; POW of integers is the
//   wrapped product, with a negative exponent 1 IDIV that. IDIV and FLOORDIV of floats are the truncated and the
//   floored quotient. CAST to bool is x != 0, so NaN is true; an integer becomes f16 or bf16 by way of f32. THREEFRY
//   exists for ui64: Threefry-2x32-20 of the counter $0 under the key $1, words low first. AND, OR, XOR, SHL, SHR exist
//   for integers and bool; a negative shift count counts as one past the width.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ir/base/Alu.h"
#include "ir/base/DType.h"

#include "mlir/IR/BuiltinAttributeInterfaces.h"

#include <cstring>

namespace kiln {

/// Computes `count` elements: result[i] from operands[k][i]. Arrays are dense; result may be one of the operands if the
/// sizes of their elements are equal.
using AluLoop = void (*)(const void *const *operands, void *result, int64_t count);

/// The loop of a row. `operand` is the dtype of the last operand (that of WHERE's branches), `result` the result's.
/// Null if the row is not defined for the dtype.
AluLoop aluLoop(Alu kind, DType operand, DType result);

/// a*b + c with one rounding; integers wrap. Bool is AND, then OR.
AluLoop fmaLoop(DType dtype);

/// One number of a dtype, held as its bits in memory.
struct Scalar {
  DType dtype = DType::Bool;
  uint64_t bits = 0;

  template <class T> static Scalar of(DType dtype, T value) {
    Scalar scalar{dtype, 0};
    std::memcpy(&scalar.bits, &value, sizeof(T));
    return scalar;
  }
  /// `value` must be an integer or float attribute of a dtype.
  static Scalar of(mlir::TypedAttr value);
  mlir::TypedAttr attribute(mlir::MLIRContext *context) const;

  /// The bits as T, which must be the dtype's C++ type.
  template <class T> T as() const {
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
  }
  const void *data() const { return &bits; }
};

/// The row on numbers; nullopt if it is not defined for the dtype.
std::optional<Scalar> evaluateAlu(Alu kind, llvm::ArrayRef<Scalar> operands, DType result);

/// `value` converted as CAST does.
Scalar castScalar(Scalar value, DType to);

} // namespace kiln
