//===- Npy.cpp - numpy's format for one array --------------------------------===//
//
// "\x93NUMPY", two bytes of version, the header's length (two bytes in version 1, four later), the header as a Python
// dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, then the elements.
//
//===----------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/MemoryLimit.h"
#include "import/json/StoredTensor.h"
#include "support/Error.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::json;
using llvm::StringRef;
using llvm::Twine;

/// What follows 'key': in the header.
static StringRef valueOf(StringRef header, StringRef key) {
  size_t at = header.find(("'" + key + "':").str());
  return at == StringRef::npos ? StringRef() : header.substr(at + key.size() + 3).ltrim();
}

llvm::Expected<StoredTensor> kiln::import::json::findNpyTensor(mlir::MLIRContext *context, StringRef file,
                                                               int64_t memoryLimit) {
  auto corrupt = [](const Twine &why) {
    return failure("this is not a .npy file: " + why, "write it again with numpy.save");
  };
  if (!file.starts_with("\x93NUMPY") || file.size() < 10)
    return corrupt("it does not begin as one");
  unsigned lengthBytes = file[6] == 1 ? 2 : 4;
  size_t begin = 8 + lengthBytes;
  if (file.size() < begin)
    return corrupt("its header is cut off");
  size_t length = lengthBytes == 2 ? llvm::support::endian::read16le(file.data() + 8)
                                   : llvm::support::endian::read32le(file.data() + 8);
  if (file.size() - begin < length)
    return corrupt("its header is cut off");
  StringRef header = file.substr(begin, length);

  StringRef descr = valueOf(header, "descr").take_front(5);
  char quote = descr.empty() ? 0 : descr.front();
  descr = descr.drop_front(!descr.empty()).take_until([&](char c) { return c == quote; });
  StringRef name = llvm::StringSwitch<StringRef>(descr.substr(1))
                       .Case("b1", "bool")
                       .Case("i1", "int8")
                       .Case("i2", "int16")
                       .Case("i4", "int32")
                       .Case("i8", "int64")
                       .Case("u1", "uint8")
                       .Case("u2", "uint16")
                       .Case("u4", "uint32")
                       .Case("u8", "uint64")
                       .Case("f2", "float16")
                       .Case("f4", "float32")
                       .Case("f8", "float64")
                       .Default("");
  if (name.empty() || descr.front() == '>')
    return failure("its elements are '" + descr + "'", "save them little-endian as one of " + dtypeNames());

  StoredTensor tensor;
  tensor.element = parseDType(context, name);
  tensor.columnMajor = valueOf(header, "fortran_order").starts_with("True");
  StringRef shape = valueOf(header, "shape");
  if (!shape.consume_front("("))
    return corrupt("its header names no shape");
  for (shape = shape.ltrim(); !shape.starts_with(")"); shape = shape.ltrim(", ")) {
    int64_t size;
    if (shape.consumeInteger(10, size) || size < 0)
      return corrupt("its shape cannot be read");
    tensor.shape.push_back(size);
  }
  llvm::Expected<int64_t> bytes = byteCount(tensor.shape, tensor.element, memoryLimit);
  if (!bytes)
    return bytes.takeError();
  tensor.offset = begin + length;
  tensor.bytes = *bytes;
  if (int64_t(file.size()) - tensor.offset < tensor.bytes)
    return failure("it holds " + Twine(int64_t(file.size()) - tensor.offset) + " bytes of data where its shape needs " +
                       Twine(tensor.bytes),
                   "the file is truncated");
  return tensor;
}
