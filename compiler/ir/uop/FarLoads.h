//===- FarLoads.h - Loads that need their gate to stay near a buffer ---------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace kiln::uop {

/// Marks a load, all of whose lanes may be far outside the buffer if its gate takes them away, as of a tensor that is
/// followed by another in a concatenation. There may be no page, and CPUs find out slowly that a masked access needs
/// none; a device may test first what all lanes share. A hint.
inline constexpr llvm::StringLiteral kFarLoad = "uop.far";

} // namespace kiln::uop
