//===- CSource.h - A model's C file becomes machine code -------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace kiln::package {

enum class CResult { Object, Assembly, SharedLibrary };

struct CSourceOptions {
  std::string compiler = "cc"; ///< a path, or a name that is looked for in PATH
  std::string includeFolder;   ///< where kiln/program.h is
  unsigned level = 2;          ///< -O
  CResult result = CResult::Object;
  std::string weightsFile; ///< the bytes of the symbol kiln_the_weights; "" where the source needs none
};

/// Compiles `source` to the file `output`. A shared library may leave the runtime's functions to whoever loads it.
llvm::Error compileC(llvm::StringRef source, const CSourceOptions &options, llvm::StringRef output);

} // namespace kiln::package
