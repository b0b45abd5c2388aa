//===- SparseTensor.cpp - Constants whose zeros a file leaves out ------------===//
//
// The values are a list; the indices are places in the flat tensor, or for each value an index of each axis. Nothing in
// a graph is sparse, so the zeros are filled in here.
//
//===----------------------------------------------------------------------===//
#include "import/MemoryLimit.h"
#include "import/onnx/file/ModelFile.h"
#include "import/onnx/file/TypedData.h"
#include "ir/base/Base.h"
#include "ir/base/NarrowDType.h"
#include "ir/base/ObjectType.h"
#include "support/Error.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;

/// One element of each number as the file has it: a bool is a byte.
static std::string elementBytes(mlir::DenseElementsAttr values) {
  std::string bytes;
  if (values.getElementType().isInteger(1)) {
    for (bool value : values.getValues<bool>())
      bytes.push_back(char(value));
    return bytes;
  }
  llvm::ArrayRef<char> stored = values.getRawData();
  for (int64_t i = 0; i < (values.isSplat() ? values.getNumElements() : 1); ++i)
    bytes.append(stored.begin(), stored.end());
  return bytes;
}

/// The places in a tensor of these sizes; as many as there are values.
static llvm::Expected<llvm::SmallVector<int64_t>> places(mlir::DenseElementsAttr indices, llvm::ArrayRef<int64_t> sizes,
                                                         int64_t count) {
  llvm::ArrayRef<int64_t> given = indices.getType().getShape();
  int64_t rank = given.size() == 2 ? int64_t(sizes.size()) : 1;
  bool fits = indices.getElementType().isInteger(64) && !given.empty() && given.size() <= 2 && given[0] == count;
  if (!fits || (given.size() == 2 && given[1] != rank))
    return failure("its indices do not fit its values", "they are int64, a place or an index of each axis a value");
  llvm::SmallVector<int64_t> flat{mlir::ShapedType::getNumElements(sizes)}, result;
  llvm::ArrayRef<int64_t> axes = given.size() == 2 ? sizes : llvm::ArrayRef<int64_t>(flat);
  llvm::SmallVector<int64_t> all(indices.getValues<int64_t>());
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = 0;
    for (int64_t axis = 0; axis < rank; ++axis) {
      int64_t index = all[i * rank + axis];
      if (index < 0 || index >= axes[axis])
        return failure("its index " + Twine(index) + " is out of range", "is the file whole?");
      place = place * axes[axis] + index;
    }
    result.push_back(place);
  }
  return result;
}

llvm::Expected<Constant> ModelFile::constant(mlir::MLIRContext *context, const ::onnx::SparseTensorProto &tensor) {
  auto fail = [&](const Twine &cause, const Twine &remedy) {
    return failure("tensor " + quoted(tensor.values().name()) + ": " + cause, remedy);
  };
  llvm::Expected<Constant> values = constant(context, tensor.values(), INT64_MAX);
  if (!values)
    return values.takeError();
  llvm::Expected<Constant> indices = constant(context, tensor.indices(), INT64_MAX);
  if (!indices)
    return indices.takeError();
  mlir::Type element = values->type.getElementType();
  if (isObject(element) || isNarrow(element) || values->type.getRank() != 1)
    return fail("its values are not a list of numbers of 8 bits or more", "store it dense");
  llvm::ArrayRef<int64_t> sizes(tensor.dims().data(), tensor.dims_size());
  if (llvm::any_of(sizes, [](int64_t size) { return size < 0; }))
    return fail("a size is negative", "sizes count elements");
  llvm::Expected<int64_t> bytes = byteCount(sizes, element, options_->memoryLimit);
  if (!bytes)
    return fail(llvm::toString(bytes.takeError()), "");
  llvm::Expected<llvm::SmallVector<int64_t>> at =
      places(llvm::cast<mlir::DenseElementsAttr>(indices->data), sizes, values->type.getNumElements());
  if (!at)
    return fail(llvm::toString(at.takeError()), "");
  auto type = mlir::RankedTensorType::get(sizes, element);
  std::string stored = elementBytes(llvm::cast<mlir::DenseElementsAttr>(values->data));
  size_t width = byteSize(element);
  std::string dense(type.getNumElements() * width, '\0');
  for (auto [i, place] : llvm::enumerate(*at))
    dense.replace(place * width, width, stored, i * width, width);
  return Constant{type, denseFromBytes(type, dense)};
}
