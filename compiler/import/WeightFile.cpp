#include "import/WeightFile.h"

#include "support/ContentHash.h"

using namespace kiln;

graph::FileAttr kiln::import::fileReference(mlir::MLIRContext *context, llvm::StringRef path,
                                            llvm::MemoryBufferRef file, int64_t offset, int64_t bytes) {
  llvm::StringRef data = file.getBuffer().substr(offset, bytes);
  assert(int64_t(data.size()) == bytes && "the bytes lie within the file");
  return graph::FileAttr::get(context, path, offset, bytes, contentHash(data));
}
