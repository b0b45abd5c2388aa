//===- Overwrite.h - No output takes the place of an input ------------------------===//
//
// A command that ends well has replaced what lay at its outputs' names. So these may not be the model, nor a file that
// the model refers to, nor one another, and a header that somebody wrote is not replaced by a generated one.
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

/// A wrong use where an output is one of the inputs, or another output, by whatever name or link. Only regular files
/// count: what goes to /dev/null takes no file's place.
llvm::Error checkOverwrites(llvm::ArrayRef<NamedFile> inputs, llvm::ArrayRef<NamedFile> outputs);

/// An error where `path` is a file whose first line does not say that kiln made it. `what` it is to be, in words.
llvm::Error checkIsOurs(llvm::StringRef path, llvm::StringRef what);

/// An error where `path` is the other one of the two runtimes that are called kiln.c: the sources beside it need that
/// one.
llvm::Error checkIsSameRuntime(llvm::StringRef path, bool isFreestanding);

} // namespace kiln::driver
