//===- DumpCheck.h - What passes and MLIR rely on and no verifier sees --------===//
#pragma once

#include "passes/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace kiln::driver {

/// Whether a dump's text has nothing that MLIR's parser does not survive and only a damaged text has: a result of an
/// op (`%2#1`) with a number for which it would make room before it looks whether the result is there; a value that
/// stands before the op that makes it, which is in a region of a later one. The error has the line and no file's name.
llvm::Error checkText(llvm::StringRef text);

/// Whether each variable of a dump's sizes and indices stands for something: a symbol of the module or one that the
/// graph binds; in a kernel, a size that it is passed or one of its axes. The modules of recipes are looked at, too.
/// Stages take that for granted of each other, so only text from outside has to be looked at. The error has no file's
/// name.
llvm::Error checkVariables(mlir::ModuleOp module);

/// Whether a dump for several devices stands after stage lower, since the stages before make memory of the first alone,
/// and its devices and the numbers of them that its kernels have are there. The error has no file's name.
llvm::Error checkDevices(mlir::ModuleOp module, Stage stage);

} // namespace kiln::driver
