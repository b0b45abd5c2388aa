//===- GraphWeights.cpp - The weights of a document --------------------------===//
#include "import/DType.h"
#include "import/MemoryLimit.h"
#include "import/WeightFile.h"
#include "import/json/GraphImporter.h"
#include "import/json/InlineData.h"
#include "import/json/StoredTensor.h"
#include "support/Error.h"
#include "support/FolderFile.h"

#include "llvm/Support/Path.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::json;
using namespace mlir;
using llvm::StringRef;
using llvm::Twine;

llvm::Error GraphImporter::readWeights() {
  if (!document_.contains("weights"))
    return llvm::Error::success();
  for (const Json &weight : document_["weights"])
    if (llvm::Error error = readWeight(weight))
      return failure("weight '" + weight["name"].get<std::string>() + "': " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}

llvm::Error GraphImporter::readWeight(const Json &weight) {
  StringRef name = weight["name"].get_ref<const std::string &>();
  builder_.setLocation(locationOf(name));
  if (weight.contains("value") == weight.contains("file"))
    return failure(weight.contains("value") ? "it has both a value and a file" : "it has neither a value nor a file",
                   "give one of the two");
  llvm::Expected<Value> value = weight.contains("value") ? inlineWeight(weight) : fileWeight(weight);
  if (!value)
    return value.takeError();
  return define(name, {*value, std::nullopt});
}

llvm::Expected<Value> GraphImporter::inlineWeight(const Json &weight) {
  if (!weight.contains("dtype") || !weight.contains("shape"))
    return failure("an inline value needs a dtype and a shape", "give both");
  llvm::Expected<Type> element = readDType(weight);
  if (!element)
    return element.takeError();
  auto shape = weight["shape"].get<std::vector<int64_t>>();
  if (llvm::Expected<int64_t> bytes = byteCount(shape, *element, options_.memoryLimit); !bytes)
    return bytes.takeError();
  llvm::Expected<DenseElementsAttr> data = readInlineData(weight["value"], shape, *element);
  if (!data)
    return data.takeError();
  return builder_.weight(weight["name"].get_ref<const std::string &>(), *data);
}

llvm::Expected<const GraphImporter::WeightFile *> GraphImporter::openWeightFile(StringRef path) {
  auto [entry, isNew] = weightFiles_.try_emplace(path);
  WeightFile &file = entry->second;
  if (!isNew)
    return &file;
  auto bytes = mapInFolder(folder_, path);
  if (!bytes)
    return failure("the weight file " + path + " " + llvm::toString(bytes.takeError()));
  file.bytes = std::move(*bytes);
  llvm::SmallString<128> place(folder_);
  llvm::sys::path::append(place, path);
  if (options_.reads)
    options_.reads(place);
  if (!path.ends_with(".safetensors"))
    return &file;
  llvm::Expected<Json> header = readSafetensorsHeader(file.bytes->getBuffer());
  if (!header)
    return failure(path + ": " + llvm::toString(header.takeError()));
  file.header = std::move(*header);
  return &file;
}

llvm::Expected<Value> GraphImporter::fileWeight(const Json &weight) {
  StringRef path = weight["file"].get_ref<const std::string &>(), name = weight["name"].get_ref<const std::string &>();
  bool many = path.ends_with(".safetensors");
  if (!many && !path.ends_with(".npy"))
    return failure("the weight file " + path + " is neither .npy nor .safetensors", "convert it to one of them");
  if (many != weight.contains("tensor"))
    return failure(many ? "the attribute 'tensor' is missing" : "an .npy file has no named tensors",
                   many ? "name the tensor in the .safetensors file" : "leave 'tensor' out");
  llvm::Expected<const WeightFile *> file = openWeightFile(path);
  if (!file)
    return file.takeError();
  StringRef bytes = (*file)->bytes->getBuffer();
  llvm::Expected<StoredTensor> stored =
      many ? findSafetensor(&context_, bytes, (*file)->header, weight["tensor"].get_ref<const std::string &>(),
                            options_.memoryLimit)
           : findNpyTensor(&context_, bytes, options_.memoryLimit);
  if (!stored)
    return failure(path + ": " + llvm::toString(stored.takeError()));
  if (weight.contains("dtype")) {
    llvm::Expected<Type> element = readDType(weight);
    if (!element)
      return element.takeError();
    if (*element != stored->element)
      return failure(path + " holds " + dtypeName(stored->element) + ", not " + dtypeName(*element),
                     "correct the weight's dtype");
  }
  if (stored->element.isInteger(1) &&
      llvm::any_of(bytes.substr(stored->offset, stored->bytes), [](char c) { return c != 0 && c != 1; }))
    return failure(path + ": a bool is neither 0 nor 1", "store it as a byte of one of them");
  Shape shape(stored->shape.begin(), stored->shape.end());
  if (weight.contains("shape") &&
      ArrayRef<int64_t>(stored->shape) != ArrayRef(weight["shape"].get<std::vector<int64_t>>()))
    return failure(path + " holds " + describe(shape) + ", not " + weight["shape"].dump(),
                   "correct the weight's shape");
  if (stored->columnMajor)
    std::reverse(shape.begin(), shape.end());
  graph::FileAttr data =
      fileReference(&context_, path, (*file)->bytes->getMemBufferRef(), stored->offset, stored->bytes);
  Value value =
      graph::WeightOp::create(opBuilder_, builder_.location(), tensorType(shape, stored->element), name, data);
  if (!stored->columnMajor)
    return value;
  SmallVector<int64_t> reversed = TensorBuilder::allAxes(value);
  std::reverse(reversed.begin(), reversed.end());
  return builder_.permute(value, reversed);
}
