// Rows that a device lacks and that are written as others: to the bit what they are.
#include "MathKernel.h"

#include "ir/base/ConvertElement.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <utility>

using namespace kiln;
using namespace kiln::test;

static constexpr std::pair<const char *, float (*)(float)> kRoundings[] = {
    {"floor", std::floor}, {"ceil", std::ceil}, {"round", std::nearbyint}, {"trunc", std::trunc}};

/// What a row gives, by the interpreter, which must not find the row itself.
template <class T>
static std::vector<T> compute(const char *row, DType dtype, unsigned lanes, const std::vector<T> &x,
                              const std::vector<T> *y = nullptr) {
  MathKernel kernel({row}, dtype, int64_t(x.size()), lanes, /*fma=*/false);
  kernel.function().walk([&](uop::AluOp op) { CHECK(aluInfo(op.getKind().getValue()).mnemonic != row); });
  std::vector<char> bytes = kernel.interpret(x.data(), y ? y->data() : nullptr);
  std::vector<T> result(x.size());
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

template <class T> static void checkRoundings(DType dtype, const std::vector<T> &x) {
  for (auto [row, rounded] : kRoundings) {
    std::vector<T> got = compute(row, dtype, /*lanes=*/64, x);
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < x.size(); ++i)
      if (distance(got[i], T(rounded(float(x[i])))) != 0 && wrong++ == 0)
        first = i;
    INFO(row << " of " << float(x[first]) << ": " << float(got[first]));
    CHECK(wrong == 0);
  }
}

TEST_CASE("roundings of float32 are exact, and keep the sign of 0") {
  std::vector<float> x = stratified(512); // of each sign and exponent
  // Halves, and their neighbours.
  for (int i = -256; i < 256; ++i)
    for (float value : {float(i) / 2, std::nextafter(float(i) / 2, 1e9f), std::nextafter(float(i) / 2, -1e9f)})
      x.push_back(value);
  checkRoundings(DType::F32, x);
}

TEST_CASE("roundings of every float of 16 bits are exact") {
  std::vector<Half> half;
  std::vector<BFloat16> brain;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    half.push_back(std::bit_cast<Half>(uint16_t(bits)));
    brain.push_back(std::bit_cast<BFloat16>(uint16_t(bits)));
  }
  checkRoundings(DType::F16, half);
  checkRoundings(DType::BF16, brain);
}

TEST_CASE("threefry is Threefry-2x32 of twenty rounds, alone and in lanes") {
  // The known answers that its authors publish.
  const std::vector<uint64_t> counters = {0, ~0ull, 0x85a308d3243f6a88, 0}, keys = {0, ~0ull, 0x0370734413198a2e, 0};
  const std::vector<uint64_t> wanted = {0x99ba4efe6b200159, 0xbb002be71cb996fc, 0x483df7a0c4923a9c, 0x99ba4efe6b200159};
  for (unsigned lanes : {1u, 4u})
    CHECK(compute("threefry", DType::U64, lanes, counters, &keys) == wanted);
}
