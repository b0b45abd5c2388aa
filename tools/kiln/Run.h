//===- Run.h - kiln run: compile in memory and run -----------------------------===//
#pragma once

#include "options/Options.h"

namespace kiln::driver {

/// Behaves like the program that `kiln compile` would make. The exit status, or an error of the compiler.
llvm::Expected<int> run(const CompileOptions &options, const RunOptions &run);

} // namespace kiln::driver
