//===- Page.h - Where the pages of the documentation are ----------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace kiln {

/// The path of docs/NAME as an error may give it: of the installation that runs, or of the sources around the build
/// folder; "docs/NAME" where neither has it. From the working folder where
/// that is around it.
std::string pagePath(llvm::StringRef name);

} // namespace kiln
