//===- Stats.h - A compiled model in numbers ------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln::driver {

/// Prints the launches of a lowered module, with the source nodes of each, and its memory. Sizes that are known only at
/// run time count as their symbols' defaults; launches in control flow count once.
void printStats(mlir::ModuleOp module, llvm::raw_ostream &out);

/// The same as one JSON document; docs/json-output.md lists its members.
void printStatsJson(mlir::ModuleOp module, llvm::StringRef model, llvm::raw_ostream &out);

} // namespace kiln::driver
