//===- LlvmHost.h - The host program as an LLVM function --------------------------------===//
//
// Every host op is one call of the runtime; a slice is passed as C passes the two words of kiln_slice by value, in two
// registers. A call that fails ends the run with its status.
//
//===------------------------------------------------------------------------------------===//
#pragma once

#include "render/model/ModelTables.h"

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace kiln::render {

/// Adds the function for kiln_model.run: i32 (ptr context, ptr sizes), internal. The module has its target's layout.
llvm::Function *renderHost(const ModelTables &tables, llvm::Module &module);

} // namespace kiln::render
