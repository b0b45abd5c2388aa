//===- StoredCase.cpp - Inputs and outputs stored next to a model -------===//
//
// Test data come from people with different habits: ONNX's runner stores test_data_set_0/input_0.pb, users of NumPy
// store input_0.npy next to the model, and a sequence is a folder of .npy files. The number says which input or output
// a file is. So a gap, or two files with one number, is an error: a tensor that is silently taken for its neighbour
// would make a verification worthless. So are inputs without outputs, which verify nothing at all.
//
//===--------------------------------------------------------------------===//
#include "StoredCase.h"

#include "RunModel.h"
#include "import/onnx/file/TensorFile.h"
#include "render/model/WeightData.h"
#include "support/Error.h"

#include "kiln/npy.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <map>

using namespace kiln;
using namespace kiln::driver;
using interp::HostTensor;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// The names in a folder, sorted; none if it cannot be read.
static std::vector<std::string> entries(llvm::StringRef folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(path::filename(entry->path()).str());
  llvm::sort(names);
  return names;
}

static std::string inFolder(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<128> joined(folder);
  path::append(joined, name);
  return joined.str().str();
}

llvm::Expected<std::string> driver::findModel(llvm::StringRef given) {
  if (!fs::is_directory(given))
    return given.str();
  std::vector<std::string> models;
  for (const std::string &name : entries(given)) {
    if (name == "model.onnx" || name == "graph.json")
      return inFolder(given, name);
    llvm::StringRef extension = path::extension(name);
    if (extension == ".onnx" || extension == ".json")
      models.push_back(name);
  }
  if (models.size() == 1)
    return inFolder(given, models.front());
  return failure(given + ": " +
                     (models.empty() ? "holds no model" : "holds several models: " + llvm::join(models, ", ")),
                 "name the model's file");
}

static llvm::Expected<HostTensor> readNpy(const std::string &file) {
  char error[256];
  kiln_tensor read;
  if (kiln_npy_read(file.c_str(), &read, error, sizeof error))
    return failure(file + ": " + error);
  std::shared_ptr<void> owner(read.data, free);
  HostTensor tensor = HostTensor::zeros(storedDType(read.dtype), llvm::ArrayRef(read.dims, read.rank));
  if (!tensor.bytes.empty())
    memcpy(tensor.bytes.data(), read.data, tensor.bytes.size());
  if (read.dtype == KILN_STRING)
    tensor.objects = owner;
  return tensor;
}

/// A sequence: a folder of 0.npy, 1.npy ….
static llvm::Expected<HostTensor> readFolder(const std::string &folder) {
  std::vector<HostTensor> tensors;
  for (std::string file = inFolder(folder, "0.npy"); fs::exists(file);
       file = inFolder(folder, std::to_string(tensors.size()) + ".npy")) {
    llvm::Expected<HostTensor> tensor = readNpy(file);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return listOf(std::move(tensors));
}

static HostTensor ofStrings(mlir::DenseStringElementsAttr strings) {
  auto texts = std::make_shared<std::vector<std::string>>();
  for (llvm::StringRef text : strings.getValues<llvm::StringRef>())
    texts->push_back(text.str());
  std::vector<const char *> references;
  for (const std::string &text : *texts)
    references.push_back(text.c_str());
  HostTensor tensor = HostTensor::of(DType::I64, strings.getType().getShape(), llvm::ArrayRef(references));
  tensor.objects = texts;
  return tensor;
}

static llvm::Expected<HostTensor> readPb(const std::string &file, int64_t memoryLimit) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  llvm::Expected<mlir::DenseElementsAttr> read = import::readTensorFile(&context, file, memoryLimit);
  if (!read)
    return read.takeError();
  if (auto strings = llvm::dyn_cast<mlir::DenseStringElementsAttr>(*read))
    return ofStrings(strings);
  HostTensor tensor{*dtypeOf(read->getElementType()), interp::Dims(read->getType().getShape()), {}};
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  render::writeElements(*read, out);
  tensor.bytes.assign(bytes.begin(), bytes.end());
  return tensor;
}

/// The number N of an entry KIND_N.npy, KIND_N.pb or, for a sequence, of a folder KIND_N; none for every other name.
static std::optional<unsigned> numberOf(llvm::StringRef name, llvm::StringRef kind, bool isFolder) {
  unsigned number;
  if (!name.consume_front(kind) || !name.consume_front("_") ||
      (!isFolder && !name.consume_back(".npy") && !name.consume_back(".pb")) || name.getAsInteger(10, number))
    return std::nullopt;
  return number;
}

static llvm::Expected<HostTensor> readTensor(const std::string &file, int64_t memoryLimit) {
  if (fs::is_directory(file))
    return readFolder(file);
  return path::extension(file) == ".pb" ? readPb(file, memoryLimit) : readNpy(file);
}

/// The tensors KIND_0, KIND_1 … of a folder: ONNX's runner stores them as .pb, people who make a set by hand as .npy.
static llvm::Expected<std::vector<HostTensor>> readAll(llvm::StringRef folder, llvm::StringRef kind,
                                                       int64_t memoryLimit) {
  std::map<unsigned, std::string> numbered;
  for (const std::string &name : entries(folder)) {
    std::string file = inFolder(folder, name);
    std::optional<unsigned> number = numberOf(name, kind, fs::is_directory(file));
    if (!number)
      continue;
    auto [other, isFirst] = numbered.try_emplace(*number, file);
    if (!isFirst)
      return failure(file + ": " + path::filename(other->second) + " has its number too", "keep one of the two");
  }
  std::vector<HostTensor> tensors;
  for (const auto &[number, file] : numbered) {
    if (number != tensors.size())
      return failure(file + ": there is no " + kind + "_" + llvm::Twine(tensors.size()) + " before it",
                     "number the files from 0");
    llvm::Expected<HostTensor> tensor = readTensor(file, memoryLimit);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

static llvm::Error addCase(llvm::StringRef folder, int64_t memoryLimit, std::vector<StoredCase> &cases) {
  StoredCase found{.folder = folder.str(), .inputs = {}, .outputs = {}};
  for (auto [kind, tensors] : {std::pair("input", &found.inputs), std::pair("output", &found.outputs)}) {
    llvm::Expected<std::vector<HostTensor>> read = readAll(folder, kind, memoryLimit);
    if (!read)
      return read.takeError();
    *tensors = std::move(*read);
  }
  if (found.outputs.empty() && !found.inputs.empty())
    return failure(inFolder(folder, "output_0") + ": is not there as .npy or .pb, but inputs are",
                   "store the outputs too, or take the inputs away");
  if (!found.outputs.empty())
    cases.push_back(std::move(found));
  return llvm::Error::success();
}

llvm::Expected<std::vector<StoredCase>> driver::findCases(llvm::StringRef folder, int64_t memoryLimit) {
  std::vector<StoredCase> cases;
  if (llvm::Error error = addCase(folder, memoryLimit, cases))
    return error;
  for (const std::string &name : entries(folder))
    if (llvm::StringRef(name).starts_with("test_data_set_"))
      if (llvm::Error error = addCase(inFolder(folder, name), memoryLimit, cases))
        return error;
  return cases;
}
