//===- Version.h - Which kiln this is ----------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace kiln::driver {

/// The commit that this kiln was built from, with "-dirty" after it if files had changes; "" if the sources did not
/// say.
llvm::StringRef commit();

/// "kiln 0.1.0 (commit 0123456789ab, LLVM 22.1.8)".
std::string versionLine();

} // namespace kiln::driver
