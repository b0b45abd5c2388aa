//===- PastCaches.h - Stores that no cache has to keep ----------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace kiln::uop {

/// The bytes that a cache takes in at a time, and that are written at once if they go past it.
inline constexpr int64_t kLineBytes = 64;

/// Marks a store of whole lines to a tensor so large that the last cache would lose its beginning before its end is
/// written: a device may have it go past its caches, which then need not fetch the old lines. A hint.
inline constexpr llvm::StringLiteral kPastCaches = "uop.past_caches";

} // namespace kiln::uop
