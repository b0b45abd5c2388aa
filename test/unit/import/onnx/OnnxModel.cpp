// Tests write ONNX models in a few words, as protobufs in memory. The importer reads files, though: where data lie and
// what errors are called depends on the path. So every import writes the model into a folder of its own, which goes
// with it. A module does not outlive its context, so what a test gets is its text, or "error: …" with a path that is
// the same in every run.
#include "OnnxModel.h"

#include "interp/GraphInterpreter.h"
#include "ir/graph/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <catch2/catch.hpp>

#include <fstream>

using namespace kiln;
using namespace kiln::test;
using Attribute = ::onnx::AttributeProto;

OnnxModel::OnnxModel(int64_t opset) {
  proto.set_ir_version(10);
  proto.add_opset_import()->set_version(opset);
  graph().set_name("test");
}

OnnxModel &OnnxModel::input(const std::string &name, Dims dims, int dtype) {
  ::onnx::ValueInfoProto &input = *graph().add_input();
  input.set_name(name);
  auto &type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(dtype);
  type.mutable_shape();
  for (const Dim &dim : dims) {
    auto &added = *type.mutable_shape()->add_dim();
    if (dim.name.empty())
      added.set_dim_value(dim.value);
    else
      added.set_dim_param(dim.name);
  }
  return *this;
}

OnnxModel &OnnxModel::output(const std::string &name) {
  graph().add_output()->set_name(name);
  return *this;
}

::onnx::NodeProto &kiln::test::addNode(::onnx::GraphProto &graph, const std::string &op,
                                       std::initializer_list<std::string> inputs,
                                       std::initializer_list<std::string> outputs) {
  ::onnx::NodeProto &node = *graph.add_node();
  node.set_op_type(op);
  for (const std::string &name : inputs)
    node.add_input(name);
  for (const std::string &name : outputs)
    node.add_output(name);
  return node;
}

::onnx::NodeProto &OnnxModel::node(const std::string &op, std::initializer_list<std::string> inputs,
                                   std::initializer_list<std::string> outputs) {
  return addNode(graph(), op, inputs, outputs);
}

void kiln::test::setTensor(::onnx::TensorProto &tensor, const std::string &name, llvm::ArrayRef<int64_t> dims,
                           llvm::ArrayRef<int64_t> values) {
  tensor.set_name(name);
  tensor.set_data_type(::onnx::TensorProto::INT64);
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  for (int64_t value : values)
    tensor.add_int64_data(value);
}

OnnxModel &OnnxModel::ints(const std::string &name, llvm::ArrayRef<int64_t> values, bool isScalar) {
  int64_t count = values.size();
  setTensor(*graph().add_initializer(), name, isScalar ? llvm::ArrayRef<int64_t>() : llvm::ArrayRef(count), values);
  return *this;
}

OnnxModel &OnnxModel::floats(const std::string &name, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> values) {
  ::onnx::TensorProto &tensor = *graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  return *this;
}

static Attribute &add(::onnx::NodeProto &node, const std::string &name, Attribute::AttributeType type) {
  Attribute &attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

void kiln::test::setInt(::onnx::NodeProto &node, const std::string &name, int64_t value) {
  add(node, name, Attribute::INT).set_i(value);
}
void kiln::test::setFloat(::onnx::NodeProto &node, const std::string &name, float value) {
  add(node, name, Attribute::FLOAT).set_f(value);
}
void kiln::test::setString(::onnx::NodeProto &node, const std::string &name, const std::string &value) {
  add(node, name, Attribute::STRING).set_s(value);
}
void kiln::test::setInts(::onnx::NodeProto &node, const std::string &name, std::initializer_list<int64_t> values) {
  Attribute &attribute = add(node, name, Attribute::INTS);
  for (int64_t value : values)
    attribute.add_ints(value);
}
::onnx::GraphProto &kiln::test::setGraph(::onnx::NodeProto &node, const std::string &name) {
  return *add(node, name, Attribute::GRAPH).mutable_g();
}

//===----------------------------------------------------------------------===//
// Import
//===----------------------------------------------------------------------===//

namespace {
/// A model file in a folder of its own, which goes with it, and the context that it is imported into.
class ModelOnDisk {
public:
  explicit ModelOnDisk(const std::string &bytes) : folder_(makeFolder()) { writeFile(path(), bytes); }
  ~ModelOnDisk() { llvm::sys::fs::remove_directories(folder_); }
  std::string path() const { return folder_ + "/model.onnx"; }

private:
  std::string folder_;
};

class Context : public mlir::MLIRContext {
public:
  Context() : MLIRContext(Threading::DISABLED) {
    loadDialect<mlir::func::FuncDialect, KilnDialect, graph::GraphDialect>();
  }
};
} // namespace

static std::string importText(const std::string &path, const ImportOptions &options, bool withLocations) {
  Context context;
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> module = import::importOnnx(context, path, options);
  if (!module) {
    std::string text = llvm::toString(module.takeError());
    // The file is named as it was given; only its name is the same in every run.
    if (llvm::StringRef(text).starts_with(path))
      text.erase(0, llvm::sys::path::parent_path(path).size() + 1);
    return "error: " + text;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  (*module)->print(stream, withLocations ? flags.enableDebugInfo() : flags);
  return text;
}

std::string kiln::test::makeFolder() {
  llvm::SmallString<128> folder;
  std::error_code failed = llvm::sys::fs::createUniqueDirectory("kiln-onnx", folder);
  return failed ? std::string() : folder.str().str();
}

void kiln::test::writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string kiln::test::importFile(const std::string &path, const ImportOptions &options) {
  return importText(path, options, /*withLocations=*/false);
}

std::string kiln::test::importBytes(const std::string &bytes, const ImportOptions &options) {
  return importFile(ModelOnDisk(bytes).path(), options);
}

std::string kiln::test::importWithLocations(const std::string &bytes) {
  return importText(ModelOnDisk(bytes).path(), {}, /*withLocations=*/true);
}

std::string OnnxModel::import(const ImportOptions &options) const { return importBytes(bytes(), options); }

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

HostTensor kiln::test::floatTensor(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> values) {
  return HostTensor::of(DType::F32, dims, values);
}
HostTensor kiln::test::intTensor(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> values) {
  return HostTensor::of(DType::I64, dims, values);
}
HostTensor kiln::test::boolTensor(llvm::ArrayRef<int64_t> dims, std::vector<char> values) {
  return HostTensor::of(DType::Bool, dims, llvm::ArrayRef(values));
}

std::vector<HostTensor> OnnxModel::run(llvm::ArrayRef<HostTensor> inputs) const {
  ModelOnDisk file(bytes());
  Context context;
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> module = import::importOnnx(context, file.path(), {});
  if (!module)
    FAIL(llvm::toString(module.takeError()));
  llvm::Expected<std::vector<HostTensor>> outputs = interp::interpretGraph(**module, inputs, {file.path()});
  if (!outputs)
    FAIL(llvm::toString(outputs.takeError()));
  return std::move(*outputs);
}

std::vector<float> OnnxModel::runFloats(llvm::ArrayRef<HostTensor> inputs) const {
  HostTensor first = run(inputs).front();
  REQUIRE(first.dtype == DType::F32);
  return first.elements<float>();
}

std::vector<int64_t> OnnxModel::runInts(llvm::ArrayRef<HostTensor> inputs) const {
  HostTensor first = run(inputs).front();
  REQUIRE(first.dtype == DType::I64);
  return first.elements<int64_t>();
}
