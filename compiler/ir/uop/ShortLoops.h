//===- ShortLoops.h - Loops that are not worth unrolling -------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace kiln::uop {

/// Marks a loop over a row whose length only a run knows. It may have no step at all, so that a compiler that unrolls
/// it by several steps, and needs code before and after it for the rest, makes short rows slow. A hint.
inline constexpr llvm::StringLiteral kShortLoop = "uop.short";

} // namespace kiln::uop
