//===- CSource.h - A model's C file becomes machine code -------------------------------===//
#pragma once

#include "package/OutputFile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace kiln::package {

enum class CResult { Object, Assembly, SharedLibrary };

struct CSourceOptions {
  std::string compiler = "cc"; ///< a path, or a name that is looked for in PATH
  std::string includeFolder;   ///< where kiln/program.h is
  unsigned level = 2;          ///< -O
  bool isX86 = false;          ///< for such a CPU, which can check the targets of calls and returns
  CResult result = CResult::Object;
  /// A part of the staged file: the bytes of the symbol kiln_the_weights; "" if the source needs none.
  std::string weightsPart;
};

/// Compiles `source` to the file `to`, or to the part of it with that name. A shared library may leave the runtime's
/// functions to whoever loads it.
llvm::Error compileC(llvm::StringRef source, const CSourceOptions &options, const StagedFile &to,
                     llvm::StringRef name = "output");

} // namespace kiln::package
