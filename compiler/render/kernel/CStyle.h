//===- CStyle.h - A kernel as source text of the C family ---------------------===//
//
// Stage: render (uop → source).  The text has tinygrad's conventions: buffers are data0, data1 …, loads valN,
// accumulators accN, loops ridxN. A pure value that is used once is written where it is used, in parentheses; any other
// is an aluN. A value is not moved into a deeper loop if computing it there again would cost a function call or float
// arithmetic, and expressions are cut before they nest deeper than compilers read.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "render/kernel/Linear.h"
#include "render/kernel/Semantics.h"

namespace kiln::render {

/// "void r_2(int* restrict data0, const int* restrict data1)", without the language's prefix of kernels. A pointer that
/// is never stored through points to const.
std::string kernelSignature(const CLanguage &language, const LinearProgram &program);

/// The kernel's definition. The functions that it calls are noted in `functions`.
std::string renderKernel(const CLanguage &language, const LinearProgram &program, SemanticFunctions &functions);

/// One file of these kernels: the language's head, the functions that they call, the kernels.
std::string renderSource(const CLanguage &language, llvm::ArrayRef<uop::FuncOp> kernels);

} // namespace kiln::render
