// ONNX Runtime's operators that it does not compute on CPUs itself, so that no model of test/e2e/microsoft has them:
// values follow from their definitions. So do cases that a stored model would make large: sizes that are open,
// refusals.
#include "OnnxModel.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace kiln::test;
using Catch::Contains;
using Floats = std::vector<float>;

/// A node of the domain with one float input x; more inputs are initializers.
class RuntimeNode {
public:
  RuntimeNode(const std::string &op, OnnxModel::Dims dims) : model(17) {
    model.input("x", dims).output("y");
    model.node(op, {"x"}, {"y"}).set_domain("com.microsoft");
    model.proto.add_opset_import()->set_domain("com.microsoft");
    model.proto.mutable_opset_import(1)->set_version(1);
  }
  RuntimeNode &floats(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> values) {
    model.floats(next(), dims, values);
    return *this;
  }
  RuntimeNode &ints(llvm::ArrayRef<int64_t> values) { return model.ints(next(), values), *this; }
  RuntimeNode &with(const std::string &name, int value) { return setInt(node(), name, value), *this; }
  RuntimeNode &with(const std::string &name, float value) { return setFloat(node(), name, value), *this; }
  RuntimeNode &with(const std::string &name, std::initializer_list<int64_t> values) {
    return setInts(node(), name, values), *this;
  }
  Floats on(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> values) {
    Floats found = model.runFloats({floatTensor(dims, values)});
    for (float &value : found)
      value = std::round(value * 1000) / 1000;
    return found;
  }

  OnnxModel model;
  ::onnx::NodeProto &node() { return *model.graph().mutable_node(0); }

private:
  std::string next() {
    std::string name = "i" + std::to_string(node().input_size());
    node().add_input(name);
    return name;
  }
};

TEST_CASE("com.microsoft's sums and gates of image generators") {
  CHECK(RuntimeNode("BiasAdd", {1, 1, 2}).floats({2}, {1, 2}).floats({1, 1, 2}, {10, 20}).on({1, 1, 2}, {3, 4}) ==
        Floats{14, 26});
  // 2 · gelu(1)
  CHECK(RuntimeNode("BiasSplitGelu", {1, 1, 2}).floats({2}, {1, 0}).on({1, 1, 2}, {1, 1}) == Floats{1.683f});
  CHECK(RuntimeNode("GemmFastGelu", {1, 2}).floats({2, 1}, {1, 1}).floats({1}, {-1}).on({1, 2}, {1, 1}) ==
        Floats{0.841f});
  CHECK(RuntimeNode("SwiGLU", {4}).on({4}, {0, 1, 5, 2}) == Floats{0, 1.462f});
  // Clamped to 0.5: 0.5 · sigmoid(0.5) · (0.5 + 1).
  CHECK(RuntimeNode("SwiGLU", {1}).floats({1}, {2}).with("limit", 0.5f).with("activation_beta", 1.0f).on({1}, {1}) ==
        Floats{0.467f});
}

TEST_CASE("com.microsoft's group norms have the channels last, unless they are told otherwise") {
  auto norm = [](const char *op) {
    RuntimeNode made(op, {1, 1, 2, 2});
    return made.floats({2}, {1, 1}).floats({2}, {0, 10}).with("groups", 2).with("activation", 0);
  };
  Floats x{1, 5, 3, 9};
  CHECK(norm("GroupNorm").on({1, 1, 2, 2}, x) == Floats{-1, 9, 1, 11});
  CHECK(norm("SkipGroupNorm").floats({1, 2}, {7, 7}).floats({2}, {1, 1}).on({1, 1, 2, 2}, x) == Floats{-1, 9, 1, 11});
  RuntimeNode first("GroupNorm", {1, 2, 1, 2});
  first.floats({2}, {1, 1}).floats({2}, {0, 10}).with("groups", 2).with("channels_last", 0).with("activation", 1);
  CHECK(first.on({1, 2, 1, 2}, {1, 3, 5, 9}) == Floats{-0.269f, 0.731f, 8.999f, 11});
}

TEST_CASE("com.microsoft's BiasSoftmax repeats the bias's rows, each or all") {
  auto softmax = [](int each) {
    return RuntimeNode("BiasSoftmax", {2, 2, 1, 2})
        .floats({2, 1, 1, 2}, {0, 0, 0, -100})
        .with("axis", 3)
        .with("is_inner_broadcast", each)
        .on({2, 2, 1, 2}, {0, 0, 0, 0, 0, 0, 0, 0});
  };
  CHECK(softmax(1) == Floats{0.5, 0.5, 0.5, 0.5, 1, 0, 1, 0});
  CHECK(softmax(0) == Floats{0.5, 0.5, 1, 0, 0.5, 0.5, 1, 0});
}

TEST_CASE("com.microsoft's transforms of real signals, and products of complex numbers") {
  CHECK(RuntimeNode("Rfft", {4}).on({4}, {1, 2, 3, 4}) == Floats{10, 0, -2, 2, -2, 0});
  CHECK(RuntimeNode("Irfft", {3, 2}).with("signal_ndim", 1).on({3, 2}, {10, 0, -2, 2, -2, 0}) == Floats{1, 2, 3, 4});
  CHECK_THAT(RuntimeNode("Rfft", {4, 4}).with("signal_ndim", 2).model.import(), Contains("along 2 axes"));
  CHECK(RuntimeNode("ComplexMul", {1, 2}).floats({1, 2}, {3, 4}).on({1, 2}, {1, 2}) == Floats{-5, 10});
  CHECK(RuntimeNode("ComplexMulConj", {1, 2}).floats({1, 2}, {3, 4}).on({1, 2}, {1, 2}) == Floats{11, 2});
}

TEST_CASE("com.microsoft's convolutions with the channels last") {
  RuntimeNode conv("NhwcConv", {1, 1, 2, 2});
  CHECK(conv.floats({1, 2, 1, 1}, {1, 10}).on({1, 1, 2, 2}, {1, 2, 3, 4}) == Floats{21, 43});
  RuntimeNode fused("NhwcFusedConv", {1, 1, 2, 2});
  fused.floats({1, 2, 1, 1}, {1, 10}).floats({1}, {1}).floats({1, 1, 2, 1}, {-100, 0});
  setString(fused.node(), "activation", "Relu");
  CHECK(fused.on({1, 1, 2, 2}, {1, 2, 3, 4}) == Floats{0, 44});
}

TEST_CASE("com.microsoft's TorchEmbedding is a Gather of rows") {
  CHECK(RuntimeNode("TorchEmbedding", {3, 2}).ints({2, 0}).on({3, 2}, {1, 2, 3, 4, 5, 6}) == Floats{5, 6, 1, 2});
}

TEST_CASE("com.microsoft's sums and products of small integers") {
  OnnxModel model(17);
  model.input("f", {2, 2}).output("sum").output("product").output("mean");
  model.proto.add_opset_import()->set_domain("com.microsoft");
  model.proto.mutable_opset_import(1)->set_version(1);
  setInt(model.node("Cast", {"f"}, {"x"}), "to", ::onnx::TensorProto::UINT8);
  model.floats("scale", {}, {0.5f}).floats("unit", {}, {1});
  ::onnx::NodeProto &sum = model.node("ReduceSumInteger", {"x"}, {"sum"});
  setInts(sum, "axes", {1});
  setInt(sum, "keepdims", 0);
  model.node("MulInteger", {"x", "", "x"}, {"product"});
  ::onnx::NodeProto &mean = model.node("QLinearReduceMean", {"x", "scale", "", "unit"}, {"mean"});
  setInts(mean, "axes", {0});
  setInt(mean, "keepdims", 0);
  for (int i = 1; i < 4; ++i)
    model.graph().mutable_node(i)->set_domain("com.microsoft");
  std::vector<HostTensor> found = model.run({floatTensor({2, 2}, {200, 100, 40, 30})});
  CHECK(found[0].elements<uint32_t>() == llvm::ArrayRef<uint32_t>({300, 70}));
  CHECK(found[1].elements<int32_t>() == llvm::ArrayRef<int32_t>({40000, 10000, 1600, 900}));
  CHECK(found[2].elements<uint8_t>() == llvm::ArrayRef<uint8_t>({60, 32}));
}

TEST_CASE("com.microsoft's operators on sizes that only a run knows") {
  CHECK(RuntimeNode("UnfoldTensor", {"n"}).with("size", 2).with("step", 2).on({5}, {1, 2, 3, 4, 5}) ==
        Floats{1, 2, 3, 4});
  CHECK(RuntimeNode("CDist", {"n", 1}).floats({2, 1}, {0, 3}).on({2, 1}, {1, 2}) == Floats{1, 4, 4, 1});
  CHECK(RuntimeNode("ExpandDims", {"n"}).ints({-1}).on({2}, {1, 2}) == Floats{1, 2});
  CHECK(RuntimeNode("Inverse", {"n", 2, 2}).on({1, 2, 2}, {0, 2, 4, 0}) == Floats{0, 0.25f, 0.5f, 0});
}

TEST_CASE("com.microsoft's Attention finds in the run whether a mask of lengths has beginnings") {
  // One head of one channel: the queries and keys are 0, so that each row is the mean of the values that it sees.
  OnnxModel model(17);
  model.proto.add_opset_import()->set_domain("com.microsoft");
  model.proto.mutable_opset_import(1)->set_version(1);
  model.input("x", {"n", "t", 1}).input("mask", {"m"}, ::onnx::TensorProto::INT32).output("y");
  model.floats("w", {1, 3}, {0, 0, 1}).floats("b", {3}, {0, 0, 0});
  ::onnx::NodeProto &node = model.node("Attention", {"x", "w", "b", "mask"}, {"y"});
  node.set_domain("com.microsoft");
  setInt(node, "num_heads", 1);
  HostTensor x = floatTensor({2, 3, 1}, {1, 2, 6, 1, 2, 6});
  auto masked = [&](std::initializer_list<int32_t> lengths) {
    return model.runFloats(
        {x, HostTensor::of(kiln::DType::I32, {int64_t(lengths.size())}, llvm::ArrayRef<int32_t>(lengths))});
  };
  CHECK(masked({3, 1}) == Floats{3, 3, 3, 1, 1, 1});
  CHECK(masked({3, 2, 1, 0}) == Floats{4, 4, 4, 1.5f, 1.5f, 1.5f});
}

TEST_CASE("com.microsoft's operators refuse what they would leave out") {
  RuntimeNode metric("CDist", {2, 1});
  setString(metric.floats({2, 1}, {0, 3}).node(), "metric", "cosine");
  CHECK_THAT(metric.model.import(), Contains("attribute 'metric' is 'cosine'; sqeuclidean and euclidean are"));
  RuntimeNode axes("ExpandDims", {2});
  CHECK_THAT(axes.ints({0, 1}).model.import(), Contains("its axis is [2]; it is one number"));
  CHECK_THAT(RuntimeNode("Inverse", {2, 3}).model.import(), Contains("it is of square matrices of floats"));
}
