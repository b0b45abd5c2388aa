#include "package/Safetensors.h"

#include "kiln/program.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln;
using namespace kiln::package;

static llvm::StringRef dtypeName(kiln_dtype dtype) {
  static constexpr llvm::StringLiteral names[] = {"BOOL", "I8",  "U8",  "I16",  "U16", "I32", "U32",
                                                  "I64",  "U64", "F16", "BF16", "F32", "F64"};
  return names[dtype];
}

static std::string makeHeader(llvm::ArrayRef<const SafetensorsEntry *> order) {
  std::string header;
  llvm::raw_string_ostream text(header);
  llvm::json::OStream json(text);
  int64_t at = 0;
  json.object([&] {
    for (const SafetensorsEntry *tensor : order)
      json.attributeObject(llvm::json::fixUTF8(tensor->name), [&] {
        json.attribute("dtype", dtypeName(tensor->dtype));
        json.attribute("shape", llvm::json::Array(tensor->dims));
        json.attribute("data_offsets", llvm::json::Array{at, at + tensor->bytes});
        at += tensor->bytes;
      });
  });
  // Spaces are allowed behind the JSON: with the 8 bytes of its length it ends at an aligned place.
  header.resize(llvm::alignTo(header.size() + 8, KILN_HOST_ALIGNMENT) - 8, ' ');
  return header;
}

llvm::Error package::writeSafetensors(llvm::ArrayRef<SafetensorsEntry> tensors, llvm::raw_ostream &out) {
  std::vector<const SafetensorsEntry *> order;
  for (bool aligned : {true, false})
    for (const SafetensorsEntry &tensor : tensors)
      if ((tensor.bytes % KILN_HOST_ALIGNMENT == 0) == aligned)
        order.push_back(&tensor);
  std::string header = makeHeader(order);
  llvm::support::endian::Writer(out, llvm::endianness::little).write<uint64_t>(header.size());
  out << header;
  for (const SafetensorsEntry *tensor : order)
    if (llvm::Error error = tensor->write(out))
      return error;
  return llvm::Error::success();
}
