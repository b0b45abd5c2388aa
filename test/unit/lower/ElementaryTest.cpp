// Functions of reals that are rewritten as plain arithmetic: how far they are from the nearest float, everywhere.
#include "MathKernel.h"

#include "ir/base/ConvertElement.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr unsigned kLanes = 256;

template <class T>
constexpr DType kDType = std::is_same_v<T, float>  ? DType::F32
                         : std::is_same_v<T, Half> ? DType::F16
                                                   : DType::BF16;

template <class T>
std::vector<T> compute(llvm::ArrayRef<const char *> rows, bool fma, const std::vector<T> &x,
                       const std::vector<T> *y = nullptr) {
  MathKernel kernel(rows, kDType<T>, int64_t(x.size()), kLanes, fma);
  std::vector<char> bytes = kernel.interpret(x.data(), y ? y->data() : nullptr);
  std::vector<T> result(x.size());
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

/// The largest distance, and where.
template <class T> struct Worst {
  int64_t ulps = 0;
  T x{}, y{}, got{}, wanted{};

  void note(T x, T y, T got, T wanted) {
    if (int64_t here = distance(got, wanted); here > ulps)
      *this = {here, x, y, got, wanted};
  }
};

template <class T> void check(const Worst<T> &worst, int64_t most) {
  INFO("at " << float(worst.x) << " " << float(worst.y) << ": " << float(worst.got) << ", not " << float(worst.wanted));
  CHECK(worst.ulps <= most);
}

/// Elements that a vector is filled up with.
template <class T> std::vector<T> padded(std::vector<T> values) {
  values.resize((values.size() + kLanes - 1) / kLanes * kLanes, T(1));
  return values;
}

template <class T> std::vector<T> allOf16Bits() {
  std::vector<T> values;
  for (uint32_t bits = 0; bits < 65536; ++bits)
    values.push_back(std::bit_cast<T>(uint16_t(bits)));
  return values;
}

template <class T> void checkAll16(bool fma) {
  std::vector<T> x = allOf16Bits<T>();
  for (const MathFunction &function : mathFunctions()) {
    INFO(function.name << (fma ? " with fma" : ""));
    std::vector<T> got = compute(function.rows, fma, x);
    Worst<T> worst;
    for (size_t i = 0; i < x.size(); ++i)
      worst.note(x[i], T(), got[i], convertElement<T>(function.reference(double(float(x[i])))));
    check(worst, 1);
  }
}

/// Powers that are neither 0 nor infinite, and every pair of values that C has a rule for.
void powers(std::vector<float> &x, std::vector<float> &y) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float special[] = {0.0f,        -0.0f,        1.0f,       -1.0f,       0.5f,       -0.5f,
                           2.0f,        -2.0f,        3.0f,       -3.0f,       2.5f,       -2.5f,
                           1e-40f,      -1e-40f,      3e38f,      -3e38f,      inf,        -inf,
                           nan,         1e9f,         8388607.0f, 8388608.0f,  8388609.0f, 16777215.0f,
                           16777216.0f, -16777215.0f, 4194303.5f, 0.99999994f, 1.0000001f};
  for (float base : special)
    for (float exponent : special) {
      x.push_back(base);
      y.push_back(exponent);
    }
  uint32_t state = 1;
  auto random = [&] { return double(state = state * 1664525 + 1013904223) / 0x1p32; };
  for (float base : stratified(400)) {
    double logarithm = std::log2(std::fabs(double(base)));
    if (!std::isfinite(logarithm) || logarithm == 0)
      continue;
    auto exponent = float((random() * 290 - 155) / logarithm);
    x.push_back(base);
    y.push_back(base < 0 ? std::nearbyint(exponent) : exponent);
  }
  x = padded(x), y = padded(y);
}

} // namespace

TEST_CASE("functions of a stratified million of float32 are as near as their table says") {
  const bool fma = GENERATE(false, true);
  std::vector<float> x = stratified(2048);
  for (const MathFunction &function : mathFunctions()) {
    INFO(function.name << (fma ? " with fma" : ""));
    std::vector<float> got = compute(function.rows, fma, x);
    Worst<float> worst;
    for (size_t i = 0; i < x.size(); ++i)
      worst.note(x[i], 0, got[i], float(function.reference(double(x[i]))));
    check(worst, function.ulps);
  }
}

TEST_CASE("functions of every 16-bit float are one place away at most") {
  const bool fma = GENERATE(false, true);
  checkAll16<Half>(fma);
  checkAll16<BFloat16>(fma);
}

TEST_CASE("A product with a power of 2 in one step has the bits that it has in two") {
  const char *name = GENERATE("exp", "exp2");
  std::vector<float> x = padded(stratified(256));
  const bool fma = GENERATE(false, true);
  std::vector<char> results[2];
  for (bool scales : {false, true}) {
    MathKernel kernel({name}, DType::F32, int64_t(x.size()), kLanes, fma, /*isRewritten=*/true, scales);
    unsigned steps = 0;
    kernel.function().walk([&](uop::AluOp op) { steps += op.getKind().getValue() == Alu::LDEXP; });
    CHECK(steps == unsigned(scales));
    results[scales] = kernel.interpret(x.data());
  }
  CHECK(results[0] == results[1]);
}

TEST_CASE("pow is near its result, and what C says of special values") {
  const bool fma = GENERATE(false, true);
  std::vector<float> x, y;
  powers(x, y);
  std::vector<float> got = compute({"pow"}, fma, x, &y);
  Worst<float> worst;
  for (size_t i = 0; i < x.size(); ++i)
    worst.note(x[i], y[i], got[i], float(std::pow(double(x[i]), double(y[i]))));
  check(worst, 1);
}
