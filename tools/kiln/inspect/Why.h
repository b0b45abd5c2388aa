//===- Why.h - Why a node is computed where it is: --why ---------------------------===//
#pragma once

#include "import/ReadNodes.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace kiln::driver {

/// For each of `names`, a source node's, a tensor's or a kernel's, prints the kernels that compute it, where its
/// results are held, and why. A `*` matches any letters. `model` is the name in errors for the model of `module`, which
/// has been scheduled; `read` are the nodes of its file, some of them without a trace in it.
llvm::Error printWhy(mlir::ModuleOp module, llvm::StringRef model, const import::ReadNodes &read,
                     llvm::ArrayRef<std::string> names, llvm::raw_ostream &out);

} // namespace kiln::driver
