//===- OldGlibc.h - Link for older glibcs than the one at hand ----------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace kiln::package {

/// The linker arguments that make a program or shared library ask for old versions of glibc's functions: `files` are
/// the objects or archives of runtime/src/link, and each of their functions __wrap_NAME replaces NAME. Empty if they
/// have none, as for another C library.
llvm::Expected<std::vector<std::string>> oldGlibcArguments(llvm::ArrayRef<std::string> files, bool loadsLibraries);

} // namespace kiln::package
