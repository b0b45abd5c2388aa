// Evaluate.h says what each row of Alu.def computes. Constant folding and the interpreters use it, and what renderers
// make is compared with it, so a mistake in it would be made everywhere alike and no comparison would notice. The
// numbers here are therefore written by hand, at the corners where languages and machines differ: wrapping, x/0, shifts
// past the width, NaN, rounding.
#include "ir/base/Evaluate.h"
#include "ir/base/ConvertElement.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace kiln;

namespace {

template <class T> constexpr DType dtypeFor() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::Bool;
  else if constexpr (std::is_same_v<T, int8_t>)
    return DType::I8;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return DType::U8;
  else if constexpr (std::is_same_v<T, int16_t>)
    return DType::I16;
  else if constexpr (std::is_same_v<T, uint16_t>)
    return DType::U16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::I32;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return DType::U32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::I64;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return DType::U64;
  else if constexpr (std::is_same_v<T, Half>)
    return DType::F16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return DType::BF16;
  else if constexpr (std::is_same_v<T, float>)
    return DType::F32;
  else
    return DType::F64;
}

template <class T> Scalar scalar(T value) { return Scalar::of(dtypeFor<T>(), value); }

/// The row on operands of the result's dtype.
template <class T> T same(Alu kind, std::initializer_list<T> operands) {
  llvm::SmallVector<Scalar> scalars;
  for (T operand : operands)
    scalars.push_back(scalar(operand));
  std::optional<Scalar> result = evaluateAlu(kind, scalars, dtypeFor<T>());
  REQUIRE(result);
  return result->as<T>();
}
template <class T> bool compare(Alu kind, T a, T b) {
  return evaluateAlu(kind, {scalar(a), scalar(b)}, DType::Bool)->template as<bool>();
}
template <class To, class From> To cast(From value) {
  return castScalar(scalar(value), dtypeFor<To>()).template as<To>();
}

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int32_t kMin = std::numeric_limits<int32_t>::min(), kMax = std::numeric_limits<int32_t>::max();

} // namespace

TEST_CASE("integers wrap") {
  CHECK(same<int32_t>(Alu::ADD, {kMax, 1}) == kMin);
  CHECK(same<int8_t>(Alu::MUL, {100, 3}) == 44);
  CHECK(same<uint16_t>(Alu::MUL, {65535, 65535}) == 1);
  CHECK(same<uint8_t>(Alu::NEG, {1}) == 255);
  CHECK(same<int32_t>(Alu::NEG, {kMin}) == kMin);
  CHECK(same<int64_t>(Alu::ADD, {INT64_MAX, 2}) == INT64_MIN + 1);
  CHECK(same<int32_t>(Alu::MULACC, {kMax, 2, 3}) == 1);
}

TEST_CASE("IDIV and MOD truncate, FLOORDIV and FLOORMOD floor") {
  struct {
    int32_t x, y, idiv, mod, floordiv, floormod;
  } rows[] = {{7, 2, 3, 1, 3, 1},    {-7, 2, -3, -1, -4, 1}, {7, -2, -3, 1, -4, -1}, {-7, -2, 3, -1, 3, -1},
              {6, -2, -3, 0, -3, 0}, {7, 0, 0, 7, 0, 7},     {-7, 0, 0, -7, 0, -7},  {kMin, -1, kMin, 0, kMin, 0}};
  for (auto row : rows) {
    INFO(row.x << " by " << row.y);
    CHECK(same<int32_t>(Alu::IDIV, {row.x, row.y}) == row.idiv);
    CHECK(same<int32_t>(Alu::MOD, {row.x, row.y}) == row.mod);
    CHECK(same<int32_t>(Alu::FLOORDIV, {row.x, row.y}) == row.floordiv);
    CHECK(same<int32_t>(Alu::FLOORMOD, {row.x, row.y}) == row.floormod);
    CHECK(same<int32_t>(Alu::FDIV, {row.x, row.y}) == row.idiv);
  }
  CHECK(same<int64_t>(Alu::IDIV, {INT64_MIN, -1}) == INT64_MIN);
  CHECK(same<int8_t>(Alu::FLOORDIV, {-128, -1}) == -128);
  CHECK(same<uint32_t>(Alu::FLOORDIV, {UINT32_MAX, 2}) == kMax);
  CHECK(same<uint32_t>(Alu::MOD, {UINT32_MAX, UINT32_MAX}) == 0);
  CHECK(same<int32_t>(Alu::RECIP, {1}) == 1);
  CHECK(same<int32_t>(Alu::RECIP, {-1}) == -1);
  CHECK(same<int32_t>(Alu::RECIP, {0}) == 0);
  CHECK(same<int32_t>(Alu::RECIP, {2}) == 0);
}

TEST_CASE("floats divide as reals do") {
  CHECK(same<float>(Alu::FDIV, {1, 0}) == kInfinity);
  CHECK(same<float>(Alu::RECIP, {-0.0f}) == -kInfinity);
  CHECK(same<float>(Alu::IDIV, {-7, 2}) == -3);
  CHECK(same<float>(Alu::FLOORDIV, {-7, 2}) == -4);
  CHECK(same<float>(Alu::MOD, {-7.5, 2}) == -1.5);
  CHECK(same<float>(Alu::FLOORMOD, {-7.5, 2}) == 0.5);
  CHECK(same<float>(Alu::FLOORMOD, {7.5, -2}) == -0.5);
  CHECK(same<float>(Alu::FLOORMOD, {6, -2}) == 0);
  CHECK(std::isnan(same<float>(Alu::MOD, {1, 0})));
}

TEST_CASE("a shift by the width or more leaves nothing but the sign") {
  CHECK(same<int32_t>(Alu::SHL, {3, 4}) == 48);
  CHECK(same<int32_t>(Alu::SHL, {1, 31}) == kMin);
  CHECK(same<int32_t>(Alu::SHL, {1, 32}) == 0);
  CHECK(same<int32_t>(Alu::SHL, {1, -1}) == 0);
  CHECK(same<int64_t>(Alu::SHL, {1, 64}) == 0);
  CHECK(same<int32_t>(Alu::SHR, {-8, 1}) == -4);
  CHECK(same<int32_t>(Alu::SHR, {-8, 32}) == -1);
  CHECK(same<int32_t>(Alu::SHR, {8, 32}) == 0);
  CHECK(same<uint8_t>(Alu::SHR, {255, 1}) == 127);
  CHECK(same<uint8_t>(Alu::SHR, {255, 8}) == 0);
}

TEST_CASE("bitwise rows") {
  CHECK(same<int32_t>(Alu::AND, {12, 10}) == 8);
  CHECK(same<int32_t>(Alu::OR, {12, 10}) == 14);
  CHECK(same<int32_t>(Alu::XOR, {12, 10}) == 6);
  CHECK_FALSE(evaluateAlu(Alu::XOR, {scalar(1.0f), scalar(1.0f)}, DType::F32));
  CHECK_FALSE(evaluateAlu(Alu::SHL, {scalar(Half(1)), scalar(Half(1))}, DType::F16));
  CHECK_FALSE(evaluateAlu(Alu::THREEFRY, {scalar(1), scalar(1)}, DType::I32));
}

TEST_CASE("MAX and MIN give NaN when an operand is NaN") {
  for (Alu row : {Alu::MAX, Alu::MIN}) {
    CHECK(std::isnan(same<float>(row, {kNaN, 1})));
    CHECK(std::isnan(same<float>(row, {1, kNaN})));
    CHECK(std::isnan(same<double>(row, {1, kNaN})));
    CHECK(std::isnan(float(same<Half>(row, {Half(kNaN), Half(1)}))));
  }
  CHECK(same<float>(Alu::MAX, {-1, 2}) == 2);
  CHECK(same<float>(Alu::MAX, {2, -1}) == 2);
  CHECK(same<float>(Alu::MIN, {-1, 2}) == -1);
  CHECK(same<float>(Alu::MIN, {2, -1}) == -1);
  CHECK(same<int32_t>(Alu::MAX, {-1, 2}) == 2);
  CHECK(same<uint32_t>(Alu::MAX, {UINT32_MAX, 2}) == UINT32_MAX);
  CHECK(same<int32_t>(Alu::MIN, {-1, 2}) == -1);
}

TEST_CASE("comparisons, also with NaN") {
  CHECK(compare(Alu::CMPLT, 1, 2));
  CHECK_FALSE(compare(Alu::CMPLT, 2, 2));
  CHECK(compare(Alu::CMPLT, -1, 1));
  CHECK_FALSE(compare<uint32_t>(Alu::CMPLT, UINT32_MAX, 1));
  CHECK(compare(Alu::CMPNE, 1, 2));
  CHECK(compare(Alu::CMPEQ, 2, 2));
  CHECK_FALSE(compare(Alu::CMPLT, kNaN, 1.0f));
  CHECK(compare(Alu::CMPNE, kNaN, kNaN));
  CHECK_FALSE(compare(Alu::CMPEQ, kNaN, kNaN));
  CHECK(compare(Alu::CMPEQ, -0.0f, 0.0f));
  CHECK(compare(Alu::CMPLT, false, true));
  CHECK_FALSE(compare(Alu::CMPLT, true, true));
}

TEST_CASE("bool arithmetic") {
  struct {
    bool x, y, sum, product, exclusive, remainder, power;
  } rows[] = {{0, 0, 0, 0, 0, 0, 1}, {0, 1, 1, 0, 1, 0, 0}, {1, 0, 1, 0, 1, 1, 1}, {1, 1, 1, 1, 0, 0, 1}};
  for (auto row : rows) {
    INFO(row.x << " and " << row.y);
    for (Alu kind : {Alu::ADD, Alu::MAX, Alu::OR})
      CHECK(same<bool>(kind, {row.x, row.y}) == row.sum);
    for (Alu kind : {Alu::MUL, Alu::MIN, Alu::AND, Alu::IDIV, Alu::FLOORDIV})
      CHECK(same<bool>(kind, {row.x, row.y}) == row.product);
    for (Alu kind : {Alu::MOD, Alu::FLOORMOD, Alu::SHL, Alu::SHR})
      CHECK(same<bool>(kind, {row.x, row.y}) == row.remainder);
    CHECK(same<bool>(Alu::XOR, {row.x, row.y}) == row.exclusive);
    CHECK(same<bool>(Alu::POW, {row.x, row.y}) == row.power);
    CHECK(same<bool>(Alu::NEG, {row.x}) == row.x);
    CHECK(same<bool>(Alu::MULACC, {row.x, row.y, row.x}) == row.x);
  }
}

TEST_CASE("rounding rows") {
  struct {
    float x, floor, ceil, round, trunc;
  } rows[] = {{0.5, 0, 1, 0, 0}, {1.5, 1, 2, 2, 1}, {2.5, 2, 3, 2, 2}, {-2.5, -3, -2, -2, -2}, {-1.2, -2, -1, -1, -1}};
  for (auto row : rows) {
    INFO(row.x);
    CHECK(same<float>(Alu::FLOOR, {row.x}) == row.floor);
    CHECK(same<float>(Alu::CEIL, {row.x}) == row.ceil);
    CHECK(same<float>(Alu::ROUND, {row.x}) == row.round);
    CHECK(same<float>(Alu::TRUNC, {row.x}) == row.trunc);
    CHECK(float(same<Half>(Alu::ROUND, {Half(row.x)})) == row.round);
  }
  CHECK(same<int64_t>(Alu::FLOOR, {(int64_t(1) << 53) + 1}) == (int64_t(1) << 53) + 1);
}

TEST_CASE("functions of reals, in the dtype's precision") {
  CHECK(same<float>(Alu::SQRT, {2}) == 1.41421356f);
  CHECK(same<double>(Alu::SQRT, {2}) == 1.4142135623730951);
  CHECK(same<float>(Alu::EXP2, {-3}) == 0.125f);
  CHECK(same<float>(Alu::LOG2, {8}) == 3);
  CHECK(same<float>(Alu::LOG2, {0}) == -kInfinity);
  CHECK(std::isnan(same<float>(Alu::LOG, {-1})));
  CHECK(same<float>(Alu::EXP, {1}) == Approx(2.7182818f));
  CHECK(same<float>(Alu::LOG, {10}) == Approx(2.3025851f));
  CHECK(same<float>(Alu::SIN, {1}) == Approx(0.84147098f));
  CHECK(same<float>(Alu::COS, {1}) == Approx(0.54030231f));
  CHECK(same<float>(Alu::TANH, {0.5}) == Approx(0.46211716f));
  CHECK(same<float>(Alu::ERF, {0.5}) == Approx(0.52049988f));
  CHECK(same<float>(Alu::POW, {2, -1}) == 0.5f);
  CHECK(same<float>(Alu::NEG, {0}) == 0);
  CHECK(std::signbit(same<float>(Alu::NEG, {0})));
  CHECK(float(same<Half>(Alu::EXP, {Half(12)})) == kInfinity);
  CHECK(float(same<Half>(Alu::SQRT, {Half(2)})) == 1.4140625f);
  CHECK(same<int32_t>(Alu::SQRT, {17}) == 4);
  CHECK(same<int32_t>(Alu::LOG, {0}) == kMin);
  CHECK(same<uint8_t>(Alu::EXP2, {9}) == 255);
}

TEST_CASE("an integer's power is the wrapped product") {
  CHECK(same<int64_t>(Alu::POW, {3, 39}) == 4052555153018976267);
  CHECK(same<int32_t>(Alu::POW, {3, 21}) == int32_t(10460353203));
  CHECK(same<int32_t>(Alu::POW, {0, 0}) == 1);
  CHECK(same<int32_t>(Alu::POW, {2, -1}) == 0);
  CHECK(same<int32_t>(Alu::POW, {-1, -3}) == -1);
  CHECK(same<int32_t>(Alu::POW, {0, -1}) == 0);
}

TEST_CASE("WHERE chooses") {
  for (bool condition : {false, true}) {
    auto result = evaluateAlu(Alu::WHERE, {scalar(condition), scalar(int8_t(1)), scalar(int8_t(2))}, DType::I8);
    CHECK(result->as<int8_t>() == (condition ? 1 : 2));
  }
}

TEST_CASE("casts of integers wrap, of floats saturate") {
  CHECK(cast<int8_t>(300) == 44);
  CHECK(cast<uint32_t>(int8_t(-1)) == UINT32_MAX);
  CHECK(cast<int64_t>(UINT32_MAX) == 4294967295);
  CHECK(cast<int32_t>(-1.9f) == -1);
  CHECK(cast<int32_t>(3e9f) == kMax);
  CHECK(cast<int32_t>(-kInfinity) == kMin);
  CHECK(cast<int32_t>(kNaN) == 0);
  CHECK(cast<uint8_t>(-1.0f) == 0);
  CHECK(cast<uint8_t>(255.9) == 255);
  CHECK(cast<int64_t>(0x1p63) == INT64_MAX);
  CHECK(cast<uint64_t>(0x1p63) == uint64_t(1) << 63);
  CHECK(cast<uint64_t>(1e30f) == UINT64_MAX);
  CHECK(cast<int16_t>(Half(-65504)) == INT16_MIN);
  CHECK(cast<float>(16777217) == 16777216.0f);
  CHECK(cast<float>(UINT64_MAX) == 0x1p64f);
}

TEST_CASE("casts to and from bool") {
  CHECK(cast<bool>(256));
  CHECK(cast<bool>(0.25f));
  CHECK(cast<bool>(kNaN));
  CHECK_FALSE(cast<bool>(-0.0f));
  CHECK_FALSE(cast<bool>(Half(0)));
  CHECK(cast<float>(true) == 1);
  CHECK(cast<int64_t>(true) == 1);
  CHECK(float(cast<BFloat16>(true)) == 1);
}

TEST_CASE("f16 rounds to nearest even, through its subnormals to infinity") {
  auto half = [](double value) { return Half(value).bits; };
  CHECK(half(1) == 0x3c00);
  CHECK(half(-2) == 0xc000);
  CHECK(half(65504) == 0x7bff);
  CHECK(half(65519.996) == 0x7bff);
  CHECK(half(65520) == 0x7c00);
  CHECK(half(1e300) == 0x7c00);
  CHECK(half(-kInfinity) == 0xfc00);
  CHECK(half(1 + 0x1p-11) == 0x3c00);
  CHECK(half(1 + 0x3p-11) == 0x3c02);
  CHECK(half(1 + 0x1p-11 + 0x1p-40) == 0x3c01);
  CHECK(half(0x1p-14) == 0x0400);
  CHECK(half(0x1p-24) == 0x0001);
  CHECK(half(0x1p-25) == 0x0000);
  CHECK(half(0x1.8p-24) == 0x0002);
  CHECK(half(-0.0) == 0x8000);
  CHECK(half(0x1p-1074) == 0x0000);
  CHECK(half(kNaN) == 0x7e00);
}

TEST_CASE("every f16 and bf16 converts to float and back") {
  int wrong = 0;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    Half half;
    BFloat16 brain;
    half.bits = brain.bits = bits;
    float wide = float(half), brainWide = float(brain);
    wrong += !std::isnan(wide) && Half(wide).bits != bits;
    wrong += std::isnan(wide) != ((bits & 0x7fff) > 0x7c00);
    wrong += !std::isnan(brainWide) && BFloat16(brainWide).bits != bits;
    wrong += std::isnan(brainWide) != ((bits & 0x7fff) > 0x7f80);
  }
  CHECK(wrong == 0);
  Half smallest;
  smallest.bits = 1;
  CHECK(float(smallest) == 0x1p-24f);
}

TEST_CASE("bf16 keeps float's range") {
  CHECK(BFloat16(1).bits == 0x3f80);
  CHECK(BFloat16(1 + 0x1p-8).bits == 0x3f80);
  CHECK(BFloat16(1 + 0x3p-8).bits == 0x3f82);
  CHECK(BFloat16(3.4e38).bits == 0x7f80);
  CHECK(BFloat16(0x1p-133).bits == 0x0001);
  CHECK(float(cast<BFloat16>(3.0)) == 3);
}

TEST_CASE("f16 computes in f32 and rounds each result") {
  CHECK(float(same<Half>(Alu::ADD, {Half(2048), Half(1)})) == 2048);
  CHECK(float(same<Half>(Alu::ADD, {Half(2048), Half(3)})) == 2052);
  CHECK(float(same<Half>(Alu::MUL, {Half(256), Half(256)})) == kInfinity);
  // One rounding for the sum of a product, not one each.
  CHECK(float(same<Half>(Alu::MULACC, {Half(1 + 0x3p-10), Half(1 + 0x3p-10), Half(-1)})) == 0x6p-10f + 0x1p-17f);
}

TEST_CASE("MULACC of f32 rounds twice, fma once") {
  float x = 1 + 0x1p-12f;
  CHECK(same<float>(Alu::MULACC, {x, x, -1}) == 0x1p-11f);
  float y = -1, result;
  const void *operands[] = {&x, &x, &y};
  fmaLoop(DType::F32)(operands, &result, 1);
  CHECK(result == 0x1p-11f + 0x1p-24f);
}

TEST_CASE("BITCAST keeps the bits") {
  CHECK(evaluateAlu(Alu::BITCAST, scalar(1.0f), DType::I32)->as<int32_t>() == 0x3f800000);
  CHECK(evaluateAlu(Alu::BITCAST, scalar(int64_t(-1)), DType::U64)->as<uint64_t>() == UINT64_MAX);
}

TEST_CASE("LDEXP rounds once, to subnormals too") {
  auto scaled = [](float x, int32_t n) {
    return evaluateAlu(Alu::LDEXP, {scalar(x), scalar(n)}, DType::F32)->as<float>();
  };
  CHECK(scaled(1.5f, 4) == 24.0f);
  CHECK(scaled(0x1.000003p0f, -127) == 0x1.000004p-127f);
  CHECK(scaled(0x1.000003p-100f, -48) == 0x1p-148f);
  CHECK(std::isinf(scaled(1, 128)));
  CHECK(scaled(1, INT32_MIN) == 0);
}

TEST_CASE("THREEFRY is Threefry-2x32 of 20 rounds") {
  // The known answers that its authors publish, as (low, high) words of counter, key and result.
  auto words = [](uint64_t low, uint64_t high) { return high << 32 | low; };
  CHECK(same<uint64_t>(Alu::THREEFRY, {0, 0}) == words(0x6b200159, 0x99ba4efe));
  CHECK(same<uint64_t>(Alu::THREEFRY, {UINT64_MAX, UINT64_MAX}) == words(0x1cb996fc, 0xbb002be7));
  CHECK(same<uint64_t>(Alu::THREEFRY, {words(0x243f6a88, 0x85a308d3), words(0x13198a2e, 0x03707344)}) ==
        words(0xc4923a9c, 0x483df7a0));
}

TEST_CASE("attributes and scalars are one another") {
  mlir::MLIRContext context;
  for (Scalar value :
       {scalar(true), scalar(int8_t(-3)), scalar(UINT64_MAX), scalar(BFloat16(1.5)), scalar(-0.0f), scalar(2.5)}) {
    Scalar again = Scalar::of(value.attribute(&context));
    CHECK(again.dtype == value.dtype);
    CHECK(again.bits == value.bits);
  }
}

TEST_CASE("every row is computed for every dtype that has it") {
  for (uint32_t row = 0; row <= uint32_t(Alu::MULACC); ++row)
    for (unsigned dtype = 0; dtype < kDTypes; ++dtype) {
      Alu kind = Alu(row);
      bool bitwise = kind == Alu::AND || kind == Alu::OR || kind == Alu::XOR || kind == Alu::SHL || kind == Alu::SHR;
      if (kind == Alu::LDEXP) {
        CHECK((aluLoop(kind, DType::I32, DType(dtype)) != nullptr) == isFloat(DType(dtype)));
        continue;
      }
      bool expected = kind == Alu::THREEFRY ? DType(dtype) == DType::U64 : !(bitwise && isFloat(DType(dtype)));
      INFO(stringifyAlu(kind).str() << " of " << dtypeName(DType(dtype)).str());
      CHECK((aluLoop(kind, DType(dtype), DType(dtype)) != nullptr) == expected);
    }
}
