//===- TargetOption.h - --device, --mcpu, --target, --rates, and what a dump says of them -----===//
//
// A model's file says nothing of a device, so the options decide. A dump carries the target that it was made for.
// Before its kernels are formed nothing depends on it: what an option says takes its place. Afterwards an option that
// says something else is refused.
//
//===----------------------------------------------------------------------------------===//
#pragma once

#include "Options.h"

#include "mlir/IR/BuiltinOps.h"

namespace kiln::driver {

/// What can be said of --device, --mcpu and --target before a model is read; each may be empty.
llvm::Error checkTarget(llvm::StringRef device, llvm::StringRef cpu, llvm::StringRef triple);

/// The system that a module's code is for, if it is not this machine's; else "".
llvm::StringRef tripleOf(mlir::ModuleOp module);

/// Gives the module, which stands after its stage, the target that it is compiled for.
llvm::Error setTarget(mlir::ModuleOp module, const CompileOptions &options);

} // namespace kiln::driver
