//===- LlvmAlu.h - The rows of Alu.def in LLVM IR -------------------------------===//
//
// LLVM's instructions leave open (poison, undefined behaviour) cases that Alu.def fixes: division by zero, shifts past
// the width, conversions out of range. Each row closes them with selects. LLVM removes these if an operand is constant,
// and none are made if AluFacts says that the case cannot occur: index math would be full of them. f16 and bf16 are
// computed in f32 and rounded.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "render/llvm/LlvmFloat.h"

namespace kiln::render {

/// Facts about one operation on integers beyond its types; see IntegerBounds.h.
struct AluFacts {
  bool noWrap = false;         ///< the exact result fits the dtype (signed dtypes only)
  bool nonNegative = false;    ///< no operand is negative
  bool divisorNonZero = false; ///< the second operand is not 0
};

class LlvmAlu {
public:
  LlvmAlu(llvm::IRBuilderBase &builder, bool nativeHalf) : b_(builder), float_(builder, nativeHalf) {}

  /// One row on scalars or vectors. `from` is the dtype of the computation: that of the first operand, for WHERE of the
  /// second; `to` is the result's.
  llvm::Value *emit(Alu kind, mlir::Type from, mlir::Type to, llvm::ArrayRef<llvm::Value *> operands,
                    AluFacts facts = {});

  /// a*b + c with one rounding.
  llvm::Value *fma(mlir::Type type, llvm::Value *a, llvm::Value *b, llvm::Value *c);

private:
  llvm::Value *cast(llvm::Value *value, mlir::Type from, mlir::Type to);
  /// Towards 0; saturates, and NaN gives 0.
  llvm::Value *toInteger(llvm::Value *value, bool isUnsigned, llvm::Type *type);
  llvm::Value *emitFloat(Alu kind, mlir::Type type, llvm::ArrayRef<llvm::Value *> operands);
  llvm::Value *emitInteger(Alu kind, mlir::Type type, llvm::ArrayRef<llvm::Value *> operands, AluFacts facts);
  llvm::Value *divide(Alu kind, bool isSigned, llvm::Value *a, llvm::Value *b, AluFacts facts);
  llvm::Value *floorDivide(Alu kind, llvm::Value *a, llvm::Value *b, AluFacts facts);
  llvm::Value *shift(Alu kind, bool isSigned, llvm::Value *a, llvm::Value *amount);
  llvm::Value *power(bool isSigned, llvm::Value *base, llvm::Value *exponent);
  llvm::Value *callLibm(llvm::StringRef name, llvm::ArrayRef<llvm::Value *> operands);

  llvm::IRBuilderBase &b_;
  LlvmFloat float_;
};

} // namespace kiln::render
