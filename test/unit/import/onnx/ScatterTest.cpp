// Operators whose data decide where results go or how many there are. A scatter that hits one place twice has to do so
// in order, places may count from the end, and what NonZero, Compress or Unique give has a size that is known only
// afterwards. All are run by the interpreter on tensors that are small enough to see each element's way.
#include "OnnxModel.h"

#include <catch2/catch.hpp>

using namespace kiln::test;
using Floats = std::vector<float>;
using Dims = kiln::interp::Dims;

/// ScatterElements of 10 and 20 into 1 2 3 4 at two places.
static Floats scatter(std::initializer_list<int64_t> places, const char *reduction, int64_t opset = 18) {
  OnnxModel model(opset);
  model.input("x", {4}).input("i", {2}, ::onnx::TensorProto::INT64).floats("u", {2}, {10, 20}).output("y");
  ::onnx::NodeProto &node = model.node("ScatterElements", {"x", "i", "u"}, {"y"});
  if (reduction)
    setString(node, "reduction", reduction);
  return model.runFloats({floatTensor({4}, {1, 2, 3, 4}), intTensor({2}, places)});
}

TEST_CASE("ScatterElements stores in order") {
  CHECK(scatter({0, 2}, nullptr) == Floats{10, 2, 20, 4});
  CHECK(scatter({1, 1}, nullptr) == Floats{1, 20, 3, 4});
  CHECK(scatter({-1, -4}, nullptr, 11) == Floats{20, 2, 3, 10});
}

TEST_CASE("ScatterElements reduces what hits one place") {
  CHECK(scatter({1, 1}, "add") == Floats{1, 32, 3, 4});
  CHECK(scatter({1, 1}, "mul") == Floats{1, 400, 3, 4});
  CHECK(scatter({1, 1}, "max") == Floats{1, 20, 3, 4});
  CHECK(scatter({1, 1}, "min") == Floats{1, 2, 3, 4});
}

TEST_CASE("ScatterElements along an axis") {
  OnnxModel model(18);
  model.input("x", {2, 3}).ints("i", {0}).floats("u", {1, 1}, {9}).output("y");
  model.node("Reshape", {"i", "shape"}, {"j"});
  model.ints("shape", {1, 1});
  setInt(model.node("ScatterElements", {"x", "j", "u"}, {"y"}), "axis", 1);
  CHECK(model.runFloats({floatTensor({2, 3}, {1, 2, 3, 4, 5, 6})}) == Floats{9, 2, 3, 4, 5, 6});
}

TEST_CASE("ScatterND stores rows and elements") {
  OnnxModel model(18);
  model.input("x", {3, 2})
      .input("i", {2, 1}, ::onnx::TensorProto::INT64)
      .floats("u", {2, 2}, {7, 8, 9, 10})
      .output("y");
  model.node("ScatterND", {"x", "i", "u"}, {"y"});
  CHECK(model.runFloats({floatTensor({3, 2}, {1, 2, 3, 4, 5, 6}), intTensor({2, 1}, {2, -3})}) ==
        Floats{9, 10, 3, 4, 7, 8});
  OnnxModel single(18);
  single.input("x", {2, 2}).input("i", {1, 2}, ::onnx::TensorProto::INT64).floats("u", {1}, {7}).output("y");
  setString(single.node("ScatterND", {"x", "i", "u"}, {"y"}), "reduction", "add");
  CHECK(single.runFloats({floatTensor({2, 2}, {1, 2, 3, 4}), intTensor({1, 2}, {0, 1})}) == Floats{1, 9, 3, 4});
}

TEST_CASE("TensorScatter writes a cache from a place on, around its end where it is a circle") {
  OnnxModel model(24);
  model.input("past", {1, 3, 1}).input("begin", {1}, ::onnx::TensorProto::INT64).floats("new", {1, 2, 1}, {8, 9});
  model.output("y");
  ::onnx::NodeProto &node = model.node("TensorScatter", {"past", "new", "begin"}, {"y"});
  HostTensor past = floatTensor({1, 3, 1}, {1, 2, 3});
  CHECK(model.runFloats({past, intTensor({1}, {1})}) == Floats{1, 8, 9});
  setString(node, "mode", "circular");
  CHECK(model.runFloats({past, intTensor({1}, {2})}) == Floats{9, 2, 8});
}

TEST_CASE("MaxUnpool puts elements back where they were largest") {
  OnnxModel model(11);
  model.input("x", {1, 1, 2}).ints("i", {1, 2}).ints("shape", {1, 1, 2}).ints("to", {1, 1, 5}).output("y");
  model.node("Reshape", {"i", "shape"}, {"j"});
  ::onnx::NodeProto &node = model.node("MaxUnpool", {"x", "j"}, {"y"});
  setInts(node, "kernel_shape", {2});
  setInts(node, "strides", {2});
  HostTensor x = floatTensor({1, 1, 2}, {5, 6});
  CHECK(model.runFloats({x}) == Floats{0, 5, 6, 0});
  node.add_input("to");
  CHECK(model.runFloats({x}) == Floats{0, 5, 6, 0, 0});
}

TEST_CASE("Det exchanges rows where a pivot is 0") {
  OnnxModel model(11);
  model.input("x", {2, 2, 2}).output("y").node("Det", {"x"}, {"y"});
  CHECK(model.runFloats({floatTensor({2, 2, 2}, {1, 2, 3, 4, 0, 2, 3, 4})}) == Floats{-2, -6});
}

TEST_CASE("NonZero gives coordinates, as many as there are") {
  OnnxModel model(13);
  model.input("x", {2, 2}).output("y").node("NonZero", {"x"}, {"y"});
  std::vector<HostTensor> outputs = model.run({floatTensor({2, 2}, {1, 0, 2, 3})});
  CHECK(outputs[0].dims == Dims{2, 3});
  CHECK(model.runInts({floatTensor({2, 2}, {1, 0, 2, 3})}) == std::vector<int64_t>{0, 1, 1, 0, 0, 1});
  CHECK(model.run({floatTensor({2, 2}, {0, 0, 0, 0})})[0].dims == Dims{2, 0});
}

TEST_CASE("Compress keeps what the condition names") {
  OnnxModel model(11);
  model.input("x", {2, 3}).input("c", {2}, ::onnx::TensorProto::BOOL).output("y");
  ::onnx::NodeProto &node = model.node("Compress", {"x", "c"}, {"y"});
  HostTensor x = floatTensor({2, 3}, {1, 2, 3, 4, 5, 6}), second = boolTensor({2}, {0, 1});
  CHECK(model.runFloats({x, second}) == Floats{2});
  setInt(node, "axis", -1);
  CHECK(model.runFloats({x, second}) == Floats{2, 5});
}

TEST_CASE("Unique sorts, or keeps the order in which rows come") {
  auto run = [](int sorted) {
    OnnxModel model(11);
    model.input("x", {5}).output("y").output("first").output("inverse").output("counts");
    setInt(model.node("Unique", {"x"}, {"y", "first", "inverse", "counts"}), "sorted", sorted);
    return model.run({floatTensor({5}, {3, 1, 3, 2, 1})});
  };
  auto ints = [](const HostTensor &t) {
    return std::vector<int64_t>(t.elements<int64_t>().begin(), t.elements<int64_t>().end());
  };
  std::vector<HostTensor> sorted = run(1), asTheyCome = run(0);
  CHECK(Floats(sorted[0].elements<float>().begin(), sorted[0].elements<float>().end()) == Floats{1, 2, 3});
  CHECK(ints(sorted[1]) == std::vector<int64_t>{1, 3, 0});
  CHECK(ints(sorted[2]) == std::vector<int64_t>{2, 0, 2, 1, 0});
  CHECK(ints(sorted[3]) == std::vector<int64_t>{2, 1, 2});
  CHECK(Floats(asTheyCome[0].elements<float>().begin(), asTheyCome[0].elements<float>().end()) == Floats{3, 1, 2});
  CHECK(ints(asTheyCome[2]) == std::vector<int64_t>{0, 1, 0, 2, 1});
}

TEST_CASE("Unique rows along an axis") {
  OnnxModel model(11);
  model.input("x", {2, 3}).output("y");
  setInt(model.node("Unique", {"x"}, {"y"}), "axis", 1);
  std::vector<HostTensor> outputs = model.run({floatTensor({2, 3}, {2, 1, 2, 4, 0, 4})});
  CHECK(outputs[0].dims == Dims{2, 2});
  CHECK(Floats(outputs[0].elements<float>().begin(), outputs[0].elements<float>().end()) == Floats{1, 2, 0, 4});
}

TEST_CASE("NonMaxSuppression keeps the best of boxes that overlap") {
  OnnxModel model(11);
  model.input("boxes", {1, 3, 4}).input("scores", {1, 1, 3}).input("most", {1}, ::onnx::TensorProto::INT64);
  model.floats("overlap", {1}, {0.5f}).floats("least", {1}, {0.2f}).output("y");
  model.node("NonMaxSuppression", {"boxes", "scores", "most", "overlap", "least"}, {"y"});
  // The second covers the first by more than half, and the third neither.
  HostTensor boxes = floatTensor({1, 3, 4}, {0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 2, 2, 3, 3});
  auto run = [&](Floats scores, int64_t most) {
    return model.runInts({boxes, floatTensor({1, 1, 3}, scores), intTensor({1}, {most})});
  };
  CHECK(run({0.5f, 0.9f, 0.3f}, 3) == std::vector<int64_t>{0, 0, 1, 0, 0, 2});
  CHECK(run({0.5f, 0.9f, 0.3f}, 1) == std::vector<int64_t>{0, 0, 1});
  CHECK(run({0.5f, 0.9f, 0.1f}, 3) == std::vector<int64_t>{0, 0, 1});
  CHECK(run({0.5f, 0.9f, 0.3f}, 0).empty());
}

/// A tree: feature 0 at most 1 leads to leaf 0, else feature 1 in {3, 5} to leaf 1, else to leaf 2.
static Floats ensemble(int aggregate, Floats x) {
  OnnxModel model(20);
  auto &imported = *model.proto.add_opset_import();
  imported.set_domain("ai.onnx.ml");
  imported.set_version(5);
  model.input("x", {1, 2}).output("y");
  ::onnx::NodeProto &node = model.node("TreeEnsemble", {"x"}, {"y"});
  node.set_domain("ai.onnx.ml");
  auto reals = [&](const char *name, Floats values) {
    ::onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(::onnx::AttributeProto::TENSOR);
    attribute.mutable_t()->set_data_type(::onnx::TensorProto::FLOAT);
    attribute.mutable_t()->add_dims(values.size());
    for (float value : values)
      attribute.mutable_t()->add_float_data(value);
  };
  reals("nodes_splits", {1, 0});
  reals("leaf_weights", {10, 20, 40});
  reals("membership_values", {3, 5, NAN});
  ::onnx::AttributeProto &modes = *node.add_attribute();
  modes.set_name("nodes_modes");
  modes.set_type(::onnx::AttributeProto::TENSOR);
  modes.mutable_t()->set_data_type(::onnx::TensorProto::UINT8);
  modes.mutable_t()->add_dims(2);
  modes.mutable_t()->add_int32_data(0);
  modes.mutable_t()->add_int32_data(6);
  setInts(node, "tree_roots", {0, 1});
  setInts(node, "nodes_featureids", {0, 1});
  setInts(node, "nodes_truenodeids", {0, 1});
  setInts(node, "nodes_falsenodeids", {1, 2});
  setInts(node, "nodes_trueleafs", {1, 1});
  setInts(node, "nodes_falseleafs", {0, 1});
  setInts(node, "leaf_targetids", {0, 1, 1});
  setInt(node, "n_targets", 2);
  setInt(node, "aggregate_function", aggregate);
  return model.runFloats({floatTensor({1, 2}, x)});
}

TEST_CASE("TreeEnsemble adds the leaves of its trees, a target each") {
  CHECK(ensemble(1, {1, 5}) == Floats{10, 20});
  CHECK(ensemble(1, {2, 5}) == Floats{0, 40});
  CHECK(ensemble(1, {2, 4}) == Floats{0, 80});
  CHECK(ensemble(1, {NAN, NAN}) == Floats{0, 80});
  CHECK(ensemble(0, {1, 5}) == Floats{5, 10});
  CHECK(ensemble(3, {2, 5})[1] == 20);
}

TEST_CASE("indices of an open number of axes ask for --dim") {
  OnnxModel model(13);
  model.input("x", {2, 2}).input("i", {1, "k"}, ::onnx::TensorProto::INT64).output("y");
  model.node("GatherND", {"x", "i"}, {"y"});
  CHECK_THAT(model.import(),
             Catch::Contains("the last size of the indices, k, is not known at import; fix it with --dim"));
}
