//===- Alignment.h - Find buffers that begin where wide accesses may ---------===//
#pragma once

#include "ir/uop/UOp.h"

#include "llvm/ADT/SmallBitVector.h"

namespace kiln::render {

/// In bytes: an aligned buffer begins at a multiple of this.
inline constexpr int64_t kBufferAlignment = 16;

/// The buffers of a kernel that begin at a multiple of so many bytes, 64 at most, wherever the module's host program
/// launches it: memory of their own, or a part that begins at a fixed multiple. A row of a loop's output, or a result
/// of control flow, may begin anywhere. None if nothing launches the kernel.
llvm::SmallBitVector alignedBuffers(uop::FuncOp kernel, int64_t bytes = kBufferAlignment);

/// A power of two that divides every value of an index, 16 at most.
int64_t divisorOf(mlir::Value index);

} // namespace kiln::render
