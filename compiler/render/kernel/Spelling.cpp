//===- Spelling.cpp - Write an operation in C so that it keeps its meaning ---------------------------===//
//
// A row of Alu.def has a pattern, but C gives it another meaning for some dtypes: signed sums overflow, small integers
// are widened to int, shifts have a range, bool is an integer. There an operation becomes a cast around its pattern or
// a call of a function (Semantics.h) that the file then has. The pattern alone, which compilers understand best, stays
// wherever it is the whole meaning.
//
//===----------------------------------------------------------------------===//

#include "render/kernel/Spelling.h"

#include "ir/base/AluTraits.h"

#include "render/kernel/Number.h"
#include "render/kernel/Pattern.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace kiln;
using namespace kiln::render;

static std::optional<llvm::APInt> integerOf(const Operand &operand) {
  auto integer = llvm::dyn_cast_or_null<mlir::IntegerAttr>(operand.constant);
  return integer ? std::optional(integer.getValue()) : std::nullopt;
}

std::string Spelling::constant(mlir::TypedAttr value) const {
  DType dtype = scalarDType(value.getType());
  if (auto integer = llvm::dyn_cast<mlir::IntegerAttr>(value))
    return integerLiteral(language_, dtype, integer.getValue());
  llvm::APFloat number = llvm::cast<mlir::FloatAttr>(value).getValue();
  if (isSmallFloat(dtype))
    return std::to_string(number.bitcastToAPInt().getZExtValue());
  if (number.isNaN())
    return "NAN";
  std::string text = number.isInfinity() ? (number.isNegative() ? "-INFINITY" : "INFINITY")
                                         : floatText(llvm::cast<mlir::FloatAttr>(value).getValueAsDouble()) +
                                               (dtype == DType::F32 ? "f" : "");
  return number.isNegative() ? "(" + text + ")" : text;
}

std::string Spelling::pattern(Alu kind, DType dtype, llvm::ArrayRef<std::string> operands) const {
  return fillPattern(language_.alu(kind), [&](char key) -> std::string {
    if (llvm::isDigit(key))
      return operands[key - '0'];
    return key == 's' ? mathSuffix(language_, dtype).str() : language_.value(dtype).str();
  });
}

bool Spelling::isPlain(Alu kind, DType dtype) {
  switch (kind) {
  case Alu::ADD:
  case Alu::MUL:
  case Alu::NEG:
  case Alu::MULACC:
    return isFloat(dtype) || bitWidth(dtype) >= 32;
  case Alu::AND:
  case Alu::OR:
  case Alu::XOR:
    return true;
  case Alu::IDIV:
  case Alu::MOD:
  case Alu::FLOORDIV:
  case Alu::FLOORMOD:
  case Alu::MAX:
  case Alu::MIN:
  case Alu::SHL:
  case Alu::SHR:
  case Alu::CAST:
  case Alu::BITCAST:
  case Alu::CMPLT: // a vector's comparison is not a bool
  case Alu::CMPNE:
  case Alu::CMPEQ:
  case Alu::WHERE:
    return false;
  default:
    return isFloat(dtype);
  }
}

bool Spelling::isPlainCast(DType from, DType to) {
  return !isSmallFloat(from) && !isSmallFloat(to) && !(isFloat(from) && isInteger(to));
}

std::string Spelling::call(Alu kind, DType dtype, llvm::ArrayRef<Operand> operands) {
  std::string text = functions_.call(kind, dtype) + "(";
  for (auto [index, operand] : llvm::enumerate(operands))
    text += (index ? "," : "") + stripParens(operand.text).str();
  return text + ")";
}

/// Bool is an integer of one bit whose sums saturate.
std::string Spelling::boolean(Alu kind, llvm::ArrayRef<Operand> operands) const {
  auto texts = llvm::map_to_vector(operands, [](const Operand &o) { return o.text; });
  switch (kind) {
  case Alu::NEG:
  case Alu::RECIP:
    return texts[0];
  case Alu::ADD:
  case Alu::MAX:
    return pattern(Alu::OR, DType::Bool, texts);
  case Alu::MUL:
  case Alu::MIN:
  case Alu::FDIV:
  case Alu::IDIV:
  case Alu::FLOORDIV:
    return pattern(Alu::AND, DType::Bool, texts);
  case Alu::MOD:
  case Alu::FLOORMOD:
  case Alu::SHL:
  case Alu::SHR:
    return "(" + texts[0] + "&!" + texts[1] + ")";
  case Alu::POW:
    return "(" + texts[0] + "|!" + texts[1] + ")";
  case Alu::MULACC:
    return "((" + texts[0] + "&" + texts[1] + ")|" + texts[2] + ")";
  default:
    return pattern(kind, DType::Bool, texts);
  }
}

/// Arithmetic on half and bfloat16 is float arithmetic, rounded once.
std::string Spelling::widened(Alu kind, DType dtype, llvm::ArrayRef<Operand> operands) {
  auto wide = llvm::map_to_vector(operands, [&](const Operand &operand) {
    if (aluInfo(kind).rule == AluRule::Scale && &operand != &operands.front())
      return operand;
    if (auto number = llvm::dyn_cast_or_null<mlir::FloatAttr>(operand.constant))
      return Operand{
          constant(mlir::FloatAttr::get(mlir::Float32Type::get(number.getContext()), number.getValueAsDouble()))};
    return Operand{cast(dtype, DType::F32, operand.text)};
  });
  std::string text = alu(kind, DType::F32, wide);
  return aluInfo(kind).rule == AluRule::Compare ? text : cast(DType::F32, dtype, text);
}

/// Whether the operation is a function of reals, which takes an integer to double and back.
static bool isReal(Alu kind) {
  return kind == Alu::SQRT || (aluTraits(kind).family == AluClass::Function && kind != Alu::POW);
}

static bool isRounding(Alu kind) { return aluTraits(kind).family == AluClass::Rounding; }

/// A comparison that the dtype's range decides; compilers warn of it, so it is written as its answer.
static std::optional<bool> decided(Alu kind, DType dtype, llvm::ArrayRef<Operand> operands) {
  if (kind != Alu::CMPLT || !isInteger(dtype))
    return std::nullopt;
  std::optional<llvm::APInt> left = integerOf(operands[0]), right = integerOf(operands[1]);
  bool isSigned = isSignedInteger(dtype);
  if ((left && (isSigned ? left->isMaxSignedValue() : left->isMaxValue())) ||
      (right && (isSigned ? right->isMinSignedValue() : right->isZero())))
    return false;
  return std::nullopt;
}

std::string Spelling::alu(Alu kind, DType dtype, llvm::ArrayRef<Operand> operands) {
  if (!isFloat(dtype) && isRounding(kind))
    return operands[0].text;
  if (!isFloat(dtype) && isReal(kind))
    return cast(DType::F64, dtype, alu(kind, DType::F64, Operand{cast(dtype, DType::F64, operands[0].text)}));
  if (dtype == DType::Bool)
    return boolean(kind, operands);
  auto texts = llvm::map_to_vector(operands, [](const Operand &o) { return o.text; });
  if (kind == Alu::WHERE)
    return pattern(kind, dtype, texts);
  if (isSmallFloat(dtype))
    return widened(kind, dtype, operands);
  if (std::optional<bool> answer = decided(kind, dtype, operands))
    return "((void)" + operands[integerOf(operands[0]) ? 1 : 0].text + "," + (*answer ? "1" : "0") + ")";

  auto wrapped = [&](std::string text) {
    return bitWidth(dtype) < 32 ? ("(" + language_.value(dtype) + ")" + text).str() : text;
  };
  std::optional<llvm::APInt> second = operands.size() > 1 ? integerOf(operands[1]) : std::nullopt;
  switch (kind) {
  case Alu::RECIP:
    if (isFloat(dtype))
      return pattern(kind, dtype, texts);
    return call(Alu::IDIV, dtype, {Operand{"1"}, operands[0]});
  case Alu::FDIV:
    return isFloat(dtype) ? pattern(kind, dtype, texts) : alu(Alu::IDIV, dtype, operands);
  case Alu::IDIV:
  case Alu::MOD:
    if (second && !second->isZero() && !(isSignedInteger(dtype) && second->isAllOnes()))
      return wrapped(pattern(kind, dtype, texts));
    return call(kind, dtype, operands);
  case Alu::SHL:
  case Alu::SHR:
    if (second && second->ult(bitWidth(dtype)) && !operands[0].constant)
      return wrapped("(" + texts[0] + (kind == Alu::SHL ? "<<" : ">>") + texts[1] + ")");
    return call(kind, dtype, operands);
  case Alu::FLOORDIV:
  case Alu::FLOORMOD:
  case Alu::MAX:
  case Alu::MIN:
    return call(kind, dtype, operands);
  case Alu::POW:
    return isFloat(dtype) ? pattern(kind, dtype, texts) : call(kind, dtype, operands);
  case Alu::ADD:
  case Alu::MUL:
  case Alu::NEG:
  case Alu::MULACC:
    return wrapped(pattern(kind, dtype, texts));
  default:
    return pattern(kind, dtype, texts);
  }
}

std::string Spelling::fma(DType dtype, llvm::ArrayRef<Operand> operands) {
  if (!isFloat(dtype))
    return alu(Alu::MULACC, dtype, operands);
  if (isSmallFloat(dtype)) {
    // The product of two 16-bit floats is exact in double.
    auto wide =
        llvm::map_to_vector(operands, [&](const Operand &o) { return Operand{cast(dtype, DType::F64, o.text)}; });
    return cast(DType::F64, dtype, fma(DType::F64, wide));
  }
  std::string text = ("fma" + mathSuffix(language_, dtype) + "(").str();
  for (auto [index, operand] : llvm::enumerate(operands))
    text += (index ? "," : "") + stripParens(operand.text).str();
  return text + ")";
}

std::string Spelling::cast(DType from, DType to, const std::string &text) {
  if (from == to)
    return text;
  auto call = [&](DType from, DType to, llvm::StringRef argument) {
    return functions_.cast(from, to) + "(" + stripParens(argument).str() + ")";
  };
  if (isSmallFloat(from))
    return cast(DType::F32, to, call(from, DType::F32, text));
  if (from == DType::F64 && isSmallFloat(to))
    return call(DType::F32, to, call(DType::F64, DType::F32, text));
  if (isSmallFloat(to))
    return call(DType::F32, to, cast(from, DType::F32, text));
  if (to == DType::Bool) // compilers distrust arithmetic that is converted to bool
    return "(" + text + "!=0)";
  if (!isPlainCast(from, to))
    return call(from, to, text);
  return ("(" + language_.value(to) + ")(" + text + ")").str();
}

std::string Spelling::bitcast(DType from, DType to, const std::string &text) {
  if (language_.value(from) == language_.value(to))
    return text;
  if (llvm::StringRef pattern = language_.alu(Alu::BITCAST); !pattern.empty())
    return fillPattern(pattern, [&](char key) { return key == '0' ? text : language_.value(to).str(); });
  return functions_.bitcast(from, to) + "(" + stripParens(text).str() + ")";
}
