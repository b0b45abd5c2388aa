#include "runtime/device/opencl/OpenClDevice.h"

#include "render/kernel/CStyle.h"

using namespace kiln;
using namespace kiln::render;

static constexpr unsigned kLanes[] = {2, 4, 8, 16};
static constexpr AluSpelling kAlus[] = {{Alu::BITCAST, "as_$t($0)"}};

const CLanguage opencl::kOpenClC = {
    .values = {"bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "ushort", "ushort", "float",
               "double"},
    // A kernel's arguments may not point to bool.
    .memory = {"uchar", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "ushort", "ushort", "float",
               "double"},
    .fileHead = "#pragma OPENCL FP_CONTRACT OFF\n",
    .doubleHead = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
    .kernelPrefix = "__kernel ",
    .groupAttribute = "__attribute__((reqd_work_group_size($0, $1, $2))) ",
    .globalQualifier = "__global ",
    .localQualifier = "__local ",
    .aligned = "__attribute__((aligned(64))) ",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    .prefetch = "prefetch($p, 1);",
    .specials = {{{"get_group_id(0)", "get_group_id(1)", "get_group_id(2)"},
                  {"get_local_id(0)", "get_local_id(1)", "get_local_id(2)"},
                  {"", "", ""}}},
    .sizeParameter = "long",
    .longSuffix = "l",
    .floatMath = "",
    .alus = kAlus,
    .vectors = {.lanes = kLanes,
                .type = "$t$n",
                .make = "($t)($x)",
                .lane = "$x.s$l",
                .load = "vload$n(0, $p)",
                .store = "vstore$n($x, 0, $p);",
                .cast = "convert_$t($x)"},
};

target::Device opencl::device() {
  return {.name = "opencl",
          .summary = "OpenCL, through its own compiler",
          .target = R"(#kiln.target<device = "opencl", stores = [f16, bf16],
               lacks = [exp2, log2, exp, log, tanh, erf, threefry, ldexp], fma = true,
               groups = <items = 256, local_bytes = 32768>,
               rates = <bytes_per_ns = 300, ops_per_ns = 5000, product_ops_per_ns = 5000, launch_ns = 5000, units = 32,
                        tile_reuse = 1>>)",
          .source = [](llvm::ArrayRef<uop::FuncOp> kernels) { return renderSource(kOpenClC, kernels); }};
}
