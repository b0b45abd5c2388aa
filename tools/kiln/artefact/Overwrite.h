//===- Overwrite.h - No output replaces an input ----------------------------------===//
//
// A command that succeeds replaces the files that have its outputs' names. So these may not be the model, nor a file
// that the model refers to, nor one another, and a header that somebody wrote is not replaced by a generated one.
//
//===------------------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace kiln::driver {

struct NamedFile {
  std::string path;
  std::string what; ///< in an error's words: "the model", "--weights"
};

/// A wrong use if an output is one of the inputs, or another output, by whatever name or link. Only regular files
/// count: an output to /dev/null replaces no file.
llvm::Error checkOverwrites(llvm::ArrayRef<NamedFile> inputs, llvm::ArrayRef<NamedFile> outputs);

/// An error if `path` is a file whose first line does not say that kiln made it. `what` is its purpose, in words.
llvm::Error checkIsOurs(llvm::StringRef path, llvm::StringRef what);

/// An error if `path` is the other one of the two runtimes that are called kiln.c: the sources next to it need that
/// one.
llvm::Error checkIsSameRuntime(llvm::StringRef path, bool isFreestanding);

} // namespace kiln::driver
