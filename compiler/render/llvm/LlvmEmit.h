//===- LlvmEmit.h - A model as an object, assembly or LLVM IR ---------------------------===//
#pragma once

#include "render/llvm/LlvmProgram.h"
#include "render/model/WeightData.h"
#include "target/Codegen.h"

#include "llvm/Support/MemoryBuffer.h"

namespace kiln::render {

enum class LlvmFile {
  Object,   ///< with the weights, if the options place them in a section
  Assembly, ///< without them
  Text,     ///< optimised LLVM IR, without them
};

/// Compiles a model, for one CPU or, after shareWeights, for several. The bytes written are the same for the same
/// modules, CPUs, level and options, on any machine.
llvm::Error emitProgram(llvm::ArrayRef<Version> versions, target::OptLevel level, const ProgramOptions &options,
                        LlvmFile file, const WeightSource &source, llvm::raw_ostream &out);

/// The same model as two files for one link, its kernels compiled in parallel: an object with the host program, the
/// tables and the weights, and an archive of an object for each kernel (empty if the kernels are not the host's code).
llvm::Error emitParts(llvm::ArrayRef<Version> versions, target::OptLevel level, const ProgramOptions &options,
                      const WeightSource &source, llvm::raw_ostream &host, llvm::raw_ostream &kernels);

/// Kernels alone as text or assembly.
llvm::Error emitKernels(llvm::ArrayRef<uop::FuncOp> kernels, const target::Cpu &cpu, target::OptLevel level,
                        LlvmFile file, llvm::StringRef model, llvm::raw_ostream &out);

using ObjectBuffer = std::unique_ptr<llvm::MemoryBuffer>;

/// The parts in memory, host program first; weights are not in them.
llvm::Expected<std::vector<ObjectBuffer>> compileParts(llvm::ArrayRef<Version> versions, target::OptLevel level,
                                                       const ProgramOptions &options);

/// One kernel of a model's version with its shared entry as an object.
llvm::Expected<ObjectBuffer> compileKernel(uop::FuncOp kernel, const target::Cpu &cpu, target::OptLevel level,
                                           size_t number = 0);

} // namespace kiln::render
