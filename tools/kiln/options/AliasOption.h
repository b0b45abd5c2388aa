//===- AliasOption.h - --alias: an output in an input's memory -----------------===//
#pragma once

#include "import/Import.h"

namespace kiln::driver {

/// Adds INPUT=OUTPUT or INPUT=OUTPUT:CAPACITY to `aliases`. A name may have colons.
llvm::Error parseAlias(llvm::StringRef text, std::vector<import::AliasOption> &aliases);

} // namespace kiln::driver
