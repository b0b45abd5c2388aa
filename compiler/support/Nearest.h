//===- Nearest.h - What a misspelt name was meant to be -----------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace kiln {

/// The remedy "did you mean 'NAME'?" with that of `names` which is the fewest edits away; `otherwise` where none is
/// near.
std::string didYouMean(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> names, llvm::StringRef otherwise);

} // namespace kiln
