#include "import/WeightFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace kiln;

graph::FileAttr kiln::import::fileReference(mlir::MLIRContext *context, llvm::StringRef path,
                                            llvm::MemoryBufferRef file, int64_t offset, int64_t bytes) {
  llvm::StringRef data = file.getBuffer().substr(offset, bytes);
  assert(int64_t(data.size()) == bytes && "the bytes lie within the file");
  auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(data));
  return graph::FileAttr::get(context, path, offset, bytes, llvm::toHex(hash, /*LowerCase=*/true));
}
