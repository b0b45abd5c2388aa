//===- ShapeOption.h - --shape: the shape of an input -------------------------===//
#pragma once

#include "import/Import.h"

namespace kiln::driver {

/// Adds INPUT=SIZE,SIZE… to `shapes`; no size makes a scalar.
llvm::Error parseShape(llvm::StringRef text, llvm::StringMap<std::vector<std::string>> &shapes);

} // namespace kiln::driver
