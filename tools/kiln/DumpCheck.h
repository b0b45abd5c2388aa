//===- DumpCheck.h - What passes and MLIR rely on and no verifier sees --------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace kiln::driver {

/// Whether no result of a dump's text (`%2#1`) has a number that only a damaged text can have: MLIR's parser makes room
/// for all results up to it before it looks whether they are there. The error has the line and no file's name.
llvm::Error checkResultNumbers(llvm::StringRef text);

/// Whether each variable of a dump's sizes and indices stands for something: a symbol of the module or one that the
/// graph binds; in a kernel, a size that it is passed or one of its axes. Stages take that for granted of each other,
/// so only text from outside has to be looked at. The error has no file's name.
llvm::Error checkVariables(mlir::ModuleOp module);

} // namespace kiln::driver
