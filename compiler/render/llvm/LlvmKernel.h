//===- LlvmKernel.h - A uop.func as an LLVM function ------------------------------===//
//
// Stage: render (uop → LLVM IR).  LLVM IR is built directly: the uops are as low as it is, so a second dialect in
// between would only cost compile time.
//
//===------------------------------------------------------------------------------===//
#pragma once

#include "ir/uop/UOp.h"
#include "target/Cpu.h"

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace kiln::render {

/// Adds the kernel and returns its entry, a function of internal linkage that is called like kiln_kernel.entry:
///   void (ptr buffers, ptr sizes, i64 chunk)
/// The kernel itself is a second function, which takes the pointers, sizes and the chunk as arguments. Expects one work
/// item per group. The module has the CPU's layout (target::configure).
llvm::Function *renderKernel(uop::FuncOp kernel, const target::Cpu &cpu, llvm::Module &module);

/// The visible name of the entry of a kernel of the model's version `number`: NAME.entry, which no name in C can be, or
/// NAME.entry.1.
std::string entryName(uop::FuncOp kernel, size_t number = 0);

/// Makes an entry visible to the other objects of the same program or library, and to no more.
void shareEntry(llvm::Function *entry, llvm::StringRef name);
/// The shared entry of a kernel that another object defines.
llvm::Function *declareEntry(uop::FuncOp kernel, size_t number, llvm::Module &module);

} // namespace kiln::render
