#include "Kernels.h"

#include "render/CStyle.h"
#include "runtime/device/opencl/OpenClDevice.h"

#include <catch2/catch.hpp>

using namespace kiln;

TEST_CASE("the dot product in OpenCL C") {
  test::Module module(test::kDot);
  CHECK(opencl::device().source(module.kernels()) == R"(#pragma OPENCL FP_CONTRACT OFF

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void r_2(__global int* restrict data0, const __global int* restrict data1, const __global int* restrict data2) {
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
