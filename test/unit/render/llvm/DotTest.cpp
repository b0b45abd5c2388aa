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

namespace {
/// A dot instruction, with the types of its operands and sums, and the feature that a CPU needs for it.
struct Instruction {
  std::string name, operand, sum;
  const char *feature;
};
} // namespace

static const Instruction kBFloat16{"vdpbf16ps", "bf16", "f32", "avx512bf16"};

/// out = sum + a · b in each of so many lanes, of two terms each; with `isShared` all lanes have the same two of a.
static std::string body(const Instruction &dot, int lanes, bool isShared) {
  std::string terms = "vector<" + std::to_string(2 * lanes) + "x" + dot.operand + ">",
              ofA = isShared ? "vector<2x" + dot.operand + ">" : terms,
              sums = "vector<" + std::to_string(lanes) + "x" + dot.sum + ">",
              pointer = " : !uop.ptr<" + dot.operand + ", global> -> ";
  return "%zero = uop.const 0 : i32\n%va = uop.load %a[%zero : i32]" + pointer + ofA +
         "\n%vb = uop.load %b[%zero : i32]" + pointer + terms + "\n%vsum = uop.load %sum[%zero : i32] : !uop.ptr<" +
         dot.sum + ", global> -> " + sums + "\n%made = uop.dot \"" + dot.name + "\" %va, %vb, %vsum : " + ofA + ", " +
         terms + " -> " + sums + "\nuop.store %made, %out[%zero : i32] : " + sums + ", !uop.ptr<" + dot.sum +
         ", global>";
}

static void compare(const Instruction &dot, int lanes, bool isShared, llvm::function_ref<uint16_t()> drawA,
                    llvm::function_ref<uint16_t()> drawB, llvm::function_ref<uint32_t()> drawSum) {
  auto drawn = [](auto draw, int count) {
    std::vector<decltype(draw())> elements(count);
    for (auto &element : elements)
      element = draw();
    return elements;
  };
  std::vector<uint16_t> a = drawn(drawA, 2 * lanes), b = drawn(drawB, 2 * lanes);
  std::vector<uint32_t> sums = drawn(drawSum, lanes), made(lanes), wanted(lanes);
  std::string buffers = "%out: " + dot.sum + ", %a: " + dot.operand + ", %b: " + dot.operand + ", %sum: " + dot.sum;
  test::TextKernel kernel(buffers, body(dot, lanes, isShared));
  auto bufferOf = [](auto &elements) {
    return interp::UopBuffer{elements.data(), int64_t(elements.size() * sizeof elements[0])};
  };
  interp::UopProgram program = llvm::cantFail(interp::UopProgram::decode(kernel.function()));
  llvm::cantFail(program.launch({bufferOf(wanted), bufferOf(a), bufferOf(b), bufferOf(sums)}, {}, {1}));
  char missing[64];
  if (kiln_cpu_lacks(dot.feature, missing, sizeof missing)) {
    WARN("SKIPPED: this CPU has no " << dot.feature);
    return;
  }
  kernel.run({made.data(), a.data(), b.data(), sums.data()});
  bool isFloat = dot.sum == "f32";
  for (int lane = 0; lane < lanes; ++lane) {
    INFO(dot.name << ", " << lanes << " lanes, lane " << lane);
    bool areNaN = std::isnan(llvm::bit_cast<float>(made[lane])) && std::isnan(llvm::bit_cast<float>(wanted[lane]));
    if (!isFloat || !areNaN)
      REQUIRE(made[lane] == wanted[lane]);
  }
}

TEST_CASE("dots of 16-bit integers: any bits, and the least number with itself") {
  std::mt19937 random(1);
  auto any = [&] { return uint16_t(random()); };
  auto least = [] { return uint16_t(0x8000); };
  auto sum = [&] { return uint32_t(random()); };
  const Instruction instructions[] = {{"vpmaddwd", "i16", "i32", "avx2"},
                                      {"vpmaddwd.zmm", "i16", "i32", "avx512bw"},
                                      {"vpdpwssd", "i16", "i32", "avx512vnni"},
                                      {"vpdpwssd.ymm", "i16", "i32", "avxvnni"}};
  for (const Instruction &dot : instructions)
    for (int lanes : {16, 32})
      for (bool isShared : {false, true}) {
        for (int round = 0; round < 20; ++round)
          compare(dot, lanes, isShared, any, any, sum);
        compare(dot, lanes, isShared, least, least, sum);
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
        compare(kBFloat16, lanes, isShared, any, any, sum);
        compare(kBFloat16, lanes, isShared, near, near, nearSum);
        compare(kBFloat16, lanes, isShared, tiny, near, smallSum);
        compare(kBFloat16, lanes, isShared, small, small, smallSum);
      }
}
