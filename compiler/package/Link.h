//===- Link.h - Objects and the runtime become a program or a library ------------------===//
//
// Stage: package.  The system's C compiler links, since only it knows where its start files and libc are. The result
// depends on libc and libm, or with isStatic on nothing, and its bytes are the same for the same inputs.
//
// Hardening of a program or shared library is not left to the compiler's defaults: code and data move as a whole (PIE),
// the table of addresses is filled before the program starts and read-only then, no stack is executable.
//
//===-----------------------------------------------------------------------------------===//
#pragma once

#include "package/OutputFile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace kiln::package {

/// A library of the system that the runtime of a program calls.
struct Library {
  std::string name;   ///< the runtime has its user if the macro KILN_WITH_name is defined
  std::string linked; ///< a linker's arguments, between blanks
};

/// How a static program is made that lies anywhere in memory.
enum class StaticPie {
  Asked,      ///< by -static-pie
  AskedFirst, ///< likewise; without a start file for it in the C library, the program has fixed addresses
  Spelled,    ///< to the linker, with the start files: compilers for musl may not know the option; else as above
};

struct LinkOptions {
  std::string compiler = "cc";         ///< a path, or a name that is looked for in PATH
  std::string runtimeFolder;           ///< where the runtime's libraries are
  bool compilesRuntime = false;        ///< they are for another system: the compiler makes the runtime of its sources
  std::vector<Library> libraries = {}; ///< libraries that a runtime compiled so calls; another has them inside
  std::vector<std::string> devices = {"cpu"}; ///< whose libraries libkiln_device_NAME.a are linked
  bool isStatic = false;
  StaticPie staticPie = StaticPie::Asked;
  bool strip = true;
  std::vector<std::string> exports = {}; ///< of a library: the functions that it shows; all else is hidden
};

/// The folder of the runtime's libraries: lib/kiln next to the folder of the running program `executable`. An
/// installation without it is an error.
llvm::Expected<std::string> findRuntime(llvm::StringRef executable);

/// Links `objects`, parts of `program` or files by their paths, to `program`. The error has the linker's first
/// complaint, also in the functions below.
llvm::Error linkExecutable(llvm::ArrayRef<std::string> objects, const LinkOptions &options, const StagedFile &program);

/// A shared library whose SONAME is its file's name.
llvm::Error linkSharedLibrary(llvm::ArrayRef<std::string> objects, const LinkOptions &options,
                              const StagedFile &library);

/// An archive of one object, `member`, with the runtime inside: two such archives in one program do not conflict.
llvm::Error linkArchive(llvm::ArrayRef<std::string> objects, const LinkOptions &options, llvm::StringRef member,
                        const StagedFile &archive);

} // namespace kiln::package
