//===- OnnxModel.h - Small ONNX models for the tests ------------------------===//
#pragma once

#include "import/Import.h"
#include "interp/HostTensor.h"

#include "llvm/ADT/ArrayRef.h"

#include <onnx-ml.pb.h>

namespace kiln::test {

using import::ImportOptions;
using interp::HostTensor;

/// A model of one graph, written down in few words.
class OnnxModel {
public:
  explicit OnnxModel(int64_t opset = 20);

  ::onnx::ModelProto proto;
  ::onnx::GraphProto &graph() { return *proto.mutable_graph(); }

  /// A dim is a number, or a dim_param.
  struct Dim {
    Dim(int value) : value(value) {}
    Dim(const char *name) : name(name) {}
    int64_t value = -1;
    std::string name;
  };
  using Dims = std::initializer_list<Dim>;

  OnnxModel &input(const std::string &name, Dims dims, int dtype = ::onnx::TensorProto::FLOAT);
  /// Without a declared type.
  OnnxModel &output(const std::string &name);
  ::onnx::NodeProto &node(const std::string &op, std::initializer_list<std::string> inputs,
                          std::initializer_list<std::string> outputs);
  OnnxModel &ints(const std::string &name, llvm::ArrayRef<int64_t> values, bool isScalar = false);
  OnnxModel &floats(const std::string &name, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> values);

  /// The imported module's text, or "error: " and what went wrong. The model lies in a file model.onnx of a folder of
  /// its own.
  std::string import(const ImportOptions &options = {}) const;
  std::string bytes() const { return proto.SerializeAsString(); }

  /// The outputs that the interpreter computes; fails the test where it cannot.
  std::vector<HostTensor> run(llvm::ArrayRef<HostTensor> inputs) const;
  /// The elements of the first one.
  std::vector<float> runFloats(llvm::ArrayRef<HostTensor> inputs) const;
  std::vector<int64_t> runInts(llvm::ArrayRef<HostTensor> inputs) const;
};

HostTensor floatTensor(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> values);
HostTensor intTensor(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> values);
HostTensor boolTensor(llvm::ArrayRef<int64_t> dims, std::vector<char> values);

::onnx::NodeProto &addNode(::onnx::GraphProto &graph, const std::string &op, std::initializer_list<std::string> inputs,
                           std::initializer_list<std::string> outputs);
void setInt(::onnx::NodeProto &node, const std::string &name, int64_t value);
void setInts(::onnx::NodeProto &node, const std::string &name, std::initializer_list<int64_t> values);
void setFloat(::onnx::NodeProto &node, const std::string &name, float value);
void setString(::onnx::NodeProto &node, const std::string &name, const std::string &value);
::onnx::GraphProto &setGraph(::onnx::NodeProto &node, const std::string &name);
void setTensor(::onnx::TensorProto &tensor, const std::string &name, llvm::ArrayRef<int64_t> dims,
               llvm::ArrayRef<int64_t> values);

/// A model file's bytes, imported.
std::string importBytes(const std::string &bytes, const ImportOptions &options = {});
/// The same, each op with its location.
std::string importWithLocations(const std::string &bytes);
/// A file of the tree, imported.
std::string importFile(const std::string &path, const ImportOptions &options = {});
/// A new, empty folder below the system's temporary one.
std::string makeFolder();
void writeFile(const std::string &path, const std::string &bytes);

} // namespace kiln::test
