//===- Spawn.h - Run another program ------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace kiln::package {

/// Runs the program at a path and waits for it. `input` is the file that it reads as standard input, "" for none. An
/// error begins with "`output`: cannot `doWhat`" and has the program's first complaint.
llvm::Error spawn(const std::string &program, llvm::ArrayRef<std::string> arguments, llvm::StringRef input,
                  llvm::StringRef output, llvm::StringRef doWhat);

/// Runs `compiler`, a path or a name that is looked for in PATH,, as spawn does.
llvm::Error spawnCompiler(const std::string &compiler, llvm::ArrayRef<std::string> arguments, llvm::StringRef input,
                          llvm::StringRef output, llvm::StringRef doWhat);

} // namespace kiln::package
