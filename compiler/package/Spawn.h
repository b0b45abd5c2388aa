//===- Spawn.h - Run another program ------------------------------------------------------===//
//
// A C compiler compiles and links, Graphviz draws. Either may hang, fail or print a page of text, on a disk that is
// full or in a folder with an odd name, while somebody presses Ctrl-C. So they work in the folder of the file that is
// made, where all names are plain, in a process group that an interrupt kills. Their messages are held in memory, and
// the user sees only the one line that gives the reason.
//
//===--------------------------------------------------------------------------------------===//
#pragma once

#include "package/OutputFile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace kiln::package {

/// The purpose of running a program.
struct Job {
  const StagedFile &file;     ///< the program works in its folder, so that arguments name parts of it plainly
  llvm::StringRef doWhat;     ///< "link"
  llvm::StringRef input = {}; ///< the part that it reads as standard input; "": nothing
  std::string remedy = {};    ///< if the program complains
  llvm::SmallVectorImpl<char> *output = nullptr; ///< receives its standard output; null: that is complaints, too
};

/// Runs `program`, a path or a name that is looked for in PATH, in a process group that an interrupt of this one kills,
/// and waits for it. Its temporary files go to the job's folder too. An error begins with "OUTPUT: cannot DO-WHAT" and
/// has the program's first complaint.
llvm::Error spawn(const std::string &program, llvm::ArrayRef<std::string> arguments, const Job &job);

/// The same with a C compiler, whose absence has a remedy; words may follow its name. -o names a part of the job's.
llvm::Error spawnCompiler(const std::string &compiler, llvm::ArrayRef<std::string> arguments, const Job &job);

} // namespace kiln::package
