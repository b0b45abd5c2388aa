#include "OnnxModel.h"

#include <catch2/catch.hpp>

using namespace kiln::test;
using Catch::Contains;
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

/// A model with inputs x [2] and z [3] and a sequence s of both, x first.
static OnnxModel twoTensors() {
  OnnxModel model;
  model.input("x", {2}).input("z", {3}).output("y");
  model.node("SequenceConstruct", {"x", "z"}, {"s"});
  return model;
}

static const HostTensor kX = floatTensor({2}, {1, 2}), kZ = floatTensor({3}, {3, 4, 5});

static std::string withPosition(OnnxModel model, const std::string &op, int64_t position) {
  model.ints("at", {position}, /*isScalar=*/true);
  model.node(op, {"s", "at"}, {"y"});
  return model.import();
}

TEST_CASE("what is taken out of a sequence is the tensor that went in") {
  OnnxModel model = twoTensors();
  model.ints("at", {-1}, /*isScalar=*/true);
  model.node("SequenceAt", {"s", "at"}, {"e"});
  model.node("Neg", {"e"}, {"y"});
  CHECK_THAT(model.import(), !Contains("graph.call") && Contains("neg %arg1"));
  CHECK(model.runFloats({kX, kZ}) == Floats{-3, -4, -5});
}

TEST_CASE("positions outside a sequence are errors") {
  CHECK_THAT(withPosition(twoTensors(), "SequenceAt", 2), Contains("position 2 is outside a sequence of 2"));
  CHECK_THAT(withPosition(twoTensors(), "SequenceAt", -3), Contains("position -3 is outside a sequence of 2"));
  CHECK_THAT(withPosition(twoTensors(), "SequenceErase", 2), Contains("position 2 is outside a sequence of 2"));
  OnnxModel model = twoTensors();
  model.ints("at", {3}, /*isScalar=*/true);
  model.node("SequenceInsert", {"s", "x", "at"}, {"t"});
  CHECK_THAT(model.import(), Contains("position 3 is outside a sequence of 3"));
}

/// The elements of s after an insertion of x, doubled, one behind the other.
static Floats inserted(std::initializer_list<int64_t> position) {
  OnnxModel model = twoTensors();
  model.node("Add", {"x", "x"}, {"w"});
  ::onnx::NodeProto &insert = model.node("SequenceInsert", {"s", "w"}, {"t"});
  if (position.size()) {
    model.ints("at", position, /*isScalar=*/true);
    insert.add_input("at");
  }
  setInt(model.node("ConcatFromSequence", {"t"}, {"y"}), "axis", 0);
  return model.runFloats({kX, kZ});
}

TEST_CASE("a tensor is inserted before a position, or at the end") {
  CHECK(inserted({}) == Floats{1, 2, 3, 4, 5, 2, 4});
  CHECK(inserted({2}) == Floats{1, 2, 3, 4, 5, 2, 4});
  CHECK(inserted({0}) == Floats{2, 4, 1, 2, 3, 4, 5});
  CHECK(inserted({-1}) == Floats{1, 2, 2, 4, 3, 4, 5});
  CHECK(inserted({-2}) == Floats{2, 4, 1, 2, 3, 4, 5});
}

static Floats erased(std::initializer_list<int64_t> position) {
  OnnxModel model = twoTensors();
  ::onnx::NodeProto &erase = model.node("SequenceErase", {"s"}, {"t"});
  if (position.size()) {
    model.ints("at", position, /*isScalar=*/true);
    erase.add_input("at");
  }
  setInt(model.node("ConcatFromSequence", {"t"}, {"y"}), "axis", 0);
  return model.runFloats({kX, kZ});
}

TEST_CASE("a tensor is erased at a position, or the last") {
  CHECK(erased({}) == Floats{1, 2});
  CHECK(erased({0}) == Floats{3, 4, 5});
  CHECK(erased({-2}) == Floats{3, 4, 5});
}

TEST_CASE("sizes that go through a sequence are still sizes") {
  OnnxModel model;
  model.input("x", {"n", 3}).output("y");
  model.ints("last", {-1}, /*isScalar=*/true).ints("two", {2}, /*isScalar=*/true);
  model.node("Shape", {"x"}, {"shape"});
  model.ints("zero", {0}, /*isScalar=*/true);
  setInt(model.node("Gather", {"shape", "zero"}, {"n"}), "axis", 0);
  model.node("SequenceConstruct", {"n", "last"}, {"s"});
  ::onnx::NodeProto &concat = model.node("ConcatFromSequence", {"s"}, {"wanted"});
  setInt(concat, "axis", 0);
  setInt(concat, "new_axis", 1);
  model.node("Reshape", {"x", "wanted"}, {"y"});
  CHECK_THAT(model.import(), !Contains("graph.bind") && Contains("return %arg0"));
}

TEST_CASE("a tensor is split into as many parts as fit, the last smaller") {
  OnnxModel model;
  model.input("x", {5}).output("y").output("count");
  model.ints("size", {2}, /*isScalar=*/true).ints("at", {2}, /*isScalar=*/true);
  model.node("SplitToSequence", {"x", "size"}, {"s"});
  model.node("SequenceAt", {"s", "at"}, {"y"});
  model.node("SequenceLength", {"s"}, {"count"});
  std::vector<HostTensor> results = model.run({floatTensor({5}, {1, 2, 3, 4, 5})});
  CHECK(results[0].elements<float>().vec() == Floats{5});
  CHECK(results[1].elements<int64_t>().vec() == Ints{3});
}

TEST_CASE("without sizes each part is one slice, whose axis may go") {
  for (bool keeps : {true, false}) {
    OnnxModel model;
    model.input("x", {2, 2}).output("y");
    ::onnx::NodeProto &split = model.node("SplitToSequence", {"x"}, {"s"});
    setInt(split, "axis", 1);
    setInt(split, "keepdims", keeps);
    model.ints("at", {1}, /*isScalar=*/true);
    model.node("SequenceAt", {"s", "at"}, {"y"});
    HostTensor y = model.run({floatTensor({2, 2}, {1, 2, 3, 4})})[0];
    CHECK(y.elements<float>().vec() == Floats{2, 4});
    CHECK(y.dims.size() == (keeps ? 2 : 1));
  }
}

TEST_CASE("parts whose sizes are data are checked against the axis") {
  OnnxModel model;
  model.input("x", {4}).input("sizes", {2}, ::onnx::TensorProto::INT64).output("y");
  model.node("SplitToSequence", {"x", "sizes"}, {"s"});
  model.ints("at", {1}, /*isScalar=*/true);
  model.node("SequenceAt", {"s", "at"}, {"y"});
  CHECK(model.runFloats({floatTensor({4}, {1, 2, 3, 4}), intTensor({2}, {3, 1})}) == Floats{4});
  CHECK_THAT(model.import(), Contains("graph.check"));
}

TEST_CASE("a sequence has one dtype and no sequences in it") {
  OnnxModel mixed;
  mixed.input("x", {2}).input("i", {2}, ::onnx::TensorProto::INT64).output("y");
  mixed.node("SequenceConstruct", {"x", "i"}, {"s"});
  CHECK_THAT(mixed.import(), Contains("a tensor of int64 in a sequence of float32"));
  OnnxModel empty;
  empty.input("i", {2}, ::onnx::TensorProto::INT64).output("y");
  empty.node("SequenceEmpty", {}, {"s"});
  empty.node("SequenceInsert", {"s", "i"}, {"t"});
  CHECK_THAT(empty.import(), Contains("a tensor of int64 in a sequence of float32"));
  OnnxModel nested = twoTensors();
  nested.node("SequenceConstruct", {"s"}, {"t"});
  CHECK_THAT(nested.import(), Contains("input 's' is a sequence; the operator takes tensors"));
}

TEST_CASE("what is no sequence is not taken for one, and a sequence for no tensor") {
  OnnxModel model;
  model.input("x", {2}).output("y");
  model.node("SequenceLength", {"x"}, {"y"});
  CHECK_THAT(model.import(), Contains("input 0 is no sequence"));
  OnnxModel neg = twoTensors();
  neg.node("Neg", {"s"}, {"y"});
  CHECK_THAT(neg.import(), Contains("input 's' is a sequence; the operator takes tensors"));
}

TEST_CASE("nothing is taken out of an empty sequence") {
  for (const char *op : {"SequenceErase", "ConcatFromSequence"}) {
    OnnxModel model;
    model.input("x", {2}).output("y");
    model.node("SequenceEmpty", {}, {"s"});
    ::onnx::NodeProto &node = model.node(op, {"s"}, {"y"});
    if (std::string(op) == "ConcatFromSequence")
      setInt(node, "axis", 0);
    CHECK_THAT(model.import(), Contains("the sequence is empty"));
  }
}

//===----------------------------------------------------------------------===//
// Optionals
//===----------------------------------------------------------------------===//

TEST_CASE("an optional that was made of something has it") {
  OnnxModel model;
  model.input("x", {2}).output("has").output("y");
  model.node("Optional", {"x"}, {"o"});
  model.node("OptionalHasElement", {"o"}, {"has"});
  model.node("OptionalGetElement", {"o"}, {"y"});
  std::vector<HostTensor> results = model.run({kX});
  CHECK(results[0].bytes == std::vector<char>{1});
  CHECK(results[1].elements<float>().vec() == Floats{1, 2});
}

TEST_CASE("an optional of a type alone is empty") {
  OnnxModel model;
  model.input("x", {2}).output("has");
  ::onnx::AttributeProto &type = *model.node("Optional", {}, {"o"}).add_attribute();
  type.set_name("type");
  type.set_type(::onnx::AttributeProto::TYPE_PROTO);
  type.mutable_tp()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(1);
  model.node("OptionalHasElement", {"o"}, {"has"});
  CHECK(model.run({kX})[0].bytes == std::vector<char>{0});
  model.node("OptionalGetElement", {"o"}, {"s"});
  CHECK_THAT(model.import(), Contains("the optional has no element"));
}

TEST_CASE("an optional of nothing at all is an error") {
  OnnxModel model;
  model.input("x", {2}).output("o");
  model.node("Optional", {}, {"o"});
  CHECK_THAT(model.import(), Contains("it has neither an input nor the attribute 'type'"));
}
