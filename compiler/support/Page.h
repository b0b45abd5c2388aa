//===- Page.h - Where the pages of the documentation are ----------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace kiln {

/// The path of docs/NAME as an error may give it: of the installation that runs, or of the sources that build/bin/kiln
/// was built from; "docs/NAME" if that is the same from here, or if neither is there.
std::string pagePath(llvm::StringRef name);

} // namespace kiln
