//===- Alignment.h - Which buffers begin where wide accesses may -------------===//
#pragma once

#include "ir/uop/UOp.h"

#include "llvm/ADT/SmallBitVector.h"

namespace kiln::render {

/// In bytes: where an aligned buffer begins, at the least.
inline constexpr int64_t kBufferAlignment = 16;

/// The buffers of a kernel that begin at a multiple of so many bytes, 64 at most, wherever the host program beside it
/// launches it: memory of their own, or a part that begins at a fixed multiple. A row of a loop's output, or what a
/// path through control flow gave, may begin anywhere. None where nothing launches the kernel.
llvm::SmallBitVector alignedBuffers(uop::FuncOp kernel, int64_t bytes = kBufferAlignment);

/// A power of two that every value of an index is a multiple of, 16 at most.
int64_t divisorOf(mlir::Value index);

} // namespace kiln::render
