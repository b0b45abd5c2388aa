//===- OutputFile.h - Files that appear whole or not at all -------------------===//
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln::driver {

/// Calls `write` with a stream into a new file beside `path`, which then takes that name. On failure nothing is left.
/// "" and "-" mean standard output; a path that exists and is no regular file is written as it is.
llvm::Error writeFile(llvm::StringRef path, llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);

} // namespace kiln::driver
