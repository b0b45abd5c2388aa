#include "interp/WeightData.h"

#include "support/ContentHash.h"
#include "support/Error.h"
#include "support/FolderFile.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace kiln;
using namespace kiln::interp;

llvm::Expected<TensorRef> interp::elementsTensor(mlir::DenseElementsAttr elements) {
  std::optional<DType> dtype = dtypeOf(elements.getElementType());
  if (!dtype)
    return failure("its dtype is none that kiln computes in");
  llvm::ArrayRef<int64_t> dims = elements.getType().getShape();
  bool isSplat = elements.isSplat();
  auto bytes = std::make_shared<std::vector<char>>();
  if (*dtype == DType::Bool) {
    // Works for any packing that MLIR uses.
    if (isSplat)
      bytes->push_back(elements.getSplatValue<bool>());
    else
      bytes->assign(elements.value_begin<bool>(), elements.value_end<bool>());
  } else {
    bytes->assign(elements.getRawData().begin(), elements.getRawData().end());
  }
  bytes->reserve(1); // so that there is an address even without elements
  Strided map = Strided::rowMajor(dims);
  if (isSplat)
    map.strides.assign(dims.size(), 0);
  return LazyTensor::held(*dtype, std::shared_ptr<const char>(bytes, bytes->data()), std::move(map));
}

llvm::Expected<TensorRef> interp::fileTensor(graph::FileAttr file, DType dtype, llvm::ArrayRef<int64_t> dims,
                                             llvm::StringRef folder) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, file.getPath());
  if (leavesFolder(file.getPath()))
    return failure("'" + path + "' is outside the model's folder", "move it into that folder");
  // A slice past the end could be mapped all the same, and would fault when read.
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> whole = mapRegularFile(path);
  if (!whole)
    return failure("'" + path + "' " + llvm::toString(whole.takeError()));
  llvm::StringRef bytes = (*whole)->getBuffer();
  if (file.getOffset() < 0 || uint64_t(file.getOffset()) > bytes.size() ||
      uint64_t(file.getBytes()) > bytes.size() - file.getOffset())
    return failure("'" + path + "' ends before byte " + llvm::Twine(file.getOffset() + file.getBytes()),
                   "fetch the file again");
  bytes = bytes.substr(file.getOffset(), file.getBytes());
  if (!file.getHash().equals_insensitive(contentHash(bytes)))
    return failure("'" + path + "' has changed since the model was imported", "import the model again");
  std::shared_ptr<llvm::MemoryBuffer> buffer = std::move(*whole);
  return LazyTensor::held(dtype, std::shared_ptr<const char>(buffer, buffer->getBufferStart() + file.getOffset()),
                          Strided::rowMajor(dims));
}
