#include "render/kernel/CLanguage.h"

#include "llvm/ADT/STLExtras.h"

using namespace kiln;
using namespace kiln::render;

llvm::StringRef CLanguage::alu(Alu kind) const {
  for (const AluSpelling &spelling : alus)
    if (spelling.kind == kind)
      return spelling.pattern;
  return aluInfo(kind).c;
}

bool CLanguage::hasVector(DType dtype, unsigned lanes) const {
  return dtype != DType::Bool && !isSmallFloat(dtype) && llvm::is_contained(vectors.lanes, lanes);
}

const CLanguage render::kC11 = {
    .values = {"_Bool", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "int64_t",
               "uint64_t", "unsigned short", "unsigned short", "float", "double"},
    .memory = {"unsigned char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int",
               "int64_t", "uint64_t", "unsigned short", "unsigned short", "float", "double"},
    // gcc has no such pragma and contracts by its own option alone.
    .fileHead = "#include <math.h>\n"
                "#include <stdint.h>\n\n"
                "#if defined(__clang__) || !defined(__GNUC__)\n"
                "#pragma STDC FP_CONTRACT OFF\n"
                "#endif\n",
    .aligned = "_Alignas(64) ",
    .specials = {{{"", "", ""}, {"", "", ""}, {"chunk", "chunk", "chunk"}}},
    .chunkParameter = "int64_t chunk",
    .longSuffix = "ll",
    .floatMath = "f",
    .alus = {},
    .vectors = {},
};
