//===- Nearest.h - The likely meaning of a misspelt name ----------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace kiln {

/// The remedy "did you mean 'NAME'?" with the name that is the fewest edits away, at most `most` and a third of the
/// letters; `otherwise` if none is near.
std::string didYouMean(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> names, llvm::StringRef otherwise,
                       unsigned most = 100);

} // namespace kiln
