#include "render/llvm/LlvmFloat.h"

using namespace kiln;
using namespace kiln::render;
using llvm::Value;

llvm::Constant *LlvmFloat::constant(llvm::Type *type, uint64_t value) { return llvm::ConstantInt::get(type, value); }

/// The bits of a float as an integer of its width.
Value *LlvmFloat::bits(Value *value) {
  llvm::Type *integer = b_.getIntNTy(value->getType()->getScalarSizeInBits());
  return b_.CreateBitCast(value, withLanesOf(integer, value->getType()));
}

Value *LlvmFloat::convert(Value *value, mlir::Type from, mlir::Type to) {
  if (from == to)
    return value;
  if (from.isF16())
    value = widenHalf(value);
  else if (from.isBF16())
    value = widenBrain(value);
  llvm::Type *single = withLanesOf(b_.getFloatTy(), value->getType());
  bool isDouble = from.isF64();
  if (to.isF64())
    return isDouble ? value : b_.CreateFPExt(value, withLanesOf(b_.getDoubleTy(), value->getType()));
  if (to.isF32())
    return isDouble ? b_.CreateFPTrunc(value, single) : value;
  if (isDouble)
    value = narrowToOdd(value);
  return to.isF16() ? narrowToHalf(value) : narrowToBrain(value);
}

/// f64 to f32 such that rounding the result once more, to a narrower float, gives the same as a single rounding: an
/// inexact result gets an odd last bit.
Value *LlvmFloat::narrowToOdd(Value *twice) {
  Value *single = b_.CreateFPTrunc(twice, withLanesOf(b_.getFloatTy(), twice->getType()));
  Value *back = b_.CreateFPExt(single, twice->getType());
  Value *word = bits(single);
  llvm::Type *type = word->getType();
  Value *even = b_.CreateICmpEQ(b_.CreateAnd(word, constant(type, 1)), constant(type, 0));
  Value *inexact = b_.CreateFCmpONE(back, twice);
  Value *magnitude = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, twice);
  Value *nearest = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back);
  Value *further = b_.CreateFCmpOGT(magnitude, nearest);
  Value *neighbour =
      b_.CreateSelect(further, b_.CreateAdd(word, constant(type, 1)), b_.CreateSub(word, constant(type, 1)));
  // A value that rounds to zero keeps its sign: the neighbour away from zero is 1, and "further" holds there.
  word = b_.CreateSelect(b_.CreateAnd(even, inexact), neighbour, word);
  return b_.CreateBitCast(word, single->getType());
}

Value *LlvmFloat::widenBrain(Value *brain) {
  llvm::Type *word = withLanesOf(b_.getInt32Ty(), brain->getType());
  Value *shifted = b_.CreateShl(b_.CreateZExt(brain, word), constant(word, 16));
  return b_.CreateBitCast(shifted, withLanesOf(b_.getFloatTy(), brain->getType()));
}

Value *LlvmFloat::narrowToBrain(Value *single) {
  Value *word = bits(single);
  llvm::Type *type = word->getType();
  Value *last = b_.CreateAnd(b_.CreateLShr(word, constant(type, 16)), constant(type, 1));
  Value *rounded = b_.CreateAdd(word, b_.CreateAdd(last, constant(type, 0x7fff)));
  Value *quiet = b_.CreateOr(word, constant(type, 0x400000));
  Value *chosen = b_.CreateSelect(b_.CreateFCmpUNO(single, single), quiet, rounded);
  return b_.CreateTrunc(b_.CreateLShr(chosen, constant(type, 16)), withLanesOf(b_.getInt16Ty(), type));
}

Value *LlvmFloat::widenHalf(Value *half) {
  llvm::Type *single = withLanesOf(b_.getFloatTy(), half->getType());
  if (nativeHalf_)
    return b_.CreateFPExt(half, single);
  llvm::Type *type = withLanesOf(b_.getInt32Ty(), half->getType());
  Value *word = b_.CreateZExt(bits(half), type);
  Value *magnitude = b_.CreateShl(b_.CreateAnd(word, constant(type, 0x7fff)), constant(type, 13));
  Value *exponent = b_.CreateAnd(magnitude, constant(type, 0x1f << 23));
  // Normal numbers differ from f32's in the exponent's bias; infinities and NaNs keep the largest exponent.
  Value *normal = b_.CreateAdd(magnitude, constant(type, uint64_t(127 - 15) << 23));
  Value *special = b_.CreateOr(magnitude, constant(type, 0xffu << 23));
  Value *isSpecial = b_.CreateICmpEQ(exponent, constant(type, 0x1f << 23));
  // Subnormal ones are a multiple of 2^-24.
  Value *tiny = b_.CreateFMul(b_.CreateUIToFP(b_.CreateAnd(word, constant(type, 0x7fff)), single),
                              llvm::ConstantFP::get(single, 0x1p-24));
  Value *isTiny = b_.CreateICmpEQ(exponent, constant(type, 0));
  Value *chosen = b_.CreateSelect(isTiny, bits(tiny), b_.CreateSelect(isSpecial, special, normal));
  Value *sign = b_.CreateShl(b_.CreateAnd(word, constant(type, 0x8000)), constant(type, 16));
  return b_.CreateBitCast(b_.CreateOr(chosen, sign), single);
}

Value *LlvmFloat::narrowToHalf(Value *single) {
  llvm::Type *half = withLanesOf(b_.getHalfTy(), single->getType());
  if (nativeHalf_)
    return b_.CreateFPTrunc(single, half);
  Value *word = bits(single);
  llvm::Type *type = word->getType();
  Value *magnitude = b_.CreateAnd(word, constant(type, 0x7fffffff));
  Value *sign = b_.CreateAnd(b_.CreateLShr(word, constant(type, 16)), constant(type, 0x8000));
  // Normal: change the bias, then round away the 13 last bits, halves to even; a carry runs into the exponent as it
  // should.
  Value *last = b_.CreateAnd(b_.CreateLShr(magnitude, constant(type, 13)), constant(type, 1));
  Value *biased = b_.CreateSub(magnitude, constant(type, uint64_t(127 - 15) << 23));
  Value *normal = b_.CreateLShr(b_.CreateAdd(biased, b_.CreateAdd(last, constant(type, 0xfff))), constant(type, 13));
  // Subnormal: adding 0.5 aligns the last bit kept, 2^-24, with the last bit of f32, and the addition rounds.
  llvm::Type *floatType = single->getType();
  Value *aligned = b_.CreateFAdd(b_.CreateBitCast(magnitude, floatType), llvm::ConstantFP::get(floatType, 0.5));
  Value *tiny = b_.CreateSub(bits(aligned), constant(type, 126u << 23));
  Value *isTiny = b_.CreateICmpULT(magnitude, constant(type, uint64_t(127 - 14) << 23));
  Value *isLarge = b_.CreateICmpUGE(magnitude, constant(type, uint64_t(127 + 16) << 23));
  Value *isNan = b_.CreateICmpUGT(magnitude, constant(type, 0xffu << 23));
  Value *special = b_.CreateSelect(isNan, constant(type, 0x7e00), constant(type, 0x7c00));
  Value *chosen = b_.CreateSelect(isTiny, tiny, b_.CreateSelect(isLarge, special, normal));
  llvm::Type *shortType = withLanesOf(b_.getInt16Ty(), type);
  return b_.CreateBitCast(b_.CreateTrunc(b_.CreateOr(chosen, sign), shortType), half);
}
