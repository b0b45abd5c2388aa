//===- Alias.h - --alias: outputs that lie in an input's memory -----------------===//
#pragma once

#include "import/Import.h"

namespace kiln::import {

/// Notes on the inputs of @main which outputs lie in their memory (graph.alias). Adds to `bounds` the consequences for
/// sizes without a --dim: with a capacity, a size is not larger.
llvm::Error declareAliases(mlir::ModuleOp module, const ImportOptions &options, llvm::StringMap<SymbolBounds> &bounds);

} // namespace kiln::import
