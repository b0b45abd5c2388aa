//===- Disassemble.h - A GPU's machine code as text ----------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace kiln::cuda {

/// The program of NVIDIA's that reads machine code: what $KILN_NVDISASM names, none where that is empty, else the
/// nvdisasm that the build found, else nvdisasm or cuobjdump by the search path or of a toolkit in its usual place.
std::optional<std::string> findDisassembler();

/// The instructions (SASS) of a cubin, by that program. The error names it.
llvm::Expected<std::string> disassemble(llvm::StringRef disassembler, llvm::StringRef cubin);

} // namespace kiln::cuda
