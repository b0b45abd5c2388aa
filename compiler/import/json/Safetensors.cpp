//===- Safetensors.cpp - Many named tensors in one file ----------------------===//
//
// Eight bytes of the header's length, the header as JSON {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0,
// 24]}, …}, then the data that the offsets count from.
//
//===----------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/MemoryLimit.h"
#include "import/json/Document.h"
#include "import/json/StoredTensor.h"
#include "support/Error.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::json;
using llvm::StringRef;
using llvm::Twine;

static llvm::Error corrupt(const Twine &why) { return failure("this is not a .safetensors file: " + why); }

static bool isCount(const Json &number) { return number.is_number_unsigned() && number.get<uint64_t>() <= INT64_MAX; }

static bool readOffsets(const Json &entry, uint64_t (&offsets)[2]) {
  if (!entry.is_object() || !entry.contains("data_offsets") || !entry["data_offsets"].is_array() ||
      entry["data_offsets"].size() != 2)
    return false;
  for (int i : {0, 1}) {
    if (!isCount(entry["data_offsets"][i]))
      return false;
    offsets[i] = entry["data_offsets"][i].get<uint64_t>();
  }
  return true;
}

/// The entry's shape, dtype and place, or null members if it has none.
static bool readEntry(mlir::MLIRContext *context, const Json &entry, StoredTensor &tensor, uint64_t (&offsets)[2]) {
  if (!readOffsets(entry, offsets) || !entry.contains("dtype") || !entry["dtype"].is_string() ||
      !entry.contains("shape") || !entry["shape"].is_array())
    return false;
  for (const Json &size : entry["shape"]) {
    if (!isCount(size))
      return false;
    tensor.shape.push_back(size.get<int64_t>());
  }
  StringRef name = llvm::StringSwitch<StringRef>(entry["dtype"].get_ref<const std::string &>())
                       .Case("BOOL", "bool")
                       .Case("I8", "int8")
                       .Case("I16", "int16")
                       .Case("I32", "int32")
                       .Case("I64", "int64")
                       .Case("U8", "uint8")
                       .Case("U16", "uint16")
                       .Case("U32", "uint32")
                       .Case("U64", "uint64")
                       .Case("F16", "float16")
                       .Case("BF16", "bfloat16")
                       .Case("F32", "float32")
                       .Case("F64", "float64")
                       .Default("");
  tensor.element = parseDType(context, name);
  return true;
}

/// Whether the tensors follow one another from the first byte to the last.
static llvm::Error checkRanges(const Json &header, uint64_t bytes) {
  struct Range {
    uint64_t begin, end;
    StringRef name;
  };
  std::vector<Range> ranges;
  for (const auto &[name, entry] : header.items()) {
    if (name == "__metadata__")
      continue;
    uint64_t offsets[2];
    if (!readOffsets(entry, offsets))
      return corrupt("the entry of '" + name + "' is malformed");
    ranges.push_back({offsets[0], offsets[1], name});
  }
  llvm::sort(ranges,
             [](const Range &a, const Range &b) { return std::tie(a.begin, a.end) < std::tie(b.begin, b.end); });
  uint64_t end = 0;
  for (const Range &range : ranges) {
    if (range.begin != end || range.end < range.begin || range.end > bytes)
      return failure("the tensor '" + range.name + "' lies at bytes " + Twine(range.begin) + " to " + Twine(range.end) +
                         " of " + Twine(bytes) + ", and those before it end at byte " + Twine(end),
                     "the file is truncated or corrupt; write it again");
    end = range.end;
  }
  if (end != bytes)
    return failure("the tensors end at byte " + Twine(end) + " of " + Twine(bytes), "write the file again");
  return llvm::Error::success();
}

llvm::Expected<Json> kiln::import::json::readSafetensorsHeader(StringRef file) {
  if (file.size() < 8)
    return corrupt("it is shorter than its header");
  uint64_t length = llvm::support::endian::read64le(file.data());
  if (length > file.size() - 8)
    return corrupt("it is shorter than its header");
  StringRef text = file.substr(8, length);
  Json header = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    return corrupt("its header is not a JSON object");
  if (llvm::Error error = checkRanges(header, file.size() - 8 - length))
    return error;
  return header;
}

llvm::Expected<StoredTensor> kiln::import::json::findSafetensor(mlir::MLIRContext *context, StringRef file,
                                                                const Json &header, StringRef name,
                                                                int64_t memoryLimit) {
  if (!header.contains(name))
    return failure("it has no tensor '" + name + "'", "name one that it holds");
  StoredTensor tensor;
  uint64_t offsets[2];
  if (!readEntry(context, header.at(name.str()), tensor, offsets))
    return corrupt("the entry of '" + name + "' is malformed");
  if (!tensor.element)
    return failure("the tensor '" + name + "' is " + header.at(name.str()).at("dtype").get<std::string>(),
                   "store it as one of " + dtypeNames());
  llvm::Expected<int64_t> bytes = byteCount(tensor.shape, tensor.element, memoryLimit);
  if (!bytes)
    return bytes.takeError();
  uint64_t length = llvm::support::endian::read64le(file.data()), data = file.size() - 8 - length;
  if (offsets[1] < offsets[0] || offsets[1] - offsets[0] != uint64_t(*bytes) || offsets[1] > data)
    return failure("the tensor '" + name + "' lies at bytes " + Twine(offsets[0]) + " to " + Twine(offsets[1]) +
                       " of " + Twine(data) + ", but its shape needs " + Twine(*bytes),
                   "the file is truncated or corrupt");
  tensor.offset = 8 + length + offsets[0];
  tensor.bytes = *bytes;
  return tensor;
}
