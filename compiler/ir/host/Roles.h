//===- Roles.h - Roles of tensors that a launch only reads ---------------------===//
#pragma once

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

/// Words of host.tensor's `op`. All others are those of ops that a kernel computes.
namespace kiln::host::role {

inline constexpr llvm::StringLiteral kInput = "input", kWeight = "weight", kState = "state", kIf = "if", kLoop = "loop",
                                     kCall = "call", kLoad = "load";

inline bool isRead(llvm::StringRef op) {
  return llvm::is_contained({kInput, kWeight, kState, kIf, kLoop, kCall, kLoad}, op);
}

} // namespace kiln::host::role

namespace kiln::host {

/// Of an scf.if or scf.while: the model's node that it comes from.
inline constexpr llvm::StringLiteral kNodeAttr = "host.node";

} // namespace kiln::host
