#include "render/llvm/LlvmAlu.h"

#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

#include <cmath>

using namespace kiln;
using namespace kiln::render;
using llvm::Value;
using namespace llvm::PatternMatch;
namespace Intrinsic = llvm::Intrinsic;

static bool isReal(mlir::Type type) { return llvm::isa<mlir::FloatType>(type); }
/// Stored in 16 bits, computed with in f32.
static bool isNarrow(mlir::Type type) { return type.isF16() || type.isBF16(); }

static llvm::Constant *integer(Value *like, int64_t value) {
  return llvm::ConstantInt::get(like->getType(), value, /*IsSigned=*/true);
}

static const llvm::APInt *asConstant(Value *value) {
  if (auto *vector = llvm::dyn_cast<llvm::Constant>(value); vector && value->getType()->isVectorTy())
    value = vector->getSplatValue();
  auto *number = llvm::dyn_cast_or_null<llvm::ConstantInt>(value);
  return number ? &number->getValue() : nullptr;
}

Value *LlvmAlu::emit(Alu kind, mlir::Type from, mlir::Type to, llvm::ArrayRef<Value *> operands, AluFacts facts) {
  switch (kind) {
  case Alu::CAST:
    return cast(operands[0], from, to);
  case Alu::BITCAST:
    return b_.CreateBitCast(operands[0], withLanesOf(registerType(b_.getContext(), to), operands[0]->getType()));
  case Alu::WHERE:
    return b_.CreateSelect(operands[0], operands[1], operands[2]);
  default:
    break;
  }
  if (!isReal(from))
    return emitInteger(kind, from, operands, facts);
  if (!isNarrow(from))
    return emitFloat(kind, from, operands);
  mlir::Type single = mlir::Float32Type::get(from.getContext());
  llvm::SmallVector<Value *, 3> widened;
  for (Value *operand : operands)
    widened.push_back(kind == Alu::LDEXP && !widened.empty() ? operand : float_.convert(operand, from, single));
  Value *result = emitFloat(kind, single, widened);
  return aluInfo(kind).rule == AluRule::Compare ? result : float_.convert(result, single, to);
}

Value *LlvmAlu::fma(mlir::Type type, Value *a, Value *b, Value *c) {
  if (!isReal(type))
    return emitInteger(Alu::MULACC, type, {a, b, c}, {});
  // Two f16 or bf16 multiply exactly in f32; one f64 addition then leaves a single rounding.
  mlir::Type wide = isNarrow(type) ? mlir::Type(mlir::Float64Type::get(type.getContext())) : type;
  Value *result =
      b_.CreateIntrinsic(Intrinsic::fma, {withLanesOf(registerType(b_.getContext(), wide), a->getType())},
                         {float_.convert(a, type, wide), float_.convert(b, type, wide), float_.convert(c, type, wide)});
  return float_.convert(result, wide, type);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Value *LlvmAlu::cast(Value *value, mlir::Type from, mlir::Type to) {
  if (from == to)
    return value;
  llvm::Type *target = withLanesOf(registerType(b_.getContext(), to), value->getType());
  if (to.isInteger(1)) {
    if (!isReal(from))
      return b_.CreateICmpNE(value, integer(value, 0));
    if (isNarrow(from))
      value = float_.convert(value, from, mlir::Float32Type::get(from.getContext()));
    return b_.CreateFCmpUNE(value, llvm::Constant::getNullValue(value->getType()));
  }
  if (isReal(from) && isReal(to))
    return float_.convert(value, from, to);
  if (isReal(from)) {
    if (isNarrow(from))
      value = float_.convert(value, from, mlir::Float32Type::get(from.getContext()));
    return toInteger(value, !isSigned(to), target);
  }
  if (!isReal(to))
    return isSigned(from) ? b_.CreateSExtOrTrunc(value, target) : b_.CreateZExtOrTrunc(value, target);
  mlir::Type step = isNarrow(to) ? mlir::Type(mlir::Float32Type::get(to.getContext())) : to;
  llvm::Type *stepType = withLanesOf(registerType(b_.getContext(), step), value->getType());
  Value *real = isSigned(from) ? b_.CreateSIToFP(value, stepType) : b_.CreateUIToFP(value, stepType);
  return float_.convert(real, step, to);
}

Value *LlvmAlu::toInteger(Value *value, bool isUnsigned, llvm::Type *type) {
  unsigned bits = type->getScalarSizeInBits(), kept = isUnsigned ? bits : bits - 1;
  bool isX86 = b_.GetInsertBlock()->getModule()->getTargetTriple().isX86();
  if (!isX86 || !type->isVectorTy() || bits > 32 || (isUnsigned && bits == 32))
    return b_.CreateIntrinsic(isUnsigned ? Intrinsic::fptoui_sat : Intrinsic::fptosi_sat, {type, value->getType()},
                              {value});
  // LLVM takes a vector that saturates apart on x86, whose instructions convert to 32 bits.
  llvm::Type *word = type->getWithNewBitWidth(32);
  auto number = [&](double number) { return llvm::ConstantFP::get(value->getType(), number); };
  double end = std::ldexp(1.0, kept), begin = isUnsigned ? 0 : -end;
  if (bits < 32) {
    // A number that is rounded, perhaps plus an integer, is rounded as it is converted, by one instruction.
    Value *rounded = nullptr;
    const llvm::APFloat *added = nullptr;
    bool isSum = match(value, m_FAdd(m_Intrinsic<Intrinsic::roundeven>(m_Value(rounded)), m_APFloat(added))),
         isRounded = isSum || match(value, m_Intrinsic<Intrinsic::roundeven>(m_Value(rounded)));
    double zero = isSum ? added->convertToDouble() : 0;
    isRounded &= std::abs(zero) <= end && zero == std::nearbyint(zero);
    if (!isRounded)
      zero = 0;
    Value *given = isRounded ? rounded : value;
    Value *within = b_.CreateMinNum(b_.CreateMaxNum(given, number(begin - zero)), number(end - 1 - zero));
    within = isRounded ? b_.CreateIntrinsic(Intrinsic::lrint, {word, value->getType()}, {within})
                       : b_.CreateFPToSI(within, word);
    if (zero != 0)
      within = b_.CreateAdd(within, llvm::ConstantInt::getSigned(word, int64_t(zero)));
    if (!isUnsigned) // NaN became the least; of the others that is 0
      within = b_.CreateSelect(b_.CreateFCmpUNO(given, given), llvm::Constant::getNullValue(word), within);
    return b_.CreateTrunc(within, type);
  }
  Value *least = b_.CreateMaxNum(value, number(begin));
  // In f32 the largest number below the end is not the largest integer.
  Value *most = llvm::ConstantInt::get(word, llvm::APInt::getSignedMaxValue(32));
  Value *within = b_.CreateSelect(b_.CreateFCmpOGE(value, number(end)), most, b_.CreateFPToSI(least, word));
  return b_.CreateSelect(b_.CreateFCmpUNO(value, value), llvm::Constant::getNullValue(word), within);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// A function of libm that LLVM has no intrinsic for, called once per lane.
Value *LlvmAlu::callLibm(llvm::StringRef name, llvm::ArrayRef<Value *> operands) {
  if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(operands[0]->getType())) {
    Value *result = llvm::PoisonValue::get(vector);
    for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
      llvm::SmallVector<Value *, 2> scalars;
      for (Value *operand : operands)
        scalars.push_back(b_.CreateExtractElement(operand, lane));
      result = b_.CreateInsertElement(result, callLibm(name, scalars), lane);
    }
    return result;
  }
  llvm::Type *type = operands[0]->getType();
  std::string symbol = name.str() + (type->isFloatTy() ? "f" : "");
  llvm::SmallVector<llvm::Type *, 2> types(operands.size(), type);
  llvm::Module *module = b_.GetInsertBlock()->getModule();
  llvm::FunctionCallee callee = module->getOrInsertFunction(symbol, llvm::FunctionType::get(type, types, false));
  auto *function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory(); // kiln reads no errno
  function->setDoesNotThrow();
  function->setWillReturn();
  return b_.CreateCall(callee, operands);
}

Value *LlvmAlu::emitFloat(Alu kind, mlir::Type type, llvm::ArrayRef<Value *> operands) {
  Value *a = operands[0], *b = operands.size() > 1 ? operands[1] : nullptr;
  auto unary = [&](Intrinsic::ID id) { return b_.CreateUnaryIntrinsic(id, a); };
  auto binary = [&](Intrinsic::ID id) { return b_.CreateBinaryIntrinsic(id, a, b); };
  switch (kind) {
  case Alu::NEG:
    return b_.CreateFNeg(a);
  case Alu::RECIP:
    return b_.CreateFDiv(llvm::ConstantFP::get(a->getType(), 1), a);
  case Alu::SQRT:
    return unary(Intrinsic::sqrt);
  case Alu::EXP2:
    return unary(Intrinsic::exp2);
  case Alu::LOG2:
    return unary(Intrinsic::log2);
  case Alu::EXP:
    return unary(Intrinsic::exp);
  case Alu::LOG:
    return unary(Intrinsic::log);
  case Alu::SIN:
    return unary(Intrinsic::sin);
  case Alu::COS:
    return unary(Intrinsic::cos);
  case Alu::TANH:
    return unary(Intrinsic::tanh);
  case Alu::ERF:
    return callLibm("erf", {a});
  case Alu::FLOOR:
    return unary(Intrinsic::floor);
  case Alu::CEIL:
    return unary(Intrinsic::ceil);
  case Alu::ROUND:
    return unary(Intrinsic::roundeven);
  case Alu::TRUNC:
    return unary(Intrinsic::trunc);
  case Alu::ADD:
    return b_.CreateFAdd(a, b);
  case Alu::MUL:
    return b_.CreateFMul(a, b);
  case Alu::FDIV:
    return b_.CreateFDiv(a, b);
  case Alu::IDIV:
    return b_.CreateUnaryIntrinsic(Intrinsic::trunc, b_.CreateFDiv(a, b));
  case Alu::FLOORDIV:
    return b_.CreateUnaryIntrinsic(Intrinsic::floor, b_.CreateFDiv(a, b));
  case Alu::MOD:
    return b_.CreateFRem(a, b);
  case Alu::FLOORMOD: {
    Value *rest = b_.CreateFRem(a, b), *zero = llvm::Constant::getNullValue(a->getType());
    Value *wrongSide = b_.CreateAnd(b_.CreateFCmpONE(rest, zero),
                                    b_.CreateXor(b_.CreateFCmpOLT(rest, zero), b_.CreateFCmpOLT(b, zero)));
    return b_.CreateSelect(wrongSide, b_.CreateFAdd(rest, b), rest);
  }
  case Alu::LDEXP:
    return b_.CreateIntrinsic(Intrinsic::ldexp, {a->getType(), b->getType()}, {a, b});
  case Alu::POW:
    return binary(Intrinsic::pow);
  case Alu::MAX:
  case Alu::MIN: {
    // The sign of a zero result is open; without the flag LLVM orders the zeros, with more instructions.
    llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
    b_.setFastMathFlags([] {
      llvm::FastMathFlags flags;
      flags.setNoSignedZeros();
      return flags;
    }());
    return binary(kind == Alu::MAX ? Intrinsic::maximum : Intrinsic::minimum);
  }
  case Alu::CMPLT:
    return b_.CreateFCmpOLT(a, b);
  case Alu::CMPNE:
    return b_.CreateFCmpUNE(a, b);
  case Alu::CMPEQ:
    return b_.CreateFCmpOEQ(a, b);
  case Alu::MULACC:
    return b_.CreateFAdd(b_.CreateFMul(a, b), operands[2]);
  default:
    llvm_unreachable("the row is not one of floats");
  }
}

//===----------------------------------------------------------------------===//
// Integers and bool
//===----------------------------------------------------------------------===//

Value *LlvmAlu::emitInteger(Alu kind, mlir::Type type, llvm::ArrayRef<Value *> operands, AluFacts facts) {
  Value *a = operands[0], *b = operands.size() > 1 ? operands[1] : nullptr;
  bool isBool = type.isInteger(1), hasSign = isSigned(type), nsw = facts.noWrap && hasSign;
  bool nuw = nsw && facts.nonNegative;
  switch (kind) {
  case Alu::NEG:
    return isBool ? a : b_.CreateNeg(a, "", nsw);
  case Alu::RECIP:
    return divide(Alu::IDIV, hasSign, integer(a, 1), a, facts);
  case Alu::FLOOR:
  case Alu::CEIL:
  case Alu::ROUND:
  case Alu::TRUNC:
    return a;
  case Alu::ADD:
    return isBool ? b_.CreateOr(a, b) : b_.CreateAdd(a, b, "", nuw, nsw);
  case Alu::MUL:
    return isBool ? b_.CreateAnd(a, b) : b_.CreateMul(a, b, "", nuw, nsw);
  case Alu::MULACC:
    return emitInteger(Alu::ADD, type, {emitInteger(Alu::MUL, type, {a, b}, facts), operands[2]}, facts);
  case Alu::FDIV:
  case Alu::IDIV:
    return divide(Alu::IDIV, hasSign, a, b, facts);
  case Alu::MOD:
    return divide(Alu::MOD, hasSign, a, b, facts);
  case Alu::FLOORDIV:
  case Alu::FLOORMOD:
    if (hasSign && !facts.nonNegative)
      return floorDivide(kind, a, b, facts);
    return divide(kind == Alu::FLOORDIV ? Alu::IDIV : Alu::MOD, hasSign, a, b, facts);
  case Alu::MAX:
    return b_.CreateBinaryIntrinsic(hasSign ? Intrinsic::smax : Intrinsic::umax, a, b);
  case Alu::MIN:
    return b_.CreateBinaryIntrinsic(hasSign ? Intrinsic::smin : Intrinsic::umin, a, b);
  case Alu::CMPLT:
    return hasSign ? b_.CreateICmpSLT(a, b) : b_.CreateICmpULT(a, b);
  case Alu::CMPNE:
    return b_.CreateICmpNE(a, b);
  case Alu::CMPEQ:
    return b_.CreateICmpEQ(a, b);
  case Alu::AND:
    return b_.CreateAnd(a, b);
  case Alu::OR:
    return b_.CreateOr(a, b);
  case Alu::XOR:
    return b_.CreateXor(a, b);
  case Alu::SHL:
  case Alu::SHR:
    return shift(kind, hasSign, a, b);
  case Alu::POW:
    return power(hasSign, a, b);
  case Alu::SQRT:
  case Alu::EXP2:
  case Alu::LOG2:
  case Alu::EXP:
  case Alu::LOG:
  case Alu::SIN:
  case Alu::COS:
  case Alu::TANH:
  case Alu::ERF: {
    mlir::Type real = mlir::Float64Type::get(type.getContext());
    return cast(emitFloat(kind, real, {cast(a, type, real)}), real, type);
  }
  default:
    llvm_unreachable("the row is not one of integers");
  }
}

/// The wrapping product, by squaring; for a negative exponent, 1 IDIV the product.
Value *LlvmAlu::power(bool isSigned, Value *base, Value *exponent) {
  Value *zero = integer(base, 0), *one = integer(base, 1), *result = one, *square = base;
  Value *isNegative = isSigned ? b_.CreateICmpSLT(exponent, zero) : nullptr;
  Value *left = isSigned ? b_.CreateSelect(isNegative, b_.CreateNeg(exponent), exponent) : exponent;
  for (unsigned bit = 0; bit < base->getType()->getScalarSizeInBits(); ++bit) {
    if (bit)
      square = b_.CreateMul(square, square);
    Value *isSet = b_.CreateICmpNE(b_.CreateAnd(b_.CreateLShr(left, bit), one), zero);
    result = b_.CreateSelect(isSet, b_.CreateMul(result, square), result);
  }
  return isSigned ? b_.CreateSelect(isNegative, divide(Alu::IDIV, isSigned, one, result, {}), result) : result;
}

/// IDIV and MOD: the divisor is replaced if LLVM's instruction has no result.
Value *LlvmAlu::divide(Alu kind, bool isSigned, Value *a, Value *b, AluFacts facts) {
  bool quotient = kind == Alu::IDIV;
  if (facts.nonNegative)
    isSigned = false; // the same result, and cheaper by a constant
  const llvm::APInt *constant = asConstant(b);
  bool mayBeZero = !facts.divisorNonZero && (!constant || constant->isZero());
  bool mayBeMinusOne = isSigned && (!constant || constant->isAllOnes());
  Value *isZero = mayBeZero ? b_.CreateICmpEQ(b, integer(b, 0)) : nullptr;
  Value *isMinusOne = mayBeMinusOne ? b_.CreateICmpEQ(b, integer(b, -1)) : nullptr;
  Value *divisor = b;
  if (isZero)
    divisor = b_.CreateSelect(isZero, integer(b, 1), divisor);
  if (isMinusOne)
    divisor = b_.CreateSelect(isMinusOne, integer(b, 1), divisor);
  Value *result;
  if (quotient)
    result = isSigned ? b_.CreateSDiv(a, divisor) : b_.CreateUDiv(a, divisor);
  else
    result = isSigned ? b_.CreateSRem(a, divisor) : b_.CreateURem(a, divisor);
  if (isMinusOne && quotient)
    result = b_.CreateSelect(isMinusOne, b_.CreateNeg(a), result);
  if (isZero)
    result = b_.CreateSelect(isZero, quotient ? integer(a, 0) : a, result);
  return result;
}

Value *LlvmAlu::floorDivide(Alu kind, Value *a, Value *b, AluFacts facts) {
  if (const llvm::APInt *constant = asConstant(b); constant && constant->isStrictlyPositive() && constant->isPowerOf2())
    return kind == Alu::FLOORDIV ? b_.CreateAShr(a, constant->logBase2())
                                 : b_.CreateAnd(a, llvm::ConstantInt::get(a->getType(), *constant - 1));
  Value *rest = divide(Alu::MOD, /*isSigned=*/true, a, b, facts);
  Value *zero = integer(a, 0);
  // x mod 0 is x, whose sign may differ from 0's: no step down there.
  Value *wrongSide = b_.CreateAnd(b_.CreateICmpNE(rest, zero), b_.CreateICmpSLT(b_.CreateXor(rest, b), zero));
  if (!facts.divisorNonZero)
    wrongSide = b_.CreateAnd(wrongSide, b_.CreateICmpNE(b, zero));
  if (kind == Alu::FLOORMOD)
    return b_.CreateSelect(wrongSide, b_.CreateAdd(rest, b), rest);
  Value *result = divide(Alu::IDIV, /*isSigned=*/true, a, b, facts);
  return b_.CreateSelect(wrongSide, b_.CreateSub(result, integer(a, 1)), result);
}

/// The amount counts as unsigned, so a negative one is past the width.
Value *LlvmAlu::shift(Alu kind, bool isSigned, Value *a, Value *amount) {
  unsigned width = a->getType()->getScalarSizeInBits();
  if (kind == Alu::SHR && isSigned) {
    Value *capped = b_.CreateBinaryIntrinsic(Intrinsic::umin, amount, integer(amount, width - 1));
    return b_.CreateAShr(a, capped);
  }
  Value *shifted = kind == Alu::SHL ? b_.CreateShl(a, amount) : b_.CreateLShr(a, amount);
  // The width itself needs no room of its own in an i1: there every amount but 0 is past it.
  Value *inside =
      width == 1 ? b_.CreateICmpEQ(amount, integer(amount, 0)) : b_.CreateICmpULT(amount, integer(amount, width));
  return b_.CreateSelect(inside, shifted, integer(a, 0));
}
