//===- RandomInputs.h - Inputs for a graph at given sizes ---------------------===//
#pragma once

#include "interp/HostTensor.h"
#include "tools/kiln/options/AtOption.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace kiln::driver {

/// A wrong use where a name is not that of a symbol in an input's shape, or a size lies outside of its bounds.
llvm::Error checkSizes(mlir::ModuleOp graph, const Sizes &sizes);

/// Inputs of @main at random, of sizes that have been checked; absent where the model has a stored default. A symbol
/// that `sizes` does not name has its default.
llvm::Expected<std::vector<interp::HostTensor>> randomInputs(mlir::ModuleOp graph, const Sizes &sizes);

} // namespace kiln::driver
