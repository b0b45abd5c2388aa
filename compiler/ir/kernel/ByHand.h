//===- ByHand.h - Kernels whose opts somebody wrote down ------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace kiln::kernel {

/// The attribute of a kernel whose opts somebody wrote down, who is told where they ask for too much.
inline constexpr llvm::StringLiteral kByHand = "by_hand";

} // namespace kiln::kernel
