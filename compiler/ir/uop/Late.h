//===- Late.h - Values that are computed where they are -----------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace kiln::uop {

/// Marks an op of a rare branch that the compiler of a device should leave there, although it is the same in each step
/// of the loops around. Addresses that depend on it would be values of those loops, each kept up to date in each step.
/// A hint.
inline constexpr llvm::StringLiteral kLate = "uop.late";

} // namespace kiln::uop
