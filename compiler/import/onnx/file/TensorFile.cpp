#include "import/onnx/file/TensorFile.h"

#include "import/DType.h"
#include "import/MemoryLimit.h"
#include "import/StoreNarrow.h"
#include "import/onnx/file/ElementType.h"
#include "import/onnx/file/TypedData.h"
#include "ir/base/ObjectType.h"
#include "support/Error.h"
#include "support/FolderFile.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace kiln;
using namespace kiln::import;

llvm::Expected<mlir::DenseElementsAttr> import::readTensorFile(mlir::MLIRContext *context, llvm::StringRef path,
                                                               int64_t memoryLimit) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer = mapRegularFile(path, "name a tensor's file");
  if (!buffer)
    return failure(path + ": " + llvm::toString(buffer.takeError()));
  ::onnx::TensorProto tensor;
  size_t size = (*buffer)->getBufferSize();
  if (size > INT_MAX || !tensor.ParseFromArray((*buffer)->getBufferStart(), static_cast<int>(size)))
    return failure(path + ": is not an ONNX tensor", "is the file whole?");
  context->loadDialect<ObjectDialect>();
  mlir::Type element = onnx::elementType(context, tensor.data_type());
  if (!element || isContainer(element))
    return failure(path + ": dtype " + onnx::dataTypeName(tensor.data_type()) + " is not supported",
                   onnx::kKnownDTypes);
  if (tensor.has_segment() || tensor.data_location() == ::onnx::TensorProto::EXTERNAL)
    return failure(path + ": its data lie elsewhere", "store the tensor in one file");
  llvm::ArrayRef<int64_t> shape(tensor.dims().data(), tensor.dims_size());
  if (llvm::any_of(shape, [](int64_t dim) { return dim < 0; }))
    return failure(path + ": a size is negative", "sizes count elements");
  if (llvm::Error error = byteCount(shape, element, memoryLimit).takeError())
    return failure(path + ": " + llvm::toString(std::move(error)));
  auto type = mlir::RankedTensorType::get(shape, element);
  bool isString = llvm::isa<StringType>(element);
  if (isString || !tensor.has_raw_data()) {
    llvm::Expected<mlir::DenseElementsAttr> read =
        isString ? onnx::denseFromStrings(type, tensor) : onnx::denseFromNumbers(type, tensor);
    if (!read)
      return failure(path + ": " + llvm::toString(read.takeError()));
    return isString ? *read : llvm::cast<mlir::DenseElementsAttr>(storedElements(*read));
  }
  int64_t bytes = onnx::storedByteCount(type);
  if (tensor.raw_data().size() != static_cast<size_t>(bytes))
    return failure(path + ": its data has " + llvm::Twine(tensor.raw_data().size()) + " bytes where its shape needs " +
                       llvm::Twine(bytes),
                   "is the file whole?");
  return llvm::cast<mlir::DenseElementsAttr>(storedElements(onnx::denseFromBytes(type, tensor.raw_data())));
}
