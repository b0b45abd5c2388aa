//===- Verify.h - kiln verify: check a device's results -----------------------===//
#pragma once

#include "options/Options.h"

namespace kiln::driver {

/// Runs the model on stored inputs and compares with the stored outputs; if nothing is stored, on random inputs, and
/// compares with the graph interpreter. Prints a line for each output. Returns whether all agree.
llvm::Expected<bool> verify(const CompileOptions &options, const VerifyOptions &verify);

} // namespace kiln::driver
