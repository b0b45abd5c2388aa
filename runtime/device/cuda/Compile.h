//===- Compile.h - Compile CUDA C++ to a program's binaries --------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace kiln::cuda {

/// The source's machine code for each of `archs` ("sm_80,sm_90a"), and PTX for later GPUs: the bytes that image.h
/// describes.
llvm::Expected<std::string> compile(llvm::StringRef source, llvm::StringRef archs);

/// The PTX that `compile` adds.
llvm::Expected<std::string> assemble(llvm::StringRef source, llvm::StringRef archs);

/// The machine code that `compile` adds, as text from a disassembler of NVIDIA's; without one a line that says so, and
/// the PTX.
llvm::Expected<std::string> listing(llvm::StringRef source, llvm::StringRef archs);

} // namespace kiln::cuda
