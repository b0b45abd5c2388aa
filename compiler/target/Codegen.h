//===- Codegen.h - LLVM IR to optimised machine code ---------------------------===//
//
// The bytes depend only on the module, the CPU and the level: no time, no path and no address of this process gets in.
//
//===---------------------------------------------------------------------------===//
#pragma once

#include "target/Cpu.h"

#include "llvm/Support/raw_ostream.h"

#include <memory>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace kiln::target {

/// How much code generation may spend: as a compiler's -O0 to -O3.
using OptLevel = unsigned;

/// LLVM's code generator for position-independent code.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(const Cpu &cpu, OptLevel level);

/// Sets the module's triple and layout; call it before the module's code is made.
void configure(llvm::Module &module, const llvm::TargetMachine &machine);

/// Runs LLVM's pipeline of this level. The module must verify.
void optimize(llvm::Module &module, llvm::TargetMachine &machine, OptLevel level);

enum class MachineFile { Object, Assembly };

/// Writes the machine code of an optimised module.
void emit(llvm::Module &module, llvm::TargetMachine &machine, MachineFile file, llvm::raw_pwrite_stream &out);

} // namespace kiln::target
