#include "import/onnx/file/TypedData.h"

#include "import/StoreNarrow.h"
#include "ir/base/Base.h"
#include "ir/base/NarrowDType.h"
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

int64_t kiln::import::onnx::storedByteCount(RankedTensorType type) {
  Type element = type.getElementType();
  return isNarrow(element) ? packedByteCount(type.getNumElements(), element)
                           : type.getNumElements() * int64_t(byteSize(element));
}

DenseElementsAttr kiln::import::onnx::denseFromBytes(RankedTensorType type, llvm::StringRef bytes) {
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> values;
    for (char byte : bytes)
      values.push_back(byte != 0);
    return DenseElementsAttr::get(type, values);
  }
  std::string codes;
  if (isNarrow(type.getElementType())) {
    codes = unpackCodes(bytes, type.getNumElements(), type.getElementType());
    bytes = codes;
  }
  return DenseElementsAttr::getFromRawBuffer(type, llvm::ArrayRef(bytes.data(), bytes.size()));
}

llvm::Expected<DenseElementsAttr> kiln::import::onnx::denseFromStrings(RankedTensorType type,
                                                                       const ::onnx::TensorProto &tensor) {
  if (tensor.string_data_size() != type.getNumElements())
    return failure("its data has " + Twine(tensor.string_data_size()) + " strings where its shape needs " +
                       Twine(type.getNumElements()),
                   "is the file whole?");
  SmallVector<StringRef> strings;
  for (const std::string &text : tensor.string_data()) {
    if (text.find('\0') != std::string::npos)
      return failure("a string holds a 0", "a string ends there");
    strings.push_back(text);
  }
  return DenseElementsAttr::get(type, strings);
}

llvm::Expected<DenseElementsAttr> kiln::import::onnx::denseFromNumbers(RankedTensorType type,
                                                                       const ::onnx::TensorProto &tensor) {
  using Proto = ::onnx::TensorProto;
  unsigned width = byteSize(type.getElementType());
  // A number holds as many elements of 2 and 4 bits as a byte does, and one of 6 bits.
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  bool isPacked = bits == 2 || bits == 4;
  int64_t wanted = isPacked ? packedByteCount(type.getNumElements(), type.getElementType()) : type.getNumElements();
  std::string bytes;
  int64_t count = 0;
  auto append = [&](const auto &numbers) {
    count = numbers.size();
    if (count == wanted)
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
  if (count != wanted)
    return failure("its data has " + Twine(count) + " numbers where its shape needs " + Twine(wanted),
                   "is the file whole?");
  if (bits == 6) {
    for (char &code : bytes)
      code &= 63;
    return DenseElementsAttr::getFromRawBuffer(type, llvm::ArrayRef(bytes.data(), bytes.size()));
  }
  return denseFromBytes(type, bytes);
}
