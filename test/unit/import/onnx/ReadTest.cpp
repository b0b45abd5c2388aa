// A model's file may be larger than memory and may come from anybody. Large tensors therefore stay in the file, as a
// place in it, and nothing that the file says of itself is believed. The tests put a tensor's data wherever ONNX
// allows, in packed and plain fields, other files and sparse forms, and give files that are cut off, nested too deep,
// or whose sizes and offsets are wrong.
#include "OnnxModel.h"

#include "import/onnx/file/LiftTensorData.h"

#include "llvm/Support/FileSystem.h"

#include <catch2/catch.hpp>

using namespace kiln::test;
using Catch::Contains;
using Catch::StartsWith;
using Proto = ::onnx::TensorProto;

/// A model that adds `tensor`, named w, to its input.
static OnnxModel addingModel(const Proto &tensor, OnnxModel::Dims dims) {
  OnnxModel model;
  model.input("x", dims, tensor.data_type()).output("y");
  model.node("Add", {"x", "w"}, {"y"});
  *model.graph().add_initializer() = tensor;
  return model;
}

static Proto tensorOf(int dtype, std::initializer_list<int64_t> dims) {
  Proto tensor;
  tensor.set_name("w");
  tensor.set_data_type(dtype);
  for (int64_t dim : dims)
    tensor.add_dims(dim);
  return tensor;
}

static Proto externalTensor(const std::string &location, const std::string &offset = "",
                            const std::string &length = "") {
  Proto tensor = tensorOf(Proto::FLOAT, {300});
  tensor.set_data_location(Proto::EXTERNAL);
  auto add = [&](const std::string &key, const std::string &value) {
    if (value.empty())
      return;
    tensor.add_external_data()->set_key(key);
    tensor.mutable_external_data(tensor.external_data_size() - 1)->set_value(value);
  };
  add("location", location);
  add("offset", offset);
  add("length", length);
  return tensor;
}

/// The import of a model with external data of 1200 bytes in a file of 1300.
static std::string importExternal(const Proto &tensor) {
  std::string folder = makeFolder();
  writeFile(folder + "/weights.bin", std::string(1300, '\1'));
  writeFile(folder + "/../kiln-onnx-outside.bin", std::string(1300, '\1'));
  llvm::sys::fs::create_link(folder + "/../kiln-onnx-outside.bin", folder + "/link.bin");
  writeFile(folder + "/model.onnx", addingModel(tensor, {300}).bytes());
  std::string text = importFile(folder + "/model.onnx");
  llvm::sys::fs::remove_directories(folder);
  llvm::sys::fs::remove(folder + "/../kiln-onnx-outside.bin");
  return text;
}

TEST_CASE("a large initializer stays in its file") {
  Proto tensor = tensorOf(Proto::FLOAT, {300});
  tensor.set_raw_data(std::string(1200, '\7'));
  OnnxModel model = addingModel(tensor, {300});
  std::string bytes = model.bytes();
  size_t offset = bytes.find(std::string(1200, '\7'));
  CHECK_THAT(model.import(), Contains("#graph.file<\"model.onnx\", " + std::to_string(offset) +
                                      ", 1200, "
                                      "\"d25fcada9853df103d9f4bb7524178a4fce6ddf3f3ea1aa83d0e4ab136192c52"));
}

TEST_CASE("a field's number that protobuf would cut is refused") {
  // raw_data's tag with a bit more, which the walk would take for another field and copy.
  llvm::StringRef beyond("\xca\x80\x80\x80\x10\x00", 6), zero("\x02\x00", 2);
  for (llvm::StringRef bytes : {beyond, zero})
    CHECK(llvm::toString(kiln::import::onnx::liftTensorData(bytes).takeError()) ==
          "corrupt ONNX at byte 0: a field has no such number");
}

TEST_CASE("what the walk did not lift is not a place in the file") {
  CHECK_FALSE(kiln::import::onnx::decodeRange("123456789"));
  CHECK(kiln::import::onnx::decodeRange(std::string(16, '\0')));
}

TEST_CASE("packed floats stay in their file too") {
  Proto tensor = tensorOf(Proto::FLOAT, {300});
  for (int i = 0; i < 300; ++i)
    tensor.add_float_data(1.5f);
  CHECK_THAT(addingModel(tensor, {300}).import(), Contains("#graph.file<\"model.onnx\", "));
}

TEST_CASE("a small initializer becomes dense elements") {
  Proto tensor = tensorOf(Proto::FLOAT, {3});
  for (float value : {1.0f, 2.0f, -0.5f})
    tensor.add_float_data(value);
  CHECK_THAT(addingModel(tensor, {3}).import(), Contains("= dense<[1.000000e+00, 2.000000e+00, -5.000000e-01]>"));
}

TEST_CASE("small dtypes lie in wide fields") {
  Proto halves = tensorOf(Proto::FLOAT16, {2});
  halves.add_int32_data(0x3c00);
  halves.add_int32_data(0xc000);
  CHECK_THAT(addingModel(halves, {2}).import(), Contains("dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf16>"));
  Proto bytes = tensorOf(Proto::INT8, {2});
  bytes.add_int32_data(-3);
  bytes.add_int32_data(4);
  CHECK_THAT(addingModel(bytes, {2}).import(), Contains("dense<[-3, 4]> : tensor<2xi8>"));
  Proto large = tensorOf(Proto::UINT64, {2});
  large.add_uint64_data(~0ull);
  large.add_uint64_data(1);
  CHECK_THAT(addingModel(large, {2}).import(), Contains("dense<[18446744073709551615, 1]> : tensor<2xui64>"));
}

TEST_CASE("an empty initializer has no data") {
  CHECK_THAT(addingModel(tensorOf(Proto::FLOAT, {0}), {0}).import(), Contains("tensor<0xf32>"));
}

TEST_CASE("a number repeated is a constant, not a weight") {
  Proto tensor = tensorOf(Proto::FLOAT, {});
  tensor.add_float_data(2);
  std::string text = addingModel(tensor, {3}).import();
  CHECK_THAT(text, Contains("graph.const 2.000000e+00 : f32"));
  CHECK_THAT(text, !Contains("graph.weight"));
}

TEST_CASE("external data is a place in another file") {
  CHECK_THAT(importExternal(externalTensor("weights.bin", "100", "1200")),
             Contains("#graph.file<\"weights.bin\", 100, 1200, "));
}

TEST_CASE("external bools are a byte each, not codes of one bit") {
  std::string folder = makeFolder();
  writeFile(folder + "/weights.bin", std::string(2000, '\1'));
  Proto tensor = externalTensor("weights.bin", "0", "2000");
  tensor.set_data_type(Proto::BOOL);
  tensor.set_dims(0, 2000);
  OnnxModel model;
  model.output("y");
  model.node("Not", {"w"}, {"y"});
  *model.graph().add_initializer() = tensor;
  writeFile(folder + "/model.onnx", model.bytes());
  CHECK_THAT(importFile(folder + "/model.onnx"),
             Contains("graph.weight \"w\"") && Contains("tensor<2000xi1>") && !Contains("ui8"));
  llvm::sys::fs::remove_directories(folder);
}

TEST_CASE("external data must be there, and whole") {
  CHECK_THAT(
      importExternal(externalTensor("weights.bin", "101")),
      StartsWith("error: model.onnx: tensor 'w': external data 'weights.bin' ends at byte 1300, before byte 101 + "
                 "1200; "));
  CHECK_THAT(importExternal(externalTensor("weights.bin", "0", "1199")),
             Contains("gives 1199 bytes where the shape needs 1200"));
  CHECK_THAT(importExternal(externalTensor("weights.bin", "-4")), Contains("'-4' is not a number of bytes"));
  CHECK_THAT(importExternal(externalTensor("weights.bin", "18446744073709551615")), Contains("ends at byte 1300"));
  CHECK_THAT(importExternal(externalTensor("none.bin")), Contains("'none.bin' cannot be read"));
}

TEST_CASE("external data must lie in the model's folder") {
  for (const char *path : {"../kiln-onnx-outside.bin", "/etc/passwd", "a/../../kiln-onnx-outside.bin"})
    CHECK_THAT(importExternal(externalTensor(path)),
               Contains("is outside the model's folder; move it into that folder"));
  CHECK_THAT(importExternal(externalTensor("link.bin")), Contains("is outside the model's folder"));
}

TEST_CASE("data that does not fill its shape is refused") {
  Proto raw = tensorOf(Proto::FLOAT, {4});
  raw.set_raw_data(std::string(15, '\0'));
  CHECK(addingModel(raw, {4}).import() ==
        "error: model.onnx: tensor 'w': its data has 15 bytes where its shape needs 16; is the file whole?");
  Proto numbers = tensorOf(Proto::INT32, {4});
  numbers.add_int32_data(1);
  CHECK(addingModel(numbers, {4}).import() ==
        "error: model.onnx: tensor 'w': its data has 1 numbers where its shape needs 4; is the file whole?");
}

TEST_CASE("sizes past the memory limit are refused, however they multiply") {
  ImportOptions options;
  options.memoryLimit = 1 << 20;
  CHECK_THAT(addingModel(tensorOf(Proto::FLOAT, {1 << 19}), {1}).import(options),
             Contains("takes more than the memory limit of 1048576 bytes; "));
  CHECK_THAT(addingModel(tensorOf(Proto::FLOAT, {int64_t(1) << 62, int64_t(1) << 62}), {1}).import(),
             Contains("takes more than the memory limit"));
  OnnxModel large;
  large.input("x", {1 << 20, 1 << 20, 1 << 20, 1 << 20}).output("y");
  large.node("Relu", {"x"}, {"y"});
  CHECK_THAT(large.import(), StartsWith("error: model.onnx: input 'x': a tensor ["));
  OnnxModel grown;
  grown.input("x", {1}).output("y").ints("shape", {int64_t(1) << 40, int64_t(1) << 10});
  grown.node("Expand", {"x", "shape"}, {"y"});
  CHECK_THAT(grown.import(), StartsWith("error: model.onnx: node 'Expand_0' (Expand): a tensor ["));
}

TEST_CASE("a dtype that kiln has not is named") {
  CHECK_THAT(addingModel(tensorOf(Proto::COMPLEX64, {1}), {1}).import(), Contains("dtype COMPLEX64 is not supported"));
  CHECK_THAT(addingModel(tensorOf(99, {1}), {1}).import(), Contains("dtype 99 is not supported"));
}

TEST_CASE("a file that is not a whole model is refused at every length") {
  OnnxModel model;
  model.input("x", {2}).output("y").floats("w", {2}, {1, 2});
  model.node("Add", {"x", "w"}, {"y"});
  std::string bytes = model.bytes();
  for (size_t length = 0; length < bytes.size(); ++length)
    CHECK_THAT(importBytes(bytes.substr(0, length)), StartsWith("error: model.onnx: "));
}

TEST_CASE("a missing file is named") {
  CHECK_THAT(importFile("/nonexistent/model.onnx"), StartsWith("error: model.onnx: cannot be read: No such file"));
}

TEST_CASE("deep nesting is corrupt, not a crash") {
  // A tensor's name is at the bottom of 1000 graphs in attributes of nodes.
  std::string message;
  auto wrap = [&](int field) {
    std::string head(1, char(field << 3 | 2));
    for (size_t rest = message.size();; rest >>= 7) {
      head += char(rest < 128 ? rest : rest | 128);
      if (rest < 128)
        break;
    }
    message = head + message;
  };
  for (int i = 0; i < 1000; ++i)
    for (int field : {6, 5, 1}) // an attribute's graph, a node's attribute, a graph's node
      wrap(field);
  wrap(7);
  CHECK_THAT(importBytes(message), Contains("corrupt ONNX at byte") && Contains("nest too deep"));
}

/// A [2, 3] tensor "w" with 5 and 7 at these places.
static void setSparse(::onnx::SparseTensorProto &sparse, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> places) {
  ::onnx::TensorProto &values = *sparse.mutable_values();
  values.set_name("w");
  values.set_data_type(::onnx::TensorProto::FLOAT);
  values.add_dims(2);
  const float numbers[] = {5, 7};
  values.set_raw_data(numbers, sizeof numbers);
  setTensor(*sparse.mutable_indices(), "places", dims, places);
  for (int64_t size : {2, 3})
    sparse.add_dims(size);
}

TEST_CASE("a sparse initializer, by places and by an index of each axis") {
  auto added = [](llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> places) {
    OnnxModel model;
    setSparse(*model.graph().add_sparse_initializer(), dims, places);
    model.input("x", {2, 3}).output("y").node("Add", {"x", "w"}, {"y"});
    return model;
  };
  const HostTensor x = floatTensor({2, 3}, {1, 1, 1, 1, 1, 1});
  CHECK(added({2}, {1, 5}).runFloats({x}) == std::vector<float>{1, 6, 1, 1, 1, 8});
  CHECK(added({2, 2}, {0, 1, 1, 2}).runFloats({x}) == std::vector<float>{1, 6, 1, 1, 1, 8});
  CHECK_THAT(added({2}, {1, 6}).import(), Catch::Contains("tensor 'w': its index 6 is out of range"));
  CHECK_THAT(added({2, 2}, {0, 3, 1, 2}).import(), Catch::Contains("tensor 'w': its index 3 is out of range"));
  CHECK_THAT(added({1}, {1}).import(), Catch::Contains("tensor 'w': its indices do not fit its values"));
}

TEST_CASE("a sparse Constant") {
  OnnxModel model;
  model.output("y");
  ::onnx::AttributeProto &value = *model.node("Constant", {}, {"y"}).add_attribute();
  value.set_name("sparse_value");
  value.set_type(::onnx::AttributeProto::SPARSE_TENSOR);
  setSparse(*value.mutable_sparse_tensor(), {2}, {0, 4});
  CHECK(model.runFloats({}) == std::vector<float>{5, 0, 0, 0, 7, 0});
}
