//===- OldGlibc.h - Programs for glibcs that are older than the one at hand ---------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace kiln::package {

/// What a linker is told so that a program or shared library asks for old versions of glibc's functions: of `files`,
/// the objects or archives that runtime/src/link became, each function __wrap_NAME takes the place of NAME. Nothing
/// where they have none, as for another C library.
llvm::Expected<std::vector<std::string>> oldGlibcArguments(llvm::ArrayRef<std::string> files, bool loadsLibraries);

} // namespace kiln::package
