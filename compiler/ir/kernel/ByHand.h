//===- ByHand.h - Kernels whose opts somebody wrote down ------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace kiln::kernel {

/// The attribute of a kernel whose opts a user wrote, who is told if they ask for too much.
inline constexpr llvm::StringLiteral kByHand = "by_hand";

} // namespace kiln::kernel
