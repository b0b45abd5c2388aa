//===- Doctor.h - kiln doctor: what works on this machine ---------------------===//
#pragma once

#include "llvm/Support/raw_ostream.h"

namespace kiln::driver {

/// Tries everything that kiln depends on, and prints a line for each: what works, or what is missing and how to fix it.
/// Returns whether a program for device `cpu` can be made.
bool examine(bool asJson, llvm::raw_ostream &out);

} // namespace kiln::driver
