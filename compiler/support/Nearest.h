//===- Nearest.h - The likely meaning of a misspelt name ----------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace kiln {

/// The remedy "did you mean 'NAME'?" with the name that is the fewest edits away; `otherwise` if none is
/// near.
std::string didYouMean(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> names, llvm::StringRef otherwise);

} // namespace kiln
