//===- DimOption.h - --dim: value or bounds of a size -------------------------===//
#pragma once

#include "import/Import.h"

namespace kiln::driver {

/// Adds NAME=VALUE or NAME=LO..HI[,default=V] to `dims`. Without a default, V is 1 or the end of the bounds next to it.
llvm::Error parseDim(llvm::StringRef text, llvm::StringMap<import::SymbolBounds> &dims);

} // namespace kiln::driver
