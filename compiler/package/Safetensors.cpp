#include "package/Safetensors.h"

#include "kiln/program.h"
#include "support/ContentHash.h"
#include "support/Error.h"
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

static constexpr char kMetadata[] = "__metadata__";
static const std::string kNoDigest(ContentHash::kDigits, '0');

namespace {

/// Passes bytes on, and hashes them.
class HashedStream final : public llvm::raw_ostream {
public:
  explicit HashedStream(llvm::raw_ostream &out) : out_(out) { SetBufferSize(1 << 16); }
  ~HashedStream() override { flush(); }
  std::string digest() {
    flush();
    return hash_.digits();
  }

private:
  void write_impl(const char *data, size_t bytes) override {
    hash_.update(llvm::StringRef(data, bytes));
    out_.write(data, bytes);
  }
  uint64_t current_pos() const override { return out_.tell(); }

  llvm::raw_ostream &out_;
  ContentHash hash_;
};

} // namespace

static std::string makeHeader(llvm::ArrayRef<const SafetensorsEntry *> order) {
  std::string header;
  llvm::raw_string_ostream text(header);
  llvm::json::OStream json(text);
  int64_t at = 0;
  json.object([&] {
    json.attributeObject(kMetadata, [&] { json.attribute(KILN_DIGEST_KEY, kNoDigest); });
    for (const SafetensorsEntry *tensor : order)
      json.attributeObject(llvm::json::fixUTF8(tensor->name), [&] {
        json.attribute("dtype", dtypeName(tensor->dtype));
        json.attribute("shape", llvm::json::Array(tensor->dims));
        json.attribute("data_offsets", llvm::json::Array{at, at + tensor->bytes});
        at += tensor->bytes;
      });
  });
  // Spaces are allowed after the JSON: with the 8 bytes of its length it ends at an aligned place.
  header.resize(llvm::alignTo(header.size() + 8, KILN_HOST_ALIGNMENT) - 8, ' ');
  return header;
}

bool package::comesFirst(int64_t bytes) { return bytes % KILN_HOST_ALIGNMENT == 0; }

llvm::Expected<std::string> package::writeSafetensors(llvm::ArrayRef<SafetensorsEntry> tensors,
                                                      llvm::raw_pwrite_stream &out) {
  std::vector<const SafetensorsEntry *> order;
  for (bool aligned : {true, false})
    for (const SafetensorsEntry &tensor : tensors)
      if (comesFirst(tensor.bytes) == aligned)
        order.push_back(&tensor);
  if (llvm::any_of(order, [](const SafetensorsEntry *tensor) { return tensor->name == kMetadata; }))
    return failure(llvm::Twine("weight '") + kMetadata + "': a safetensors file holds no tensor of this name",
                   "leave --weights out, or rename it");
  std::string header = makeHeader(order);
  HashedStream hashed(out);
  llvm::support::endian::Writer(hashed, llvm::endianness::little).write<uint64_t>(header.size());
  hashed << header;
  for (const SafetensorsEntry *tensor : order)
    if (llvm::Error error = tensor->write(hashed))
      return std::move(error);
  std::string digest = hashed.digest();
  // The metadata come first, so no tensor's name can look like them.
  out.pwrite(digest.data(), digest.size(), 8 + header.find(kNoDigest));
  return digest;
}
