#include "interp/UopMatrices.h"

#include "ir/base/HalfFloat.h"
#include "ir/base/Products.h"

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

template <class A, class B, class Total>
static void dot(const char *a, const char *b, const char *sum, char *result, const DotSizes &sizes) {
  auto read = [](const char *elements, size_t number, auto element) {
    std::memcpy(&element, elements + number * sizeof element, sizeof element);
    return widened<Total>(element);
  };
  for (uint32_t lane = 0; lane < sizes.lanes; ++lane) {
    Total total;
    std::memcpy(&total, sum + lane * sizeof total, sizeof total);
    if constexpr (std::is_same_v<Total, float>)
      total = flushed(total);
    for (uint32_t term = sizes.side; term-- > 0;)
      total = takeIn(read(a, size_t(lane) * sizes.stepA + term, A()), read(b, size_t(lane) * sizes.stepB + term, B()),
                     total);
    std::memcpy(result + lane * sizeof total, &total, sizeof total);
  }
}

namespace {
template <DType> struct Element;
template <> struct Element<DType::I8> {
  using Type = int8_t;
};
template <> struct Element<DType::U8> {
  using Type = uint8_t;
};
template <> struct Element<DType::I16> {
  using Type = int16_t;
};
template <> struct Element<DType::I32> {
  using Type = int32_t;
};
template <> struct Element<DType::F16> {
  using Type = Half;
};
template <> struct Element<DType::BF16> {
  using Type = BFloat16;
};
template <> struct Element<DType::F32> {
  using Type = float;
};

/// The loop of a row of Products.def: of one of the two kinds.
struct Loops {
  MatrixLoop matrix = nullptr;
  DotLoop dot = nullptr;
};
template <class A, class B, class Total> struct PlaceByPlace {
  static constexpr Loops loops{multiply<A, B, Total>, nullptr};
};
template <class A, class B, class Total> struct LastFirst {
  static constexpr Loops loops{nullptr, dot<A, B, Total>};
};
} // namespace

static constexpr Loops kLoops[] = {
#define KILN_PRODUCT(NAME, CPU, FEATURE, A, B, SUM, M, N, K, LOOP, ...)                                                \
  LOOP<Element<DType::A>::Type, Element<DType::B>::Type, Element<DType::SUM>::Type>::loops,
#define KILN_PRODUCT_LISTED(NAME, ...) {},
#include "ir/base/Products.def"
};

/// The loop of an instruction that multiplies operands of these dtypes.
static Loops loopsOf(llvm::StringRef name, DType a, DType b, DType sum) {
  std::optional<size_t> number = productNumber(name);
  if (!number)
    return {};
  const ProductRow &row = productRows()[*number];
  return row.a == a && row.b == b && row.sum == sum ? kLoops[*number] : Loops{};
}

MatrixLoop interp::matrixLoop(llvm::StringRef name, DType a, DType b, DType sum) {
  return loopsOf(name, a, b, sum).matrix;
}

DotLoop interp::dotLoop(llvm::StringRef name, DType a, DType b, DType sum) { return loopsOf(name, a, b, sum).dot; }
