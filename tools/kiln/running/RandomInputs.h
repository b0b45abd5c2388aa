//===- RandomInputs.h - Inputs for a graph at given sizes ---------------------===//
#pragma once

#include "interp/HostTensor.h"
#include "tools/kiln/options/AtOption.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace kiln::driver {

/// Inputs of @main at random; absent where the model has a stored default. A symbol that `sizes` does not name has its
/// default; a name that is not a symbol's is wrong use.
llvm::Expected<std::vector<interp::HostTensor>> randomInputs(mlir::ModuleOp graph, const Sizes &sizes);

} // namespace kiln::driver
