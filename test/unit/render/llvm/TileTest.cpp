// The inner loop of a matmul as uops: a tile of 6 x 16 accumulators over packed panels. What LLVM makes of it decides
// how fast kiln's matmuls and convolutions are.
#include "TextKernel.h"

#include <catch2/catch.hpp>

using kiln::test::TextKernel;

static constexpr unsigned kRows = 6, kVectors = 2;
static constexpr char kVector[] = "vector<8xf32>";

static std::string number(unsigned value) { return std::to_string(value); }

/// An index a*b + c as uops; the result is %NAME.
static std::string indexText(const std::string &name, const std::string &scaled, unsigned offset) {
  return "%o" + name + " = uop.const " + number(offset) + " : i32\n%" + name + " = uop.alu add " + scaled + ", %o" +
         name + " : (i32, i32) -> i32\n";
}

/// C[6][16] = A[k][6] * B[k][16] summed over k below %n.
static std::string tileText() {
  std::string inits, types, yields, body, stores;
  for (unsigned row = 0; row < kRows; ++row) {
    std::string r = number(row);
    body += indexText("ia" + r, "%ka", row) + "%s" + r + " = uop.load %a[%ia" + r +
            " : i32] : !uop.ptr<f32, global> -> f32\n%x" + r + " = uop.vectorize %s" + r + " : f32 -> " + kVector +
            "\n";
    for (unsigned v = 0; v < kVectors; ++v) {
      std::string at = r + "_" + number(v), separator = inits.empty() ? "" : ", ";
      inits += separator + "%acc" + at + " = %zeros";
      types += separator + kVector;
      yields += separator + "%new" + at;
      body += "%new" + at + " = uop.fma %x" + r + ", %y" + number(v) + ", %acc" + at + " : " + kVector + "\n";
      stores += indexText("ic" + at, "%zero", (row * kVectors + v) * 8) + "uop.store %tile#" +
                number(row * kVectors + v) + ", %out[%ic" + at + " : i32] : " + kVector + ", !uop.ptr<f32, global>\n";
    }
  }
  std::string loads;
  for (unsigned v = 0; v < kVectors; ++v)
    loads += indexText("ib" + number(v), "%kb", v * 8) + "%y" + number(v) + " = uop.load %b[%ib" + number(v) +
             " : i32] : !uop.ptr<f32, global> -> " + kVector + "\n";
  return "%zero = uop.const 0 : i32\n%six = uop.const 6 : i32\n%sixteen = uop.const 16 : i32\n"
         "%f0 = uop.const 0.0 : f32\n%zeros = uop.vectorize %f0 : f32 -> " +
         std::string(kVector) + "\n%tile:12 = uop.range %k = %zero to %n : i32 init(" + inits + ") : " + types +
         " attributes {axis = 0, reduce} {\n"
         "%ka = uop.alu mul %k, %six : (i32, i32) -> i32\n%kb = uop.alu mul %k, %sixteen : (i32, i32) -> i32\n" +
         loads + body + "uop.yield " + yields + " : " + types + "\n}\n" + stores;
}

static TextKernel tile(const char *cpu) {
  return TextKernel("%out: f32, %a: f32, %b: f32, %n: size{0..4096}", tileText(), cpu);
}

TEST_CASE("a tile of 6 x 16 is a matmul") {
  float a[3][6], b[3][16], out[6][16];
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 6; ++i)
      a[k][i] = float(k * 5 + i - 4);
    for (int j = 0; j < 16; ++j)
      b[k][j] = float(k * 7 - j);
  }
  tile("").run({out, a, b}, {3});
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 16; ++j)
      CHECK(out[i][j] == a[0][i] * b[0][j] + a[1][i] * b[1][j] + a[2][i] * b[2][j]);
}

TEST_CASE("on AVX2 the loop of a 6 x 16 tile is loads, broadcasts and fused multiply-adds on registers") {
  std::string text = tile("x86-64-v3").assembly();
  // The loop is the longest run of lines between a label and the jump back to it.
  size_t end = std::string::npos, begin = 0;
  for (size_t label = text.find("\n.LBB"); label != std::string::npos; label = text.find("\n.LBB", label + 1)) {
    std::string name = text.substr(label + 1, text.find(':', label) - label - 1);
    size_t jump = text.find("\tjne\t" + name + "\n", label);
    if (jump != std::string::npos && (end == std::string::npos || jump - label > end - begin)) {
      begin = label;
      end = jump;
    }
  }
  REQUIRE(end != std::string::npos);
  std::string loop = text.substr(begin, end - begin);
  INFO(loop);
  auto count = [&](const char *part) {
    size_t found = 0;
    for (size_t at = loop.find(part); at != std::string::npos; at = loop.find(part, at + 1))
      ++found;
    return found;
  };
  size_t steps = count("\tvfmadd") / (kRows * kVectors), lines = count("\n");
  REQUIRE(steps >= 1);
  CHECK(count("\tvfmadd") == steps * kRows * kVectors);
  CHECK(count("\tvbroadcastss") == steps * kRows);
  CHECK(count("\tvmovups") == steps * kVectors);
  CHECK(count("%rsp") == 0);
  CHECK(lines <= steps * (kRows * kVectors + kRows + kVectors) + 6); // the rest counts and moves two pointers
}
