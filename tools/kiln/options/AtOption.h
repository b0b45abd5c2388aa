//===- AtOption.h - --at: the sizes that a model is verified at ----------------===//
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace kiln::driver {

/// Sizes by the names of their symbols.
using Sizes = llvm::StringMap<int64_t>;

/// Reads NAME=V,NAME=V…
llvm::Expected<Sizes> parseSizes(llvm::StringRef text);

} // namespace kiln::driver
