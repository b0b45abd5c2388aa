// Matrix instructions against the interpreter of uops, which defines them: bit by bit, where the CPU has them.
#include "TextKernel.h"

#include "interp/UopInterpreter.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <random>

extern "C" {
#include "runtime/device/cpu/cpu_features.h"
}

using namespace kiln;

namespace {

struct Sizes {
  int rows, columns, steps, side;
};

/// out = sum + a × b. In memory the rows of each are `gap` elements further apart than they are long.
std::string body(llvm::StringRef name, llvm::StringRef a, llvm::StringRef b, llvm::StringRef sum, Sizes s, int gap) {
  auto matrix = [&](int rows, int columns, llvm::StringRef element) {
    return "vector<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + element.str() + ">";
  };
  std::string ofA = matrix(s.rows, s.steps * s.side, a), ofB = matrix(s.steps, s.columns * s.side, b),
              ofSum = matrix(s.rows, s.columns, sum);
  auto pitch = [&](llvm::StringRef name, int columns) {
    return "%p" + name.str() + " = uop.const " + std::to_string(columns + gap) + " : i32\n";
  };
  auto load = [](llvm::StringRef name, llvm::StringRef element, const std::string &type) {
    return ("%m" + name + " = uop.load_matrix %" + name + "[%zero : i32] pitch %p" + name + " : i32 : !uop.ptr<" +
            element + ", global> -> " + type + "\n")
        .str();
  };
  return "%zero = uop.const 0 : i32\n" + pitch("a", s.steps * s.side) + pitch("b", s.columns * s.side) +
         pitch("sum", s.columns) + load("a", a, ofA) + load("b", b, ofB) + load("sum", sum, ofSum) +
         "%made = uop.wmma \"" + name.str() + "\" %ma, %mb, %msum : " + ofA + ", " + ofB + " -> " + ofSum +
         "\nuop.store_matrix %made, %out[%zero : i32] pitch %psum : i32 : " + ofSum + ", !uop.ptr<" + sum.str() +
         ", global>";
}

/// Whether the CPU has what LLVM's code for it would use.
bool canRun(const char *features) {
  char missing[64];
  return !kiln_cpu_lacks(features, missing, sizeof missing);
}

template <class A, class B, class Sum>
void compare(llvm::StringRef name, const char *features, const char *a, const char *b, const char *sum, Sizes sizes,
             llvm::function_ref<A()> drawA, llvm::function_ref<B()> drawB, llvm::function_ref<Sum()> drawSum) {
  constexpr int kGap = 3;
  auto drawn = [&](auto draw, int rows, int columns) {
    std::vector<decltype(draw())> elements(size_t(rows) * (columns + kGap));
    for (auto &element : elements)
      element = draw();
    return elements;
  };
  std::vector<A> left = drawn(drawA, sizes.rows, sizes.steps * sizes.side);
  std::vector<B> right = drawn(drawB, sizes.steps, sizes.columns * sizes.side);
  std::vector<Sum> sums = drawn(drawSum, sizes.rows, sizes.columns), made(sums.size()), wanted(sums.size());
  std::string types = std::string("%out: ") + sum + ", %a: " + a + ", %b: " + b + ", %sum: " + sum;
  test::TextKernel kernel(types, body(name, a, b, sum, sizes, kGap));
  auto bufferOf = [](auto &elements) {
    return interp::UopBuffer{elements.data(), int64_t(elements.size() * sizeof elements[0])};
  };
  interp::UopProgram program = llvm::cantFail(interp::UopProgram::decode(kernel.function()));
  llvm::cantFail(program.launch({bufferOf(wanted), bufferOf(left), bufferOf(right), bufferOf(sums)}, {}, {1}));
  if (!canRun(features)) {
    WARN("SKIPPED: this CPU has no " << features);
    return;
  }
  kernel.run({made.data(), left.data(), right.data(), sums.data()});
  for (size_t i = 0; i < made.size(); ++i) {
    INFO(name.str() << ", " << sizes.rows << "x" << sizes.columns << ", element " << i);
    uint32_t got, want;
    std::memcpy(&got, &made[i], 4);
    std::memcpy(&want, &wanted[i], 4);
    bool areNaN =
        std::string(sum) == "f32" && std::isnan(llvm::bit_cast<float>(got)) && std::isnan(llvm::bit_cast<float>(want));
    if (!areNaN)
      REQUIRE(got == want);
  }
}

const Sizes kWhole{16, 16, 16, 2}, kSmall{3, 5, 4, 2};

} // namespace

TEST_CASE("matrices of bfloat16: any bits, and those of which sums keep something") {
  std::mt19937 random(1);
  auto any = [&] { return uint16_t(random()); };
  // From about 2^-13 to 2^13: sums that round and cancel.
  auto near = [&] { return uint16_t((random() & 0x8000) | (0x3900 + random() % 0x0d00)); };
  auto tiny = [&] { return uint16_t(random() & 0x807f); };
  auto sum = [&] { return uint32_t(random()); };
  auto zero = [&] { return uint32_t(random() & 0x80000000); };
  auto small = [&] { return uint16_t((random() & 0x8000) | (0x1f80 + random() % 0x0100)); };
  for (Sizes sizes : {kWhole, kSmall})
    for (int round = 0; round < 20; ++round) {
      compare<uint16_t, uint16_t, uint32_t>("tdpbf16ps", "amx-bf16", "bf16", "bf16", "f32", sizes, any, any, sum);
      compare<uint16_t, uint16_t, uint32_t>("tdpbf16ps", "amx-bf16", "bf16", "bf16", "f32", sizes, near, near, zero);
      compare<uint16_t, uint16_t, uint32_t>("tdpbf16ps", "amx-bf16", "bf16", "bf16", "f32", sizes, tiny, near, zero);
      compare<uint16_t, uint16_t, uint32_t>("tdpbf16ps", "amx-bf16", "bf16", "bf16", "f32", sizes, small, small, zero);
    }
}

TEST_CASE("matrices of bytes, of which 32 bits wrap") {
  std::mt19937 random(2);
  auto byte = [&] { return uint8_t(random()); };
  auto sum = [&] { return uint32_t(random()); };
  for (Sizes sizes : {Sizes{16, 16, 16, 4}, Sizes{3, 5, 4, 4}}) {
    compare<uint8_t, uint8_t, uint32_t>("tdpbssd", "amx-int8", "i8", "i8", "i32", sizes, byte, byte, sum);
    compare<uint8_t, uint8_t, uint32_t>("tdpbusd", "amx-int8", "ui8", "i8", "i32", sizes, byte, byte, sum);
    compare<uint8_t, uint8_t, uint32_t>("tdpbuud", "amx-int8", "ui8", "ui8", "i32", sizes, byte, byte, sum);
  }
}
