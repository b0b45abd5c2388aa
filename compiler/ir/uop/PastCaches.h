//===- PastCaches.h - Stores that no cache has to keep ----------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace kiln::uop {

/// The bytes that a cache takes in at a time, and that are written at once where they go past it.
inline constexpr int64_t kLineBytes = 64;

/// Marks a store of whole lines to a tensor of which the last cache would have lost the beginning before its end is
/// written: a device may have it go past its caches, which then need not fetch what is overwritten. A hint.
inline constexpr llvm::StringLiteral kPastCaches = "uop.past_caches";

} // namespace kiln::uop
