//===- TargetOption.h - --device, --mcpu, --target, --rates, and a dump's own values ----------===//
//
// A model's file does not name a device, so the options decide. A dump carries the target that it was made for. Before
// its kernels are formed nothing depends on it: options override it. Afterwards an option with another value is
// refused.
//
//===----------------------------------------------------------------------------------===//
#pragma once

#include "Options.h"

#include "mlir/IR/BuiltinOps.h"

namespace kiln::driver {

/// Reads --mcpu: names with commas between them, or "".
llvm::Error parseCpus(llvm::StringRef text, CompileOptions &options);

/// Checks of --device, --mcpu and --target before a model is read; each may be empty.
llvm::Error checkTarget(const CompileOptions &options);

/// The options of each version that an artefact has: those for --mcpu's first CPU, then those for the others.
std::vector<CompileOptions> versionsOf(const CompileOptions &options);

/// The target system of a module's code, if it is not this machine's; else "".
llvm::StringRef tripleOf(mlir::ModuleOp module);

/// Gives the module, after its stage, the target that it is compiled for.
llvm::Error setTarget(mlir::ModuleOp module, const CompileOptions &options);

} // namespace kiln::driver
