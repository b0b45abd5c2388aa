//===- Disassemble.h - A GPU's machine code as text ----------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace kiln::cuda {

/// NVIDIA's program that reads machine code: the one that $KILN_NVDISASM names (none if that is empty), else the
/// nvdisasm that the build found, else nvdisasm or cuobjdump in the search path or in a toolkit's usual place.
std::optional<std::string> findDisassembler();

/// The instructions (SASS) of a cubin, by that program. The error names it.
llvm::Expected<std::string> disassemble(llvm::StringRef disassembler, llvm::StringRef cubin);

} // namespace kiln::cuda
