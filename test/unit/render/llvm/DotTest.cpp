// Dot instructions against the interpreter of uops, which defines them: bit by bit, where the CPU has them.
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

/// out = sum + a · b in each of so many lanes, of two terms each; with `isShared` all lanes have the same two of a.
static std::string body(int lanes, bool isShared) {
  std::string terms = "vector<" + std::to_string(2 * lanes) + "xbf16>", ofA = isShared ? "vector<2xbf16>" : terms,
              sums = "vector<" + std::to_string(lanes) + "xf32>";
  return "%zero = uop.const 0 : i32\n"
         "%va = uop.load %a[%zero : i32] : !uop.ptr<bf16, global> -> " +
         ofA + "\n%vb = uop.load %b[%zero : i32] : !uop.ptr<bf16, global> -> " + terms +
         "\n%vsum = uop.load %sum[%zero : i32] : !uop.ptr<f32, global> -> " + sums +
         "\n%made = uop.dot \"vdpbf16ps\" %va, %vb, %vsum : " + ofA + ", " + terms + " -> " + sums +
         "\nuop.store %made, %out[%zero : i32] : " + sums + ", !uop.ptr<f32, global>";
}

static void compare(int lanes, bool isShared, llvm::function_ref<uint16_t()> drawA,
                    llvm::function_ref<uint16_t()> drawB, llvm::function_ref<uint32_t()> drawSum) {
  auto drawn = [](auto draw, int count) {
    std::vector<decltype(draw())> elements(count);
    for (auto &element : elements)
      element = draw();
    return elements;
  };
  std::vector<uint16_t> a = drawn(drawA, 2 * lanes), b = drawn(drawB, 2 * lanes);
  std::vector<uint32_t> sums = drawn(drawSum, lanes), made(lanes), wanted(lanes);
  test::TextKernel kernel("%out: f32, %a: bf16, %b: bf16, %sum: f32", body(lanes, isShared));
  auto bufferOf = [](auto &elements) {
    return interp::UopBuffer{elements.data(), int64_t(elements.size() * sizeof elements[0])};
  };
  interp::UopProgram program = llvm::cantFail(interp::UopProgram::decode(kernel.function()));
  llvm::cantFail(program.launch({bufferOf(wanted), bufferOf(a), bufferOf(b), bufferOf(sums)}, {}, {1}));
  char missing[64];
  if (kiln_cpu_lacks("avx512bf16", missing, sizeof missing)) {
    WARN("SKIPPED: this CPU has no avx512bf16");
    return;
  }
  kernel.run({made.data(), a.data(), b.data(), sums.data()});
  for (int lane = 0; lane < lanes; ++lane) {
    INFO(lanes << " lanes, lane " << lane);
    bool areNaN = std::isnan(llvm::bit_cast<float>(made[lane])) && std::isnan(llvm::bit_cast<float>(wanted[lane]));
    if (!areNaN)
      REQUIRE(made[lane] == wanted[lane]);
  }
}

TEST_CASE("dots of bfloat16: any bits, and those of which sums keep something") {
  std::mt19937 random(1);
  auto any = [&] { return uint16_t(random()); };
  // From about 2^-13 to 2^13: sums that round and cancel.
  auto near = [&] { return uint16_t((random() & 0x8000) | (0x3900 + random() % 0x0d00)); };
  auto tiny = [&] { return uint16_t(random() & 0x807f); };
  auto small = [&] { return uint16_t((random() & 0x8000) | (0x1f80 + random() % 0x0100)); };
  auto sum = [&] { return uint32_t(random()); };
  auto nearSum = [&] { return uint32_t((random() & 0x807fffff) | ((110 + random() % 24) << 23)); };
  auto smallSum = [&] { return uint32_t(random() & 0x80ffffff); };
  for (int lanes : {16, 32})
    for (bool isShared : {false, true})
      for (int round = 0; round < 20; ++round) {
        compare(lanes, isShared, any, any, sum);
        compare(lanes, isShared, near, near, nearSum);
        compare(lanes, isShared, tiny, near, smallSum);
        compare(lanes, isShared, small, small, smallSum);
      }
}
