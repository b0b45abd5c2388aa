//===- ApplyOpts.h - The effect of each opt on a kernel --------------------------===//
#pragma once

#include "ir/base/Target.h"
#include "ir/kernel/Kernel.h"

#include "llvm/Support/Error.h"

namespace kiln::optimize {

/// Applies one opt and appends it to the kernel's list. An opt that does not fit the kernel is an error that says why;
/// the kernel must not be used then, so a caller that goes on after an error tries the opt on a copy.
llvm::Error applyOpt(kernel::FuncOp func, kernel::OptAttr opt, TargetAttr target);

/// The number by which an opt names a value that the kernel computes.
int64_t numberOf(kernel::FuncOp func, mlir::Value value);

/// An opt as parseOpts reads it.
std::string textOf(kernel::OptAttr opt);

/// Reads "UPCAST 0 4, VECTOR 1 16".
llvm::Expected<llvm::SmallVector<kernel::OptAttr>> parseOpts(mlir::MLIRContext *context, llvm::StringRef text);

} // namespace kiln::optimize
