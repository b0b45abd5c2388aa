#include "Kernels.h"

#include "render/CStyle.h"

#include <catch2/catch.hpp>

using namespace kiln;

static std::string kernelOf(llvm::StringRef text) {
  test::Module module(text);
  render::SemanticFunctions functions(render::kC11);
  return render::renderKernel(render::kC11, render::linearize(module.kernel()), functions);
}

TEST_CASE("the dot product in C, to the letter") {
  CHECK(kernelOf(test::kDot) == R"(void r_2(int* restrict data0, const int* restrict data1, const int* restrict data2) {
  int acc0 = 0;
  for (int ridx0 = 0; ridx0 < 2; ridx0++) {
    int val0 = data1[ridx0];
    int val1 = data2[ridx0];
    acc0 = (acc0+(val0*val1));
  }
  data0[0] = acc0;
}
)");
}

TEST_CASE("a reduction over two axes has one accumulator") { CHECK(kernelOf(test::kSumOfMatrix) == ""); }
TEST_CASE("var") { CHECK(kernelOf(test::kVariance) == ""); }
TEST_CASE("pad") { CHECK(kernelOf(test::kPad) == ""); }
