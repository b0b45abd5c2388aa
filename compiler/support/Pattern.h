//===- Pattern.h - Names with a * for any letters -----------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace kiln {

/// Whether a name is `pattern`, in which a `*` stands for any letters.
bool matchesPattern(llvm::StringRef name, llvm::StringRef pattern);

} // namespace kiln
