#include "render/model/WeightData.h"

#include "ir/graph/Graph.h"
#include "render/model/RecipeRunner.h"
#include "support/ContentHash.h"
#include "support/Error.h"
#include "support/FolderFile.h"
#include "support/Step.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <tuple>

using namespace kiln;
using namespace kiln::render;

namespace {

/// A stream into memory of a fixed size.
class FixedStream final : public llvm::raw_ostream {
public:
  explicit FixedStream(llvm::MutableArrayRef<char> room) : raw_ostream(/*unbuffered=*/true), room_(room) {}

private:
  void write_impl(const char *data, size_t bytes) override {
    assert(bytes <= room_.size() - used_);
    memcpy(room_.data() + used_, data, bytes);
    used_ += bytes;
  }
  uint64_t current_pos() const override { return used_; }

  llvm::MutableArrayRef<char> room_;
  size_t used_ = 0;
};

} // namespace

void render::writeElements(mlir::ElementsAttr elements, llvm::raw_ostream &out) {
  mlir::Type element = elements.getElementType();
  if (element.isInteger(1)) {
    for (bool bit : elements.getValues<bool>())
      out << char(bit);
    return;
  }
  if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(elements)) {
    llvm::ArrayRef<char> data = resource.getData();
    out.write(data.data(), data.size());
    return;
  }
  auto dense = llvm::cast<mlir::DenseElementsAttr>(elements);
  llvm::ArrayRef<char> data = dense.getRawData();
  for (int64_t copies = dense.isSplat() ? dense.getNumElements() : 1; copies > 0; --copies)
    out.write(data.data(), data.size());
}

static llvm::Error copyFile(const WeightEntry &weight, graph::FileAttr file, llvm::StringRef folder,
                            llvm::raw_ostream &out) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, file.getPath());
  auto fail = [&](const llvm::Twine &cause, const llvm::Twine &remedy = "") {
    return failure(path + ": weight '" + weight.name + "': " + cause, remedy);
  };
  if (file.getBytes() != weight.bytes)
    return fail("has " + llvm::Twine(file.getBytes()) + " bytes where its shape needs " + llvm::Twine(weight.bytes));
  // The model itself may be a link to elsewhere, so only the name is judged here; the hash checks the contents.
  if (leavesFolder(file.getPath()))
    return fail("is outside the model's folder", "move it into that folder");
  llvm::Expected<int> handle = openRegularFile(path);
  if (!handle)
    return fail(llvm::toString(handle.takeError()));
  ContentHash hash;
  std::vector<char> piece(std::min<int64_t>(weight.bytes, 1 << 20));
  int64_t done = 0;
  llvm::Error error = llvm::Error::success();
  while (done < weight.bytes) {
    size_t wanted = std::min<int64_t>(piece.size(), weight.bytes - done);
    llvm::Expected<size_t> got = llvm::sys::fs::readNativeFileSlice(
        *handle, llvm::MutableArrayRef<char>(piece.data(), wanted), file.getOffset() + done);
    if (!got) {
      error = llvm::joinErrors(std::move(error), got.takeError());
      break;
    }
    if (*got == 0)
      break;
    hash.update(llvm::StringRef(piece.data(), *got));
    out.write(piece.data(), *got);
    done += *got;
  }
  std::ignore = llvm::sys::fs::closeFile(*handle);
  if (error)
    return fail(llvm::toString(std::move(error)));
  if (done < weight.bytes)
    return fail("the file ends before byte " + llvm::Twine(file.getOffset() + weight.bytes));
  if (!file.getHash().equals_insensitive(hash.digits()))
    return fail("its bytes have changed since the model was imported", "import the model again");
  return llvm::Error::success();
}

llvm::Error render::writeWeight(const WeightEntry &weight, const WeightSource &source, llvm::raw_ostream &out) {
  if (auto file = llvm::dyn_cast<graph::FileAttr>(weight.data))
    return copyFile(weight, file, source.folder, out);
  if (weight.recipe) {
    llvm::Expected<llvm::ArrayRef<char>> made = source.recipes->make(weight, source);
    if (!made)
      return made.takeError();
    out.write(made->data(), made->size());
    return llvm::Error::success();
  }
  writeElements(llvm::cast<mlir::ElementsAttr>(weight.data), out);
  return llvm::Error::success();
}

llvm::Error render::writeWeights(llvm::ArrayRef<WeightEntry> weights, const WeightSource &source,
                                 llvm::raw_ostream &out) {
  int64_t at = 0;
  if (source.recipes)
    source.recipes->expect(weights);
  for (const auto &[index, weight] : llvm::enumerate(weights)) {
    if (weight.isShared)
      continue;
    beginStep("weight " + llvm::Twine(index + 1) + " of " + llvm::Twine(weights.size()));
    out.write_zeros(weight.offset - at);
    if (llvm::Error error = writeWeight(weight, source, out))
      return error;
    at = weight.offset + weight.bytes;
  }
  return llvm::Error::success();
}

llvm::Error render::readWeight(const WeightEntry &weight, const WeightSource &source, llvm::MutableArrayRef<char> to) {
  FixedStream stream(to);
  return writeWeight(weight, source, stream);
}

llvm::Error render::readWeights(llvm::ArrayRef<WeightEntry> weights, const WeightSource &source,
                                llvm::MutableArrayRef<char> to) {
  FixedStream stream(to);
  return writeWeights(weights, source, stream);
}
