//===- LlvmEmit.h - A model as an object, assembly or LLVM IR ---------------------------===//
#pragma once

#include "render/LlvmProgram.h"
#include "target/Codegen.h"

namespace kiln::render {

enum class LlvmFile {
  Object,   ///< with the weights, where the options place them in a section
  Assembly, ///< without them
  Text,     ///< optimised LLVM IR, without them
};

/// Compiles a model. Paths of weights are relative to `folder`. The bytes written are the same for the same module,
/// CPU, level and options, on any machine.
llvm::Error emitProgram(const ModelTables &tables, const target::Cpu &cpu, target::OptLevel level,
                        const ProgramOptions &options, LlvmFile file, llvm::StringRef folder, llvm::raw_ostream &out);

} // namespace kiln::render
