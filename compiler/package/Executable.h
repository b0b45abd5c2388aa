//===- Executable.h - An object and the runtime become a program -----------------------===//
//
// Stage: package.  The system's C compiler links, since it alone knows where its start files and libc are. The program
// depends on libc and libm, or with isStatic on nothing, and its bytes are the same for the same inputs.
//
//===-----------------------------------------------------------------------------------===//
#pragma once

#include "package/OutputFile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace kiln::package {

struct LinkOptions {
  std::string compiler = "cc"; ///< a path, or a name that is looked for in PATH
  std::string runtimeFolder;   ///< where the runtime's libraries are
  std::string device = "cpu";  ///< whose library libkiln_device_NAME.a is linked
  bool isStatic = false;
  bool strip = true;
};

/// The folder of the runtime's libraries: lib/kiln beside the folder of the running program `executable`. An
/// installation without it is an error.
llvm::Expected<std::string> findRuntime(llvm::StringRef executable);

/// Links `objects`, parts of `program` or files by their paths, to `program`. The error has the linker's first
/// complaint.
llvm::Error linkExecutable(llvm::ArrayRef<std::string> objects, const LinkOptions &options, const StagedFile &program);

} // namespace kiln::package
