#include "interp/UopMatrices.h"

#include "ir/base/HalfFloat.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

using namespace kiln;
using namespace kiln::interp;

static float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

template <class T> static float asFloat(T value) { return flushed(float(value)); }

/// For the totals' dtype, `Total`: how a term is taken in, and how totals are combined.
static float takeIn(float a, float b, float total) { return flushed(std::fma(a, b, total)); }
static float together(float a, float b) { return flushed(a + b); }
static int32_t takeIn(int32_t a, int32_t b, int32_t total) {
  return int32_t(uint32_t(total) + uint32_t(a) * uint32_t(b));
}
static int32_t together(int32_t a, int32_t b) { return int32_t(uint32_t(a) + uint32_t(b)); }

template <class Total, class T> static Total widened(T value) {
  if constexpr (std::is_same_v<Total, float>)
    return asFloat(value);
  else
    return Total(value);
}

template <class A, class B, class Total>
static void multiply(const char *a, const char *b, const char *sum, char *result, const MatrixSizes &sizes) {
  auto read = [](const char *matrix, size_t element, auto &into) {
    std::memcpy(&into, matrix + element * sizeof into, sizeof into);
  };
  for (uint32_t row = 0; row < sizes.rows; ++row)
    for (uint32_t column = 0; column < sizes.columns; ++column) {
      std::array<Total, kMostSide> totals{};
      for (uint32_t step = 0; step < sizes.steps; ++step)
        for (uint32_t term = 0; term < sizes.side; ++term) {
          A left;
          B right;
          read(a, (size_t(row) * sizes.steps + step) * sizes.side + term, left);
          read(b, (size_t(step) * sizes.columns + column) * sizes.side + term, right);
          totals[term] = takeIn(widened<Total>(left), widened<Total>(right), totals[term]);
        }
      Total added = totals[0], before;
      for (uint32_t term = 1; term < sizes.side; ++term)
        added = together(added, totals[term]);
      size_t at = size_t(row) * sizes.columns + column;
      read(sum, at, before);
      if constexpr (std::is_same_v<Total, float>)
        before = flushed(before);
      Total after = together(before, added);
      std::memcpy(result + at * sizeof after, &after, sizeof after);
    }
}

MatrixLoop interp::matrixLoop(DType a, DType b, DType sum) {
  if (sum == DType::F32 && a == DType::BF16 && b == DType::BF16)
    return multiply<BFloat16, BFloat16, float>;
  if (sum == DType::F32 && a == DType::F16 && b == DType::F16)
    return multiply<Half, Half, float>;
  if (sum != DType::I32)
    return nullptr;
  if (a == DType::I8 && b == DType::I8)
    return multiply<int8_t, int8_t, int32_t>;
  if (a == DType::U8 && b == DType::I8)
    return multiply<uint8_t, int8_t, int32_t>;
  if (a == DType::U8 && b == DType::U8)
    return multiply<uint8_t, uint8_t, int32_t>;
  return nullptr;
}

template <class T, class Total>
static void dot(const char *a, const char *b, const char *sum, char *result, const DotSizes &sizes) {
  auto read = [](const char *elements, size_t number) {
    T element;
    std::memcpy(&element, elements + number * sizeof element, sizeof element);
    return widened<Total>(element);
  };
  for (uint32_t lane = 0; lane < sizes.lanes; ++lane) {
    Total total;
    std::memcpy(&total, sum + lane * sizeof total, sizeof total);
    if constexpr (std::is_same_v<Total, float>)
      total = flushed(total);
    for (uint32_t term = sizes.side; term-- > 0;)
      total = takeIn(read(a, size_t(lane) * sizes.stepA + term), read(b, size_t(lane) * sizes.stepB + term), total);
    std::memcpy(result + lane * sizeof total, &total, sizeof total);
  }
}

DotLoop interp::dotLoop(DType a, DType b, DType sum) {
  if (a == DType::BF16 && b == DType::BF16 && sum == DType::F32)
    return dot<BFloat16, float>;
  if (a == DType::I16 && b == DType::I16 && sum == DType::I32)
    return dot<int16_t, int32_t>;
  return nullptr;
}
