//===- RandomInputs.h - Inputs for a graph at given sizes ---------------------===//
#pragma once

#include "interp/HostTensor.h"
#include "tools/kiln/options/AtOption.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace kiln::driver {

/// A wrong use if a name is not that of a symbol in an input's shape, or a size is outside of its bounds.
llvm::Error checkSizes(mlir::ModuleOp graph, const Sizes &sizes);

/// Random inputs of @main, of checked sizes; absent if the model has a stored default. A symbol that `sizes` does not
/// name has its default.
llvm::Expected<std::vector<interp::HostTensor>> randomInputs(mlir::ModuleOp graph, const Sizes &sizes);

} // namespace kiln::driver
