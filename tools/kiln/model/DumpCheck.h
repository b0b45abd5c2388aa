//===- DumpCheck.h - Check conditions that no verifier sees -------------------===//
#pragma once

#include "passes/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace kiln::driver {

/// Whether a dump's text is free of two faults that crash MLIR's parser and that only damage causes. One is a result of
/// an op (`%2#1`) with a number for which it would make room before it looks whether the result exists. The other is a
/// value before the op that makes it, in a region of a later one. The error has the line and no file's name.
llvm::Error checkText(llvm::StringRef text);

/// Whether each variable of a dump's sizes and indices is known: a symbol of the module or one that the graph
/// binds; in a kernel, a size that it is passed or one of its axes. The modules of recipes are checked, too.
/// Stages take that for granted of each other, so only text from outside has to be checked. The error has no
/// file's name.
llvm::Error checkVariables(mlir::ModuleOp module);

/// Whether a dump for several devices is of stage lower or later, since the stages before make memory of the first
/// alone, and whether its devices and its kernels' device numbers exist. The error has no file's name.
llvm::Error checkDevices(mlir::ModuleOp module, Stage stage);

} // namespace kiln::driver
