#include "render/kernel/Semantics.h"

#include "render/kernel/Pattern.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/SmallString.h"

using namespace kiln;
using namespace kiln::render;

// In the patterns: $f the function's name, $a the argument's type, $t the result's, $w the unsigned type as wide as the
// result, $b the result's bits, $l $h its least and greatest value, $p 2 to the power of its value bits as the
// argument's literal, $n its least value as such a literal, $i the unsigned 32-bit type, $s what math functions end in.
namespace {

struct Row {
  Alu kind;
  bool (*takes)(DType);
  llvm::StringLiteral pattern;
};

constexpr Row kRows[] = {
    {Alu::IDIV, isSignedInteger,
     "static inline $t $f($t a, $t b) {\n"
     "  return b == 0 ? 0 : b == -1 ? ($t)(0-($w)a) : ($t)(a/b);\n"
     "}\n"},
    {Alu::IDIV, isUnsignedInteger, "static inline $t $f($t a, $t b) { return b == 0 ? 0 : a/b; }\n"},
    {Alu::IDIV, isFloat, "static inline $t $f($t a, $t b) { return trunc$s(a/b); }\n"},
    {Alu::MOD, isSignedInteger,
     "static inline $t $f($t a, $t b) {\n"
     "  return b == 0 ? a : b == -1 ? 0 : ($t)(a%b);\n"
     "}\n"},
    {Alu::MOD, isUnsignedInteger, "static inline $t $f($t a, $t b) { return b == 0 ? a : a%b; }\n"},
    {Alu::MOD, isFloat, "static inline $t $f($t a, $t b) { return fmod$s(a, b); }\n"},
    {Alu::FLOORDIV, isSignedInteger,
     "static inline $t $f($t a, $t b) {\n"
     "  if (b == 0 || b == -1)\n"
     "    return b == 0 ? 0 : ($t)(0-($w)a);\n"
     "  return ($t)(a/b-(a%b != 0 && (a < 0) != (b < 0)));\n"
     "}\n"},
    {Alu::FLOORDIV, isUnsignedInteger, "static inline $t $f($t a, $t b) { return b == 0 ? 0 : a/b; }\n"},
    {Alu::FLOORDIV, isFloat, "static inline $t $f($t a, $t b) { return floor$s(a/b); }\n"},
    {Alu::FLOORMOD, isSignedInteger,
     "static inline $t $f($t a, $t b) {\n"
     "  if (b == 0 || b == -1)\n"
     "    return b == 0 ? a : 0;\n"
     "  $t r = ($t)(a%b);\n"
     "  return r != 0 && (r < 0) != (b < 0) ? ($t)(r+b) : r;\n"
     "}\n"},
    {Alu::FLOORMOD, isUnsignedInteger, "static inline $t $f($t a, $t b) { return b == 0 ? a : a%b; }\n"},
    {Alu::FLOORMOD, isFloat,
     "static inline $t $f($t a, $t b) {\n"
     "  $t r = fmod$s(a, b);\n"
     "  return r != 0 && (r < 0) != (b < 0) ? r+b : r;\n"
     "}\n"},
    // A NaN on the left is kept by the last test, one on the right because nothing is greater than it.
    {Alu::MAX, isFloat, "static inline $t $f($t a, $t b) { return a > b || a != a ? a : b; }\n"},
    {Alu::MIN, isFloat, "static inline $t $f($t a, $t b) { return a < b || a != a ? a : b; }\n"},
    {Alu::MAX, isInteger, "static inline $t $f($t a, $t b) { return a > b ? a : b; }\n"},
    {Alu::MIN, isInteger, "static inline $t $f($t a, $t b) { return a < b ? a : b; }\n"},
    {Alu::SHL, isInteger, "static inline $t $f($t a, $t b) { return ($w)b < $b ? ($t)(($w)a << b) : 0; }\n"},
    {Alu::SHR, isSignedInteger, "static inline $t $f($t a, $t b) { return a >> (($w)b < $b ? b : $b-1); }\n"},
    {Alu::SHR, isUnsignedInteger, "static inline $t $f($t a, $t b) { return b < $b ? a >> b : 0; }\n"},
    {Alu::POW, isSignedInteger,
     "static inline $t $f($t a, $t b) {\n"
     "  $w r = 1, p = ($w)a;\n"
     "  for ($w n = b < 0 ? ($w)(0-($w)b) : ($w)b; n != 0; n >>= 1, p = ($w)(p*p))\n"
     "    r = n & 1 ? ($w)(r*p) : r;\n"
     "  return b >= 0 ? ($t)r : ($t)r == 1 || ($t)r == -1 ? ($t)r : 0; /* else 1 over it, truncated */\n"
     "}\n"},
    {Alu::POW, isUnsignedInteger,
     "static inline $t $f($t a, $t b) {\n"
     "  $t r = 1;\n"
     "  for (; b != 0; b >>= 1, a = ($t)(a*a))\n"
     "    r = b & 1 ? ($t)(r*a) : r;\n"
     "  return r;\n"
     "}\n"},
};

constexpr llvm::StringLiteral kFloatToInteger = "static inline $t $f($a x) {\n"
                                                "  if (x != x)\n"
                                                "    return 0;\n"
                                                "  return x < $n ? $l : x >= $p ? $h : ($t)x;\n"
                                                "}\n";

constexpr llvm::StringLiteral kHalfToFloat =
    "static inline $t $f($a x) {\n"
    "  union { $i bits; $t value; } u;\n"
    "  $i magnitude = x & 0x7fff;\n"
    "  if (magnitude < 0x400)\n"
    "    u.value = ($t)magnitude*5.9604644775390625e-08f; /* zeros and subnormals: units of 2^-24 */\n"
    "  else\n"
    "    u.bits = (magnitude << 13)+(magnitude < 0x7c00 ? 0x38000000 : 0x70000000);\n"
    "  u.bits |= ($i)(x & 0x8000) << 16;\n"
    "  return u.value;\n"
    "}\n";

constexpr llvm::StringLiteral kFloatToHalf =
    "static inline $t $f($a x) {\n"
    "  union { $a value; $i bits; } u;\n"
    "  u.value = x;\n"
    "  $i sign = u.bits >> 16 & 0x8000;\n"
    "  u.bits &= 0x7fffffff;\n"
    "  if (u.bits > 0x7f800000)\n"
    "    return ($t)(sign | 0x7e00);\n"
    "  if (u.bits >= 0x477ff000) /* 65520 rounds to infinity */\n"
    "    return ($t)(sign | 0x7c00);\n"
    "  if (u.bits < 0x38800000) { /* below 2^-14: adding 0.5 rounds to units of 2^-24 */\n"
    "    u.value += 0.5f;\n"
    "    return ($t)(sign | (u.bits-0x3f000000));\n"
    "  }\n"
    "  return ($t)(sign | (u.bits-0x38000000+0xfff+(u.bits >> 13 & 1)) >> 13);\n"
    "}\n";

constexpr llvm::StringLiteral kBrainToFloat = "static inline $t $f($a x) {\n"
                                              "  union { $i bits; $t value; } u;\n"
                                              "  u.bits = ($i)x << 16;\n"
                                              "  return u.value;\n"
                                              "}\n";

constexpr llvm::StringLiteral kFloatToBrain = "static inline $t $f($a x) {\n"
                                              "  union { $a value; $i bits; } u;\n"
                                              "  u.value = x;\n"
                                              "  if (x != x)\n"
                                              "    return ($t)(u.bits >> 16 | 0x40);\n"
                                              "  return ($t)((u.bits+0x7fff+(u.bits >> 16 & 1)) >> 16);\n"
                                              "}\n";

// The nearest float would be rounded a second time; an inexact one with an odd last bit is then rounded rightly.
constexpr llvm::StringLiteral kDoubleToOddFloat = "static inline $t $f($a x) {\n"
                                                  "  union { $t value; $i bits; } u;\n"
                                                  "  u.value = ($t)x;\n"
                                                  "  if (x == x && u.value != x && !(u.bits & 1))\n"
                                                  "    u.bits += (u.value > x) == (x > 0) ? -1 : 1;\n"
                                                  "  return u.value;\n"
                                                  "}\n";

constexpr llvm::StringLiteral kReinterpret = "static inline $t $f($a x) {\n"
                                             "  union { $a from; $t to; } u;\n"
                                             "  u.from = x;\n"
                                             "  return u.to;\n"
                                             "}\n";

} // namespace

static DType unsignedAs(DType dtype) {
  switch (bitWidth(dtype)) {
  case 8:
    return DType::U8;
  case 16:
    return DType::U16;
  case 32:
    return DType::U32;
  default:
    return DType::U64;
  }
}

std::string render::integerLiteral(const CLanguage &language, DType dtype, const llvm::APInt &value) {
  if (dtype == DType::Bool)
    return value.isZero() ? "0" : "1";
  llvm::SmallString<24> digits;
  if (!isSignedInteger(dtype)) {
    value.toString(digits, 10, /*Signed=*/false);
    if (bitWidth(dtype) == 32)
      digits += "u";
    else if (bitWidth(dtype) == 64)
      digits += ("u" + language.longSuffix).str();
    return digits.str().str();
  }
  // C has no negative literals: the least value of a type is one less than the negated greatest.
  bool isLeast = value.isMinSignedValue();
  llvm::APInt shown = isLeast ? value + 1 : value;
  shown.toString(digits, 10, /*Signed=*/true);
  if (!value.isSignedIntN(32) || (isLeast && bitWidth(dtype) == 64))
    digits += language.longSuffix;
  if (isLeast)
    return ("(" + digits + "-1)").str();
  return value.isNegative() ? ("(" + digits + ")").str() : digits.str().str();
}

llvm::StringRef render::mathSuffix(const CLanguage &language, DType dtype) {
  return dtype == DType::F32 ? llvm::StringRef(language.floatMath) : "";
}

std::string SemanticFunctions::define(std::string name, llvm::StringRef pattern, DType from, DType to) {
  for (auto &[known, text] : functions_)
    if (known == name)
      return name;
  unsigned bits = bitWidth(to);
  auto least = [&] { return isSignedInteger(to) ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt(bits, 0); };
  auto greatest = [&] {
    return isSignedInteger(to) ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  };
  auto asFloat = [&](const llvm::APInt &value) {
    llvm::SmallString<24> digits;
    value.toString(digits, 10, /*Signed=*/true);
    return (digits + (from == DType::F32 ? ".0f" : ".0")).str();
  };
  std::string text = fillPattern(pattern, [&](char key) -> std::string {
    switch (key) {
    case 'f':
      return name;
    case 'a':
      return language_.value(from).str();
    case 't':
      return language_.value(to).str();
    case 'w':
      return language_.value(unsignedAs(to)).str();
    case 'b':
      return std::to_string(bits);
    case 'l':
      return integerLiteral(language_, to, least());
    case 'h':
      return integerLiteral(language_, to, greatest());
    case 'n':
      return asFloat(least().sext(bits + 2));
    case 'p':
      return asFloat(greatest().zext(bits + 2) + 1);
    case 'i':
      return language_.value(DType::U32).str();
    default:
      assert(key == 's' && "a pattern has an unknown placeholder");
      return mathSuffix(language_, to).str();
    }
  });
  functions_.emplace_back(name, std::move(text));
  return name;
}

std::string SemanticFunctions::call(Alu kind, DType dtype) {
  std::string name = ("kiln_" + aluInfo(kind).mnemonic + "_" + shortName(dtype)).str();
  for (const FunctionSpelling &spelling : language_.functions)
    if (spelling.kind == kind && spelling.dtype == dtype)
      return define(name, spelling.definition, dtype, dtype);
  for (const Row &row : kRows)
    if (row.kind == kind && row.takes(dtype))
      return define(name, row.pattern, dtype, dtype);
  llvm_unreachable("the operation means nothing in this dtype");
}

std::string SemanticFunctions::cast(DType from, DType to) {
  std::string name = ("kiln_" + shortName(from) + "_to_" + shortName(to)).str();
  for (const CastSpelling &spelling : language_.casts)
    if (spelling.from == from && spelling.to == to)
      return define(name, spelling.definition, from, to);
  if (from == DType::F16)
    return define(name, kHalfToFloat, from, to);
  if (from == DType::BF16)
    return define(name, kBrainToFloat, from, to);
  if (to == DType::F16)
    return define(name, kFloatToHalf, from, to);
  if (to == DType::BF16)
    return define(name, kFloatToBrain, from, to);
  if (to == DType::F32)
    return define(name + "_odd", kDoubleToOddFloat, from, to);
  return define(name, kFloatToInteger, from, to);
}

std::string SemanticFunctions::bitcast(DType from, DType to) {
  return define(("kiln_" + shortName(from) + "_as_" + shortName(to)).str(), kReinterpret, from, to);
}

std::string SemanticFunctions::definitions() const {
  std::string text;
  for (auto &[name, definition] : functions_)
    text += definition + "\n";
  return text;
}
