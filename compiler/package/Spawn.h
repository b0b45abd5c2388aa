//===- Spawn.h - Run another program ------------------------------------------------------===//
#pragma once

#include "package/OutputFile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace kiln::package {

/// What a program is run for.
struct Job {
  const StagedFile &file;     ///< whose folder the program works in, so that arguments name parts of it plainly
  llvm::StringRef doWhat;     ///< "link"
  llvm::StringRef input = {}; ///< the part that it reads as standard input; "": nothing
  std::string remedy = {};    ///< where the program complains
};

/// Runs `program`, a path or a name that is looked for in PATH, in a process group that an interrupt of this one kills,
/// and waits for it. Its own temporary files go to the job's folder too. An error begins with "OUTPUT: cannot DO-WHAT"
/// and has the program's first complaint.
llvm::Error spawn(const std::string &program, llvm::ArrayRef<std::string> arguments, const Job &job);

/// The same with a C compiler, whose absence has a remedy; arguments may stand behind its name.
llvm::Error spawnCompiler(const std::string &compiler, llvm::ArrayRef<std::string> arguments, const Job &job);

} // namespace kiln::package
