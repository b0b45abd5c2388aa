#include "Kernels.h"

#include "render/kernel/CStyle.h"

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

TEST_CASE("a reduction over two axes has one accumulator") {
  CHECK(kernelOf(test::kSumOfMatrix) == R"(void r_2_3(float* restrict data0, const float* restrict data1) {
  float acc0 = 0.0f;
  for (int ridx0 = 0; ridx0 < 2; ridx0++) {
    for (int ridx1 = 0; ridx1 < 3; ridx1++) {
      float val0 = data1[(ridx0*3)+ridx1];
      acc0 = (acc0+val0);
    }
  }
  data0[0] = acc0;
}
)");
}

TEST_CASE("what a loop needs of the one before it is computed between them") {
  CHECK(kernelOf(test::kVariance) == R"(void r_4(float* restrict data0, const float* restrict data1) {
  float acc0 = 0.0f;
  for (int ridx0 = 0; ridx0 < 4; ridx0++) {
    float val0 = data1[ridx0];
    acc0 = (acc0+val0);
  }
  float alu0 = (-(acc0*0.25f));
  float acc1 = 0.0f;
  for (int ridx1 = 0; ridx1 < 4; ridx1++) {
    float val1 = data1[ridx1];
    float alu1 = (val1+alu0);
    acc1 = (acc1+(alu1*alu1));
  }
  data0[0] = (acc1*0.3333333432674408f);
}
)");
}

TEST_CASE("a masked load reads nothing where its gate is false") {
  CHECK(kernelOf(test::kPad) == R"(void E_5(float* restrict data0, const float* restrict data1) {
  for (int ridx0 = 0; ridx0 < 5; ridx0++) {
    float val0 = (((0<ridx0)&(ridx0<4))?data1[ridx0+(-1)]:0.0f);
    data0[ridx0] = val0;
  }
}
)");
}
