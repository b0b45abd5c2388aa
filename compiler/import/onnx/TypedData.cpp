#include "import/onnx/TypedData.h"

#include "ir/base/Base.h"
#include "support/Error.h"

#include "llvm/Support/Endian.h"

using namespace kiln;
using namespace kiln::import;
using namespace mlir;

/// A little-endian number's bytes, narrowed to the element's width, as ONNX stores small dtypes in wide fields.
static void appendNumber(std::string &bytes, uint64_t bits, unsigned width) {
  for (unsigned i = 0; i < width; ++i)
    bytes.push_back(static_cast<char>(bits >> (8 * i)));
}

DenseElementsAttr kiln::import::onnx::denseFromBytes(RankedTensorType type, llvm::StringRef bytes) {
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> values;
    for (char byte : bytes)
      values.push_back(byte != 0);
    return DenseElementsAttr::get(type, values);
  }
  return DenseElementsAttr::getFromRawBuffer(type, llvm::ArrayRef(bytes.data(), bytes.size()));
}

llvm::Expected<DenseElementsAttr> kiln::import::onnx::denseFromNumbers(RankedTensorType type,
                                                                       const ::onnx::TensorProto &tensor) {
  using Proto = ::onnx::TensorProto;
  unsigned width = byteSize(type.getElementType());
  std::string bytes;
  int64_t count = 0;
  auto append = [&](const auto &numbers) {
    count = numbers.size();
    if (count == type.getNumElements())
      for (auto number : numbers)
        appendNumber(bytes, llvm::bit_cast<std::conditional_t<sizeof(number) == 4, uint32_t, uint64_t>>(number), width);
  };
  switch (tensor.data_type()) {
  case Proto::FLOAT:
    append(tensor.float_data());
    break;
  case Proto::DOUBLE:
    append(tensor.double_data());
    break;
  case Proto::INT64:
    append(tensor.int64_data());
    break;
  case Proto::UINT32:
  case Proto::UINT64:
    append(tensor.uint64_data());
    break;
  default:
    append(tensor.int32_data());
  }
  if (count != type.getNumElements())
    return failure("its data has " + Twine(count) + " numbers where its shape needs " + Twine(type.getNumElements()),
                   "is the file whole?");
  return denseFromBytes(type, bytes);
}
