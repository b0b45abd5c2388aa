//===- AluRows.h - One element of each row of Alu.def ---------------------------===//
//
// Every element-wise row has one definition on numbers, which both constant folding (Evaluate.h) and the interpreter's
// loops use: a template over row and element type, so that a loop has the arithmetic in it and no switch.
// aluElement<ROW>(operands…) takes the C++ types of elements; isDefined<ROW, T> says for which types it exists. T is
// float or double if the element is a float: the caller widens and rounds f16 and bf16.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "ir/base/Alu.h"
#include "ir/base/ConvertElement.h"

#include <cmath>

namespace kiln {

constexpr bool isBitwise(Alu row) {
  return row == Alu::AND || row == Alu::OR || row == Alu::XOR || row == Alu::SHL || row == Alu::SHR;
}

template <Alu Row, class T>
inline constexpr bool isDefined =
    Row == Alu::THREEFRY ? std::is_same_v<T, uint64_t> : !(isBitwise(Row) && isFloatElement<T>);

/// The functions of reals.
template <Alu Row, class T> T realElement(T x) {
  if constexpr (Row == Alu::SQRT)
    return std::sqrt(x);
  else if constexpr (Row == Alu::EXP2)
    return std::exp2(x);
  else if constexpr (Row == Alu::LOG2)
    return std::log2(x);
  else if constexpr (Row == Alu::EXP)
    return std::exp(x);
  else if constexpr (Row == Alu::LOG)
    return std::log(x);
  else if constexpr (Row == Alu::SIN)
    return std::sin(x);
  else if constexpr (Row == Alu::COS)
    return std::cos(x);
  else if constexpr (Row == Alu::TANH)
    return std::tanh(x);
  else {
    static_assert(Row == Alu::ERF);
    return std::erf(x);
  }
}

inline uint64_t threefry(uint64_t counter, uint64_t key) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  uint32_t keys[3] = {uint32_t(key), uint32_t(key >> 32), 0};
  keys[2] = keys[0] ^ keys[1] ^ 0x1BD11BDA;
  uint32_t low = uint32_t(counter) + keys[0], high = uint32_t(counter >> 32) + keys[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (int rotation : rotations[group % 2]) {
      low += high;
      high = std::rotl(high, rotation) ^ low;
    }
    low += keys[(group + 1) % 3];
    high += keys[(group + 2) % 3] + group + 1;
  }
  return uint64_t(high) << 32 | low;
}

template <class T> T divideTruncated(T x, T y) {
  if (y == 0)
    return 0;
  if (std::is_signed_v<T> && y == T(-1))
    return T(0 - uint64_t(x));
  return T(x / y);
}

template <class T> T remainderTruncated(T x, T y) {
  if (y == 0)
    return x;
  if (std::is_signed_v<T> && y == T(-1))
    return 0;
  return T(x % y);
}

template <class T> T powerOfInteger(T base, T exponent) {
  uint64_t result = 1, square = uint64_t(int64_t(base));
  uint64_t left = exponent < T(0) ? 0 - uint64_t(exponent) : uint64_t(exponent);
  for (; left; left >>= 1, square *= square)
    if (left & 1)
      result *= square;
  return exponent < T(0) ? divideTruncated(T(1), T(result)) : T(result);
}

template <Alu Row, class T> T integerElement(T x, T y) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr unsigned width = 8 * sizeof(T);
  T remainder;
  switch (Row) {
  case Alu::ADD:
    return T(uint64_t(x) + uint64_t(y));
  case Alu::MUL:
    return T(uint64_t(x) * uint64_t(y));
  case Alu::FDIV:
  case Alu::IDIV:
    return divideTruncated(x, y);
  case Alu::MOD:
    return remainderTruncated(x, y);
  case Alu::FLOORDIV:
    remainder = remainderTruncated(x, y);
    return y != 0 && remainder != 0 && (remainder < 0) != (y < 0) ? T(divideTruncated(x, y) - 1)
                                                                  : divideTruncated(x, y);
  case Alu::FLOORMOD:
    remainder = remainderTruncated(x, y);
    return y != 0 && remainder != 0 && (remainder < 0) != (y < 0) ? T(remainder + y) : remainder;
  case Alu::POW:
    return powerOfInteger(x, y);
  case Alu::MAX:
    return x < y ? y : x;
  case Alu::MIN:
    return y < x ? y : x;
  case Alu::AND:
    return x & y;
  case Alu::OR:
    return x | y;
  case Alu::XOR:
    return x ^ y;
  case Alu::SHL:
    return Unsigned(y) < width ? T(uint64_t(x) << Unsigned(y)) : T(0);
  case Alu::SHR:
    return Unsigned(y) < width ? T(x >> Unsigned(y)) : T(x < 0 ? -1 : 0);
  case Alu::THREEFRY:
    return T(threefry(uint64_t(x), uint64_t(y)));
  default:
    llvm_unreachable("no binary row");
  }
}

/// Bool is an unsigned integer of one bit whose sums saturate.
template <Alu Row> bool boolElement(bool x, bool y) {
  switch (Row) {
  case Alu::ADD:
  case Alu::MAX:
  case Alu::OR:
    return x || y;
  case Alu::MUL:
  case Alu::MIN:
  case Alu::AND:
  case Alu::FDIV:
  case Alu::IDIV:
  case Alu::FLOORDIV:
    return x && y;
  case Alu::MOD:
  case Alu::FLOORMOD:
  case Alu::SHL:
  case Alu::SHR:
    return x && !y;
  case Alu::POW:
    return x || !y;
  case Alu::XOR:
    return x != y;
  default:
    llvm_unreachable("no binary row");
  }
}

template <Alu Row, class T> T floatElement(T x, T y) {
  T remainder;
  switch (Row) {
  case Alu::ADD:
    return x + y;
  case Alu::MUL:
    return x * y;
  case Alu::FDIV:
    return x / y;
  case Alu::IDIV:
    return std::trunc(x / y);
  case Alu::FLOORDIV:
    return std::floor(x / y);
  case Alu::MOD:
    return std::fmod(x, y);
  case Alu::FLOORMOD:
    remainder = std::fmod(x, y);
    return remainder != 0 && (remainder < 0) != (y < 0) ? remainder + y : remainder;
  case Alu::POW:
    return std::pow(x, y);
  case Alu::MAX:
    return std::isnan(x) || y < x ? x : y;
  case Alu::MIN:
    return std::isnan(x) || x < y ? x : y;
  default:
    llvm_unreachable("no binary row");
  }
}

template <Alu Row, class T> T aluElement(T x) {
  if constexpr (Row == Alu::NEG) {
    if constexpr (std::is_same_v<T, bool>)
      return x;
    else if constexpr (std::is_integral_v<T>)
      return T(0 - uint64_t(x));
    else
      return -x;
  } else if constexpr (Row == Alu::RECIP) {
    if constexpr (std::is_same_v<T, bool>)
      return x;
    else if constexpr (std::is_integral_v<T>)
      return divideTruncated(T(1), x);
    else
      return T(1) / x;
  } else if constexpr (Row == Alu::FLOOR || Row == Alu::CEIL || Row == Alu::ROUND || Row == Alu::TRUNC) {
    if constexpr (std::is_integral_v<T>)
      return x;
    else if constexpr (Row == Alu::FLOOR)
      return std::floor(x);
    else if constexpr (Row == Alu::CEIL)
      return std::ceil(x);
    else if constexpr (Row == Alu::ROUND)
      return std::nearbyint(x);
    else
      return std::trunc(x);
  } else if constexpr (std::is_integral_v<T>) {
    return convertElement<T>(realElement<Row>(double(x)));
  } else {
    return realElement<Row>(x);
  }
}

template <Alu Row, class T> T aluElement(T x, T y) {
  if constexpr (std::is_same_v<T, bool>)
    return boolElement<Row>(x, y);
  else if constexpr (std::is_integral_v<T>)
    return integerElement<Row>(x, y);
  else
    return floatElement<Row>(x, y);
}

template <Alu Row, class T> bool compareElements(T x, T y) {
  if constexpr (Row == Alu::CMPLT)
    return x < y;
  else if constexpr (Row == Alu::CMPEQ)
    return x == y;
  else {
    static_assert(Row == Alu::CMPNE);
    return x != y;
  }
}

} // namespace kiln
