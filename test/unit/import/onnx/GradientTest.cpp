//===- GradientTest.cpp - Each primitive's derivative against differences ---===//
#include "OnnxModel.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>

using namespace kiln::test;
using Catch::Contains;
using Floats = std::vector<float>;

/// z = y·y of what `build` makes of x [2, 3], and dz/dx.
static OnnxModel differentiated(const std::function<void(OnnxModel &)> &build) {
  OnnxModel model(20);
  ::onnx::OperatorSetIdProto &training = *model.proto.add_opset_import();
  training.set_domain("ai.onnx.preview.training");
  training.set_version(1);
  model.input("x", {2, 3}).output("dx").output("z");
  build(model);
  model.node("Mul", {"y", "y"}, {"z"});
  ::onnx::NodeProto &node = model.node("Gradient", {"x"}, {"dx"});
  node.set_domain("ai.onnx.preview.training");
  setString(node, "y", "z");
  ::onnx::AttributeProto &xs = *node.add_attribute();
  xs.set_name("xs");
  xs.set_type(::onnx::AttributeProto::STRINGS);
  xs.add_strings("x");
  return model;
}

static float total(const OnnxModel &model, const Floats &x) {
  float sum = 0;
  const HostTensor z = model.run({floatTensor({2, 3}, x)})[1];
  for (float element : z.elements<float>())
    sum += element;
  return sum;
}

/// Compares with what a small step of each element changes.
static void check(const std::function<void(OnnxModel &)> &build) {
  OnnxModel model = differentiated(build);
  const Floats x = {0.31f, 1.27f, 0.83f, 1.9f, 0.52f, 1.44f};
  const float step = 1.0f / 256;
  Floats derivatives = model.runFloats({floatTensor({2, 3}, x)});
  REQUIRE(derivatives.size() == x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    Floats more = x, less = x;
    more[i] += step;
    less[i] -= step;
    CAPTURE(i);
    CHECK(derivatives[i] == Approx((total(model, more) - total(model, less)) / (2 * step)).epsilon(0.01).margin(0.01));
  }
}

TEST_CASE("the derivative of each function of one number") {
  for (const char *op :
       {"Neg",   "Reciprocal", "Sqrt",      "Exp",  "Log",  "Sin",  "Cos",     "Tan",        "Tanh",
        "Erf",   "Sigmoid",    "Softplus",  "Gelu", "Relu", "Abs",  "Softmax", "LogSoftmax", "HardSwish",
        "Floor", "Atan",       "Transpose", "Elu",  "Mish", "Sinh", "Asinh"}) {
    CAPTURE(op);
    check([&](OnnxModel &model) { model.node(op, {"x"}, {"y"}); });
  }
}

TEST_CASE("the derivative of Elu is 1 of numbers whose exponential is infinite") {
  OnnxModel model = differentiated([](OnnxModel &model) { model.node("Elu", {"x"}, {"y"}); });
  // of the square of y
  CHECK(model.runFloats({floatTensor({2, 3}, {1, 20, 100, 200, 300, 4e5f})}) == Floats{2, 40, 200, 400, 600, 8e5f});
}

TEST_CASE("the derivative of each function of two tensors, by either") {
  const Floats other = {0.7f, 1.6f, 0.4f};
  for (const char *op : {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min"}) {
    CAPTURE(op);
    check([&](OnnxModel &model) { model.floats("w", {3}, other).node(op, {"x", "w"}, {"y"}); });
    check([&](OnnxModel &model) { model.floats("w", {3}, other).node(op, {"w", "x"}, {"y"}); });
  }
  check([&](OnnxModel &model) { setInt(model.floats("w", {3}, other).node("Mod", {"x", "w"}, {"y"}), "fmod", 1); });
}

TEST_CASE("the derivative of reductions and products") {
  for (const char *op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceLogSumExp"}) {
    CAPTURE(op);
    check([&](OnnxModel &model) { model.node(op, {"x"}, {"y"}); });
  }
  check([](OnnxModel &model) { model.floats("w", {3, 2}, {1, -2, 3, 0.5f, -1, 2}).node("MatMul", {"x", "w"}, {"y"}); });
  check([](OnnxModel &model) {
    model.ints("shape", {1, 2, 3}).node("Reshape", {"x", "shape"}, {"picture"});
    model.floats("w", {2, 2, 2}, {1, -2, 3, 0.5f, -1, 2, 0.25f, 1});
    setInts(model.node("Conv", {"picture", "w"}, {"y"}), "pads", {1, 0});
  });
}

TEST_CASE("the derivative of movements and choices") {
  check([](OnnxModel &model) { setInt(model.node("Concat", {"x", "x"}, {"y"}), "axis", 1); });
  check([](OnnxModel &model) {
    model.ints("begin", {2}).ints("end", {-9}).ints("axis", {1}).ints("step", {-2});
    model.node("Slice", {"x", "begin", "end", "axis", "step"}, {"y"});
  });
  check([](OnnxModel &model) { model.ints("shape", {2, 2, 3}).node("Expand", {"x", "shape"}, {"y"}); });
  check([](OnnxModel &model) {
    model.floats("one", {}, {1}).node("Less", {"x", "one"}, {"small"});
    model.node("Exp", {"x"}, {"e"});
    model.node("Where", {"small", "e", "x"}, {"y"});
  });
}

TEST_CASE("the derivative of what is gathered adds up where an index comes twice") {
  for (int64_t axis : {0, 1}) {
    CAPTURE(axis);
    check([&](OnnxModel &model) {
      setInt(model.ints("at", {1, 0, -1, 1}).node("Gather", {"x", "at"}, {"y"}), "axis", axis);
    });
  }
}

TEST_CASE("a gradient is differentiated again") {
  OnnxModel model = differentiated([](OnnxModel &model) { model.node("Mul", {"x", "x"}, {"y"}); });
  ::onnx::NodeProto second = *model.graph().mutable_node()->rbegin();
  *model.graph().add_node() = second;
  model.graph().mutable_node()->rbegin()->set_output(0, "ddx");
  for (::onnx::AttributeProto &attribute : *model.graph().mutable_node()->rbegin()->mutable_attribute())
    if (attribute.name() == "y")
      attribute.set_s("dx");
  model.graph().mutable_output(0)->set_name("ddx");
  CHECK(model.runFloats({floatTensor({2, 3}, {1, 2, 0, -1, -2, 3})}) == Floats{12, 48, 0, 12, 48, 108});
}

TEST_CASE("a gradient through what has none known is an error") {
  CHECK_THAT(differentiated([](OnnxModel &model) { model.node("ReduceProd", {"x"}, {"y"}); }).import(),
             Contains("(ai.onnx.preview.training:Gradient): no derivative is known of 'reduce mul'"));
  OnnxModel other = differentiated([](OnnxModel &model) { model.node("Exp", {"x"}, {"y"}); });
  other.graph().mutable_node()->rbegin()->set_input(0, "y");
  CHECK_THAT(other.import(), Contains("(ai.onnx.preview.training:Gradient): input 0 is not the tensor 'x'"));
}

TEST_CASE("a tensor that does not reach the result has the derivative 0") {
  OnnxModel model = differentiated([](OnnxModel &model) { model.floats("w", {1}, {3}).node("Exp", {"w"}, {"y"}); });
  CHECK(model.runFloats({floatTensor({2, 3}, {1, 2, 3, 4, 5, 6})}) == Floats(6, 0));
}
