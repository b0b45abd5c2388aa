//===- Freestanding.h - Models for programs without an operating system -------===//
#pragma once

#include "ir/host/Host.h"

#include "llvm/Support/Error.h"

namespace kiln::driver {

/// Whether the runtime of --freestanding can run a program: all sizes are fixed, it only launches and copies, and every
/// port's dtype is one of C's, or a bool or half float. The error names `model` and the violation.
llvm::Error checkFreestanding(host::ProgramOp program, const std::string &model);

} // namespace kiln::driver
