//===- ModelFile.cpp - Reading a model and its tensors' data -----------===//
//
// A model may be gigabytes of weights around a small graph, while protobuf copies what it parses and takes 2 GB
// at most. So tensors' data is lifted out of the message before it is parsed, and only its place in the file is
// kept. A weight is then a range of a file with its hash; short ones, and those whose bytes are stored in another
// form, become dense elements. External data are ranges of other files, which have to be in the model's folder.
// Nothing in the file is trusted: every size, offset and length is compared with the existing bytes before they
// are read.
//
//===-------------------------------------------------------------------===//
#include "import/onnx/file/ModelFile.h"

#include "import/DType.h"
#include "import/MemoryLimit.h"
#include "import/onnx/file/ElementType.h"
#include "import/onnx/file/OtherFormat.h"
#include "import/onnx/file/TypedData.h"
#include "ir/base/ObjectType.h"
#include "ir/graph/Graph.h"
#include "support/ContentHash.h"
#include "support/Error.h"
#include "support/FolderFile.h"
#include "support/Quote.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::StringRef;
using llvm::Twine;

static llvm::Error corrupt(StringRef path, StringRef file, const Twine &cause) {
  if (std::optional<OtherFormat> other = otherFormat(file))
    return failure(path + ": " + other->cause, other->remedy);
  return failure(path + ": " + cause, "is it an ONNX file, and is it whole?");
}

/// A program's inputs have all elements, as a constant that a file stores without its zeros has (SparseTensor.cpp).
static void fillSparseInputs(::onnx::GraphProto &graph) {
  for (::onnx::ValueInfoProto &input : *graph.mutable_input()) {
    if (!input.type().has_sparse_tensor_type())
      continue;
    ::onnx::TypeProto::SparseTensor sparse = input.type().sparse_tensor_type();
    ::onnx::TypeProto::Tensor &dense = *input.mutable_type()->mutable_tensor_type();
    dense.set_elem_type(sparse.elem_type());
    if (sparse.has_shape())
      *dense.mutable_shape() = sparse.shape();
  }
}

llvm::Expected<std::unique_ptr<ModelFile>> ModelFile::open(StringRef path, const ImportOptions &options) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return failure(path + ": cannot be read: " + buffer.getError().message(), "name a model's file");
  auto file = std::make_unique<ModelFile>();
  file->path_ = llvm::sys::path::filename(path);
  file->folder_ = llvm::sys::path::parent_path(path).str();
  file->options_ = &options;
  StringRef bytes = (*buffer)->getBuffer();
  if (bytes.empty()) // protobuf takes that for a model too
    return failure(path + ": is empty", "is it an ONNX file, and is it whole?");
  file->files_[file->path_] = std::move(*buffer);

  llvm::Expected<std::string> lifted = liftTensorData(bytes);
  if (!lifted)
    return corrupt(path, bytes, llvm::toString(lifted.takeError()));
  if (lifted->size() > INT_MAX)
    return failure(path + ": over 2 GB without its tensors' data", "store the tensors as raw or external data");
  if (!file->model_.ParseFromArray(lifted->data(), lifted->size()))
    return corrupt(path, bytes, "corrupt ONNX: its fields make no model");
  if (file->model_.has_graph())
    fillSparseInputs(*file->model_.mutable_graph());
  return file;
}

llvm::Expected<StringRef> ModelFile::map(StringRef relative) {
  auto [entry, isNew] = files_.try_emplace(relative);
  if (isNew) {
    llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer = mapInFolder(folder_, relative);
    if (!buffer) {
      files_.erase(entry);
      return failure("external data " + quoted(relative) + " " + llvm::toString(buffer.takeError()));
    }
    entry->second = std::move(*buffer);
    llvm::SmallString<256> path(folder_);
    llvm::sys::path::append(path, relative);
    if (options_->reads)
      options_->reads(path);
  }
  return entry->second->getBuffer();
}

llvm::Expected<ModelFile::Bytes> ModelFile::externalBytes(const ::onnx::TensorProto &tensor, uint64_t wanted) {
  std::string location;
  uint64_t offset = 0, length = wanted;
  for (const ::onnx::StringStringEntryProto &entry : tensor.external_data()) {
    uint64_t *number = entry.key() == "offset" ? &offset : entry.key() == "length" ? &length : nullptr;
    if (entry.key() == "location")
      location = entry.value();
    else if (number && StringRef(entry.value()).getAsInteger(10, *number))
      return failure("external data's " + entry.key() + " " + quoted(entry.value()) + " is not a number of bytes",
                     "give a whole number");
  }
  StringRef path = location;
  llvm::Expected<StringRef> file = map(path);
  if (!file)
    return file.takeError();
  if (length != wanted)
    return failure("external data " + quoted(path) + " gives " + Twine(length) + " bytes where the shape needs " +
                       Twine(wanted),
                   "correct the one or the other");
  if (offset > file->size() || wanted > file->size() - offset)
    return failure("external data " + quoted(path) + " ends at byte " + Twine(file->size()) + ", before byte " +
                       Twine(offset) + " + " + Twine(wanted),
                   "is the file whole?");
  return Bytes{location, offset, file->substr(offset, wanted)};
}

llvm::Expected<Constant> ModelFile::constant(mlir::MLIRContext *context, const ::onnx::TensorProto &tensor,
                                             int64_t mostDense) {
  auto fail = [&](llvm::Error error) {
    return failure("tensor " + quoted(tensor.name()) + ": " + llvm::toString(std::move(error)));
  };
  mlir::Type element = elementType(context, tensor.data_type());
  if (!element)
    return fail(failure("dtype " + dataTypeName(tensor.data_type()) + " is not supported", kKnownDTypes));
  if (tensor.has_segment())
    return fail(failure("data in segments is not supported", "store it in one piece"));
  for (int64_t size : tensor.dims())
    if (size < 0)
      return fail(failure("a size is negative: " + Twine(size), "sizes count elements"));
  auto type = mlir::RankedTensorType::get(llvm::ArrayRef(tensor.dims().data(), tensor.dims_size()), element);
  if (llvm::Error error = byteCount(type.getShape(), element, options_->memoryLimit).takeError())
    return fail(std::move(error));
  if (isObject(element)) {
    llvm::Expected<mlir::DenseElementsAttr> strings = denseFromStrings(type, tensor);
    if (!strings)
      return fail(strings.takeError());
    return Constant{type, *strings};
  }
  int64_t size = storedByteCount(type);

  Bytes bytes{path_, 0, {}};
  if (tensor.data_location() == ::onnx::TensorProto::EXTERNAL) {
    llvm::Expected<Bytes> external = externalBytes(tensor, size);
    if (!external)
      return fail(external.takeError());
    bytes = *external;
  } else if (tensor.has_raw_data()) {
    std::optional<FileRange> range = decodeRange(tensor.raw_data());
    if (!range)
      return fail(failure("its data are in a place where no tensor is read", "make it an initializer"));
    bytes = {path_, range->offset, files_[path_]->getBuffer().substr(range->offset, range->bytes)};
  } else {
    llvm::Expected<mlir::DenseElementsAttr> numbers = denseFromNumbers(type, tensor);
    if (!numbers)
      return fail(numbers.takeError());
    return Constant{type, *numbers};
  }
  if (bytes.bytes.size() != uint64_t(size))
    return fail(failure("its data has " + Twine(bytes.bytes.size()) + " bytes where its shape needs " + Twine(size),
                        "is the file whole?"));
  if (size <= mostDense)
    return Constant{type, denseFromBytes(type, bytes.bytes)};
  if (element.isInteger(1) && llvm::any_of(bytes.bytes, [](char c) { return c != 0 && c != 1; }))
    return fail(failure("a bool is neither 0 nor 1", "store it as a byte of one of them"));
  return Constant{type, graph::FileAttr::get(context, bytes.file, bytes.offset, size, contentHash(bytes.bytes))};
}

std::string kiln::import::onnx::quoted(StringRef text) { return quotedName(text); }
