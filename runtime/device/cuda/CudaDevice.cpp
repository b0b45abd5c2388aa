#include "runtime/device/cuda/CudaDevice.h"

#include "render/kernel/CStyle.h"
#include "runtime/device/cuda/Compile.h"

using namespace kiln;
using namespace kiln::render;

// NVRTC has no cuda_fp16.h of its own, and kiln asks for none: the conversions are one instruction each.
static constexpr CastSpelling kCasts[] = {
    {DType::F16, DType::F32,
     "static inline $t $f($a x) {\n"
     "  $t y;\n"
     "  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(y) : \"h\"(x));\n"
     "  return y;\n"
     "}\n"},
    {DType::F32, DType::F16,
     "static inline $t $f($a x) {\n"
     "  $t y;\n"
     "  asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(y) : \"f\"(x));\n"
     "  return y;\n"
     "}\n"},
    {DType::F32, DType::BF16,
     "static inline $t $f($a x) {\n"
     "  $t y;\n"
     "  asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(y) : \"f\"(x));\n"
     "  return y;\n"
     "}\n"},
};

// One instruction; NVRTC makes two comparisons and a selection of a maximum that keeps a NaN.
static constexpr FunctionSpelling kFunctions[] = {
    {Alu::MAX, DType::F32,
     "static inline $t $f($t a, $t b) {\n"
     "  $t y;\n"
     "  asm(\"max.NaN.f32 %0, %1, %2;\" : \"=f\"(y) : \"f\"(a), \"f\"(b));\n"
     "  return y;\n"
     "}\n"},
    {Alu::MIN, DType::F32,
     "static inline $t $f($t a, $t b) {\n"
     "  $t y;\n"
     "  asm(\"min.NaN.f32 %0, %1, %2;\" : \"=f\"(y) : \"f\"(a), \"f\"(b));\n"
     "  return y;\n"
     "}\n"},
};

const CLanguage cuda::kCudaC = {
    .values = {"bool", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long long",
               "unsigned long long", "unsigned short", "unsigned short", "float", "double"},
    .memory = {"unsigned char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int",
               "long long", "unsigned long long", "unsigned short", "unsigned short", "float", "double"},
    // The call of NVRTC turns contraction off, since there is no pragma for it.
    .fileHead = "#define INFINITY __int_as_float(0x7f800000)\n"
                "#define NAN __int_as_float(0x7fc00000)\n",
    .kernelPrefix = "extern \"C\" __global__ ",
    .groupAttribute = "__launch_bounds__($0*$1*$2) ",
    .localQualifier = "__shared__ ",
    .restrictQualifier = "__restrict__",
    // With it NVRTC joins accesses to neighbours.
    .assumeAligned = "$p = ($t)__builtin_assume_aligned($p, 16);",
    // NVRTC loses sight of it in index math, above all of narrow elements.
    .alignedPointer = "$t$n = ($t)__builtin_assume_aligned($p, $b);",
    .aligned = "__align__(64) ",
    .barrier = "__syncthreads();",
    .shuffle = "__shfl_xor_sync(0xffffffffu,$x,$b)",
    .computesChoices = true,
    .specials = {{{"blockIdx.x", "blockIdx.y+baseY", "blockIdx.z+baseZ"},
                  {"threadIdx.x", "threadIdx.y", "threadIdx.z"},
                  {"", "", ""}}},
    // A grid that is too long along y or z is launched piece by piece.
    .gridParameters = "const unsigned int baseY, const unsigned int baseZ",
    .sizeParameter = "long long",
    .longSuffix = "ll",
    .floatMath = "f",
    .alus = {},
    .casts = kCasts,
    .functions = kFunctions,
    .vectors = {},
};

target::Device cuda::device() {
  return {.name = "cuda",
          .summary = "NVIDIA GPUs, through NVRTC",
          .target = R"(#kiln.target<device = "cuda", stores = [f16, bf16],
              lacks = [exp2, log2, exp, log, sin, cos, tanh, erf, pow, threefry, ldexp], fma = true,
              groups = <items = 1024, local_bytes = 49152, warp = 32, meets_in_branches = true>,
              rates = <bytes_per_ns = 2500, ops_per_ns = 20000, product_ops_per_ns = 20000, launch_ns = 3000,
                       units = 132, tile_reuse = 1>>)",
          .source = [](llvm::ArrayRef<uop::FuncOp> kernels) { return renderSource(kCudaC, kernels); },
          .sourceCompiler = target::SourceCompiler{
              .archs = "sm_80,sm_90a", .code = compile, .assembly = assemble, .listing = listing}};
}
