// OpenCL C differs from the C of other devices in what stands around the arithmetic: address spaces, the size of a
// group, local memory, vectors with functions of their own. So a few kernels are compared as whole texts, which needs
// no device. One that exchanges values through local memory is also run, wherever there is a device.
#include "RunModel.h"

#include "render/kernel/CStyle.h"
#include "render/kernel/Listing.h"
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

// Each of n groups of four items adds four numbers: items put theirs into local memory, the first adds them.
static constexpr llvm::StringLiteral kGroupSum = R"(
uop.func @r_n_4(%0: !uop.ptr<f32, global>, %1: !uop.ptr<f32, global>, %n: i32)
    attributes {sizes = #kiln.dims<["n"]>, grid = #kiln.dims<["n"]>, local = array<i64: 4>,
                operations = #kiln.expr<"n*4">, bytes = #kiln.expr<0>} {
  %zero = uop.const 0 : i32
  %one = uop.const 1 : i32
  %four = uop.const 4 : i32
  %none = uop.const 0.0 : f32
  %g = uop.special group 0 <"n"> : i32
  %l = uop.special local 0 <4> : i32
  %temp = uop.define "temp" 4 : !uop.ptr<f32, local>
  %first = uop.alu mul %g, %four : (i32, i32) -> i32
  %at = uop.alu add %first, %l : (i32, i32) -> i32
  %last = uop.alu mul %n, %four : (i32, i32) -> i32
  %inside = uop.alu cmplt %at, %last : (i32, i32) -> i1
  %x = uop.load %1[%at : i32] gate %inside : i1 else %none : f32 : !uop.ptr<f32, global> -> f32
  uop.store %x, %temp[%l : i32] : f32, !uop.ptr<f32, local>
  uop.barrier
  %sum = uop.range %i = %zero to %four : i32 init(%a = %none) : f32 attributes {axis = 0 : i64, reduce} {
    %y = uop.load %temp[%i : i32] : !uop.ptr<f32, local> -> f32
    %next = uop.alu add %a, %y : (f32, f32) -> f32
    uop.yield %next : f32
  }
  %isFirst = uop.alu cmplt %l, %one : (i32, i32) -> i1
  uop.if %isFirst {
    uop.store %sum, %0[%g : i32] : f32, !uop.ptr<f32, global>
    uop.yield
  }
  uop.yield
})";

TEST_CASE("local memory, a barrier, and a size that comes as long") {
  test::Module module(kGroupSum);
  CHECK(opencl::device().source(module.kernels()) ==
        R"(#pragma OPENCL FP_CONTRACT OFF

__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void r_n_4(__global float* restrict data0, const __global float* restrict data1, const long size0) {
  int dim_n = size0;
  __local __attribute__((aligned(64))) float temp_0[4];
  int gidx0 = get_group_id(0); /* n */
  int lidx0 = get_local_id(0); /* 4 */
  int alu0 = ((gidx0*4)+lidx0);
  float val0 = ((alu0<(dim_n*4))?data1[alu0]:0.0f);
  temp_0[lidx0] = val0;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  float acc0 = 0.0f;
  for (int ridx0 = 0; ridx0 < 4; ridx0++) {
    float val1 = temp_0[ridx0];
    acc0 = (acc0+val1);
  }
  if (lidx0<1) {
    data0[gidx0] = acc0;
  }
}
)");
  CHECK(llvm::StringRef(render::listing(module.kernel()))
            .starts_with(
                R"(   0 UOps.DEFINE_GLOBAL  : PtrDType(dtypes.float)    []                               0
   1 UOps.DEFINE_GLOBAL  : PtrDType(dtypes.float)    []                               1
   2 UOps.DEFINE_VAR     : dtypes.int                []                               Variable('n', 0, 2147483647)
   3 UOps.DEFINE_LOCAL   : PtrDType(dtypes.float)    []                               ('temp', 4)
   4 UOps.CONST          : dtypes.int                []                               0
   5 UOps.CONST          : dtypes.float              []                               0.0
   6 UOps.CONST          : dtypes.int                []                               1
   7 UOps.CONST          : dtypes.int                []                               4
   8 UOps.SPECIAL        : dtypes.int                []                               ('gidx0', n)
   9 UOps.SPECIAL        : dtypes.int                []                               ('lidx0', 4)
)"));

  std::string text = (kGroupSum + R"(
host.program @model attributes {inputs = [#host.port<"x", tensor<?xf32, #kiln.dims<["n*4"]>>>, #host.port<"y", tensor<?xf32, #kiln.dims<["n"]>>>],
    outputs = [#host.port<"sums", tensor<?xf32, #kiln.dims<["n"]>>>], weights = [],
    symbols = [#kiln.symbol<"n", 0 to 2147483647, default 1>]} {
^bb0(%n: i64):
  %x = host.input 0
  %out = host.output 0 dims(%n)
  host.launch @r_n_4(%out, %x) sizes(%n) grid(%n) estimates(%n, %n) from "['sum']"
  host.done
})")
                         .str();
  for (const test::Setup &setup : test::setups()) {
    test::RunModel model(setup, text);
    kiln_status status = model.run(
        {test::tensor<float>(KILN_FLOAT32, {1, 2, 3, 4, 5, 6, 7, 8}), test::tensor<float>(KILN_FLOAT32, {0, 0})});
    INFO(model.error());
    REQUIRE(status == KILN_OK);
    CHECK(model.output<float>(0) == std::vector<float>{10, 26});
  }
}

TEST_CASE("vectors are OpenCL's own where it has them") {
  test::Module module(
      test::kernelText("v", "%0: !uop.ptr<f32, global>, %1: !uop.ptr<f32, global>, %2: !uop.ptr<i32, global>",
                       R"(
    %zero = uop.const 0 : i32
    %two = uop.const 2.0 : f32
    %twos = uop.vectorize %two : f32 -> vector<4xf32>
    %x = uop.load %1[%zero : i32] : !uop.ptr<f32, global> -> vector<4xf32>
    %n = uop.load %2[%zero : i32] : !uop.ptr<i32, global> -> vector<4xi32>
    %nf = uop.alu cast %n : (vector<4xi32>) -> vector<4xf32>
    %y = uop.alu mul %x, %twos : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    %m = uop.alu max %y, %nf : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    %three = uop.load %1[%zero : i32] : !uop.ptr<f32, global> -> vector<3xf32>
    %a = uop.gep %three[2] : vector<3xf32> -> f32
    %b = uop.gep %m[3] : vector<4xf32> -> f32
    %c = uop.alu add %a, %b : (f32, f32) -> f32
    %four = uop.const 4 : i32
    uop.store %m, %0[%zero : i32] : vector<4xf32>, !uop.ptr<f32, global>
    uop.store %c, %0[%four : i32] : f32, !uop.ptr<f32, global>)"));
  CHECK(opencl::device().source(module.kernels()) == R"(#pragma OPENCL FP_CONTRACT OFF

static inline float kiln_max_f32(float a, float b) { return a > b || a != a ? a : b; }

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void v(__global float* restrict data0, const __global float* restrict data1, const __global int* restrict data2) {
  float4 cast0 = (float4)(2.0f);
  float4 val0 = vload4(0, data1+0);
  int4 val1 = vload4(0, data2+0);
  float4 cast1 = convert_float4(val1);
  float4 alu0 = (val0*cast0);
  float4 alu1 = (float4)(kiln_max_f32(alu0.s0,cast1.s0),kiln_max_f32(alu0.s1,cast1.s1),kiln_max_f32(alu0.s2,cast1.s2),kiln_max_f32(alu0.s3,cast1.s3));
  float val2_2 = data1[2];
  vstore4(alu1, 0, data0+0);
  data0[4] = (val2_2+alu1.s3);
}
)");
}
