#include "import/WeightFile.h"

#include "support/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace kiln;
namespace path = llvm::sys::path;

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> kiln::import::openWithin(llvm::StringRef folder,
                                                                             llvm::StringRef name) {
  llvm::SmallString<128> root, real, joined(folder.empty() ? "." : folder);
  std::error_code noFolder = llvm::sys::fs::real_path(joined, root);
  path::append(joined, name);
  if (path::is_absolute(name))
    return failure("the weight file " + name + " is outside the model's folder", "name it relative to the model");
  // Told apart before the file is looked for: whether it exists outside is nobody's business.
  llvm::SmallString<128> plain(name);
  path::remove_dots(plain, /*remove_dot_dot=*/true);
  bool leaves = plain.empty() || *path::begin(plain) == "..";
  if (!leaves && !noFolder)
    if (std::error_code error = llvm::sys::fs::real_path(joined, real))
      return failure("the weight file " + name + " cannot be read: " + error.message(),
                     "put it into the model's folder");
  llvm::SmallString<128> inside(root);
  inside += path::get_separator();
  if (root == path::get_separator())
    inside = root;
  if (leaves || !llvm::StringRef(real).starts_with(inside))
    return failure("the weight file " + name + " is outside the model's folder", "move it into that folder");
  auto buffer = llvm::MemoryBuffer::getFile(real, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return failure("the weight file " + name + " cannot be read: " + buffer.getError().message());
  return std::move(*buffer);
}

graph::FileAttr kiln::import::fileReference(mlir::MLIRContext *context, llvm::StringRef path,
                                            llvm::MemoryBufferRef file, int64_t offset, int64_t bytes) {
  llvm::StringRef data = file.getBuffer().substr(offset, bytes);
  assert(int64_t(data.size()) == bytes && "the bytes lie within the file");
  auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(data));
  return graph::FileAttr::get(context, path, offset, bytes, llvm::toHex(hash, /*LowerCase=*/true));
}
