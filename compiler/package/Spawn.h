//===- Spawn.h - Run a C compiler ------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace kiln::package {

/// Runs `compiler`, a path or a name that is looked for in PATH, and waits for it. `input` is the file that it reads as
/// standard input, "" for none. An error begins with "`output`: cannot `doWhat`" and has the compiler's first
/// complaint.
llvm::Error spawnCompiler(const std::string &compiler, llvm::ArrayRef<std::string> arguments, llvm::StringRef input,
                          llvm::StringRef output, llvm::StringRef doWhat);

} // namespace kiln::package
