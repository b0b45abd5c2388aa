//===- WeightFile.h - Weights that stay in files next to the model -----------===//
#pragma once

#include "ir/graph/Graph.h"

#include "llvm/Support/MemoryBuffer.h"

namespace kiln::import {

/// The reference to bytes [offset, offset+bytes) of `file`, with their hash. They must lie within it; `path` is
/// relative to the model's folder.
graph::FileAttr fileReference(mlir::MLIRContext *context, llvm::StringRef path, llvm::MemoryBufferRef file,
                              int64_t offset, int64_t bytes);

} // namespace kiln::import
