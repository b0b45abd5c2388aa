//===- WeightFile.h - Weights that stay in files beside the model ------------===//
#pragma once

#include "ir/graph/Graph.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace kiln::import {

/// Maps a file that lies within `folder`, also after symbolic links are followed; `path` is relative to it.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> openWithin(llvm::StringRef folder, llvm::StringRef path);

/// The reference to bytes [offset, offset+bytes) of such a file, with their hash. They must lie within it.
graph::FileAttr fileReference(mlir::MLIRContext *context, llvm::StringRef path, llvm::MemoryBufferRef file,
                              int64_t offset, int64_t bytes);

} // namespace kiln::import
