//===- LlvmFloat.h - Conversions between floats, even without an instruction ------------===//
//
// f16 and bf16 are computed in f32. A CPU without a conversion gets integer arithmetic instead of a library call, so
// that kiln's programs need only libm. Every conversion rounds once, halves to even, keeps infinities and gives a NaN
// for a NaN.
//
//===-------------------------------------------------------------------------------------===//
#pragma once

#include "render/llvm/LlvmType.h"

namespace kiln::render {

class LlvmFloat {
public:
  /// `nativeHalf`: the CPU converts between f16 and f32.
  LlvmFloat(llvm::IRBuilderBase &builder, bool nativeHalf) : b_(builder), nativeHalf_(nativeHalf) {}

  /// `value` of float dtype `from` in float dtype `to`.
  llvm::Value *convert(llvm::Value *value, mlir::Type from, mlir::Type to);

private:
  llvm::Value *widenHalf(llvm::Value *half);
  llvm::Value *narrowToHalf(llvm::Value *single);
  llvm::Value *widenBrain(llvm::Value *brain);
  llvm::Value *narrowToBrain(llvm::Value *single);
  llvm::Value *narrowToOdd(llvm::Value *twice);
  llvm::Value *bits(llvm::Value *value);
  llvm::Constant *constant(llvm::Type *type, uint64_t value);

  llvm::IRBuilderBase &b_;
  bool nativeHalf_;
};

} // namespace kiln::render
