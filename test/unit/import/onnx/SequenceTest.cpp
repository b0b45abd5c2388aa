// A sequence whose length and positions are known leaves nothing in the module: a tensor goes straight from where it
// was put in to where it is taken out. Where data or a loop decides, there is a list when the model runs. Both have to
// give the same, so the tests look at the module's text, for what must not be left, and at what the interpreter gives.
// A position outside is an error at import or in the run.
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
  CHECK_THAT(model.import(), Contains("position 3 is outside a sequence of 2"));
}

/// The elements of s after an insertion of x, doubled, one after the other.
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

TEST_CASE("what is not a sequence is not taken for one, nor a sequence for a tensor") {
  OnnxModel model;
  model.input("x", {2}).output("y");
  model.node("SequenceLength", {"x"}, {"y"});
  CHECK_THAT(model.import(), Contains("input 0 is not a sequence"));
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
// Lists that only a run knows
//===----------------------------------------------------------------------===//

/// twoTensors, and an int64 input `at`.
static OnnxModel withPositionInput() {
  OnnxModel model;
  model.input("x", {2}).input("z", {3}).input("at", {}, ::onnx::TensorProto::INT64).output("y");
  model.node("SequenceConstruct", {"x", "z"}, {"s"});
  return model;
}

TEST_CASE("a position may be data") {
  OnnxModel at = withPositionInput();
  at.node("SequenceAt", {"s", "at"}, {"y"});
  CHECK(at.runFloats({kX, kZ, intTensor({}, {1})}) == Floats{3, 4, 5});
  CHECK(at.runFloats({kX, kZ, intTensor({}, {-2})}) == Floats{1, 2});
  OnnxModel erase = withPositionInput();
  erase.node("SequenceErase", {"s", "at"}, {"t"});
  setInt(erase.node("ConcatFromSequence", {"t"}, {"y"}), "axis", 0);
  CHECK(erase.runFloats({kX, kZ, intTensor({}, {-1})}) == Floats{1, 2});
  OnnxModel insert = withPositionInput();
  insert.node("SequenceInsert", {"s", "x", "at"}, {"t"});
  setInt(insert.node("ConcatFromSequence", {"t"}, {"y"}), "axis", 0);
  CHECK(insert.runFloats({kX, kZ, intTensor({}, {2})}) == Floats{1, 2, 3, 4, 5, 1, 2});
}

TEST_CASE("tensors of one shape keep it where a position is data") {
  OnnxModel model;
  model.input("x", {"n"}).input("at", {}, ::onnx::TensorProto::INT64).output("y");
  model.node("Neg", {"x"}, {"z"});
  model.node("SequenceConstruct", {"x", "z"}, {"s"});
  model.node("SequenceAt", {"s", "at"}, {"e"});
  model.node("Add", {"e", "x"}, {"y"});
  CHECK_THAT(model.import(), !Contains("graph.bind") && !Contains("graph.check"));
  CHECK(model.runFloats({kX, intTensor({}, {0})}) == Floats{2, 4});
}

TEST_CASE("as many parts as data says") {
  OnnxModel model;
  model.input("x", {5}).input("size", {}, ::onnx::TensorProto::INT64).output("y").output("count");
  model.node("SplitToSequence", {"x", "size"}, {"s"});
  model.ints("last", {-1}, /*isScalar=*/true);
  model.node("SequenceAt", {"s", "last"}, {"y"});
  model.node("SequenceLength", {"s"}, {"count"});
  std::vector<HostTensor> results = model.run({floatTensor({5}, {1, 2, 3, 4, 5}), intTensor({}, {3})});
  CHECK(results[0].elements<float>().vec() == Floats{4, 5});
  CHECK(results[1].elements<int64_t>().vec() == Ints{2});
}

/// A Loop of `trips` steps whose body appends its step's number, as many times as it says, to a list that begins empty.
static OnnxModel collectingLoop() {
  OnnxModel model;
  model.input("trips", {}, ::onnx::TensorProto::INT64).output("y");
  setInt(model.node("SequenceEmpty", {}, {"none"}), "dtype", ::onnx::TensorProto::INT64);
  ::onnx::GraphProto &body = setGraph(model.node("Loop", {"trips", "", "none"}, {"s"}), "body");
  for (const char *input : {"step", "goes", "before"})
    body.add_input()->set_name(input);
  for (const char *output : {"goes", "after"})
    body.add_output()->set_name(output);
  setTensor(*body.add_initializer(), "one", {1}, {1});
  addNode(body, "Add", {"step", "one"}, {"count"});
  addNode(body, "Expand", {"step", "count"}, {"repeated"});
  addNode(body, "SequenceInsert", {"before", "repeated"}, {"after"});
  return model;
}

TEST_CASE("a Loop carries a sequence") {
  OnnxModel model = collectingLoop();
  setInt(model.node("ConcatFromSequence", {"s"}, {"y"}), "axis", 0);
  CHECK(model.runInts({intTensor({}, {3})}) == Ints{0, 1, 1, 2, 2, 2});
}

TEST_CASE("a sequence is not a scan output of a Loop") {
  OnnxModel model = collectingLoop();
  ::onnx::GraphProto &body = *model.graph().mutable_node(1)->mutable_attribute(0)->mutable_g();
  body.add_output()->set_name("after");
  model.graph().mutable_node(1)->add_output("all");
  CHECK_THAT(model.import(), Contains("scan output 0 is of a sequence; carry it from step to step"));
}

TEST_CASE("an If gives one of two sequences") {
  OnnxModel model;
  model.input("c", {}, ::onnx::TensorProto::BOOL).input("x", {2}).output("y");
  ::onnx::NodeProto &node = model.node("If", {"c"}, {"s"});
  for (bool isThen : {true, false}) {
    ::onnx::GraphProto &graph = setGraph(node, isThen ? "then_branch" : "else_branch");
    ::onnx::NodeProto &construct = addNode(graph, "SequenceConstruct", {"x"}, {"r"});
    if (isThen)
      construct.add_input("x");
    graph.add_output()->set_name("r");
  }
  model.node("SequenceLength", {"s"}, {"y"});
  CHECK(model.runInts({boolTensor({}, {1}), kX}) == Ints{2});
  CHECK(model.runInts({boolTensor({}, {0}), kX}) == Ints{1});
}

/// y = the sums of each tensor of s with itself, one after the other; s has x and z, or parts of x as data says.
static OnnxModel mapped(bool isKnown) {
  OnnxModel model = isKnown ? twoTensors() : OnnxModel();
  if (!isKnown) {
    model.input("x", {5}).input("size", {}, ::onnx::TensorProto::INT64).output("y");
    model.node("SplitToSequence", {"x", "size"}, {"s"});
  }
  ::onnx::GraphProto &body = setGraph(model.node("SequenceMap", {"s", "s"}, {"t"}), "body");
  body.add_input()->set_name("s");
  body.add_input()->set_name("other");
  addNode(body, "Add", {"s", "other"}, {"sum"});
  body.add_output()->set_name("sum");
  setInt(model.node("ConcatFromSequence", {"t"}, {"y"}), "axis", 0);
  return model;
}

TEST_CASE("a graph is run for each tensor of a sequence") {
  CHECK_THAT(mapped(/*isKnown=*/true).import(), !Contains("graph.loop"));
  CHECK(mapped(true).runFloats({kX, kZ}) == Floats{2, 4, 6, 8, 10});
  CHECK_THAT(mapped(/*isKnown=*/false).import(), Contains("graph.loop"));
  CHECK(mapped(false).runFloats({floatTensor({5}, {1, 2, 3, 4, 5}), intTensor({}, {2})}) == Floats{2, 4, 6, 8, 10});
}

TEST_CASE("a graph for sequences of different lengths is an error") {
  OnnxModel model = twoTensors();
  model.node("SequenceConstruct", {"x"}, {"short"});
  ::onnx::GraphProto &body = setGraph(model.node("SequenceMap", {"s", "short"}, {"t"}), "body");
  body.add_input()->set_name("a");
  body.add_input()->set_name("b");
  body.add_output()->set_name("a");
  CHECK_THAT(model.import(), Contains("sequences of 2 and 1 tensors"));
}

/// A model with an input s, a sequence of tensors without declared shapes; `op` makes y of it.
static OnnxModel unrankedSequence(const std::string &op) {
  OnnxModel model;
  ::onnx::ValueInfoProto &input = *model.graph().add_input();
  input.set_name("s");
  input.mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(1);
  model.ints("at", {0}, /*isScalar=*/true).output("y");
  ::onnx::NodeProto &node = model.node(op, {"s"}, {"y"});
  if (op == "SequenceAt")
    node.add_input("at");
  else
    setInt(node, "axis", 0);
  return model;
}

static void declareRank(::onnx::ValueInfoProto &value, const std::string &name, int rank) {
  value.set_name(name);
  ::onnx::TypeProto::Tensor &type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(1);
  type.mutable_shape();
  for (int axis = 0; axis < rank; ++axis)
    type.mutable_shape()->add_dim();
}

TEST_CASE("what is taken out of a sequence has a rank") {
  OnnxModel model = unrankedSequence("SequenceAt");
  CHECK_THAT(model.import(), Contains("the tensors of the sequence have no rank that is known"));
  model.graph()
      .mutable_input(0)
      ->mutable_type()
      ->mutable_sequence_type()
      ->mutable_elem_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->add_dim();
  CHECK_THAT(model.import(), Contains("graph.dtype = !object.sequence<tensor<?xf32>>"));
}

TEST_CASE("what the model declares of a node's output is the rank of a sequence's tensors") {
  OnnxModel model = unrankedSequence("SequenceAt");
  declareRank(*model.graph().mutable_output(0), "y", 2);
  CHECK_THAT(model.import(), Contains("\"sequence_shape\"(%arg0, %0) <[2]>"));
  OnnxModel within = unrankedSequence("SequenceAt");
  declareRank(*within.graph().add_value_info(), "y", 3);
  CHECK_THAT(within.import(), Contains("\"sequence_shape\"(%arg0, %0) <[3]>"));
}

TEST_CASE("a new axis is none that the tensors of a sequence have") {
  OnnxModel model = unrankedSequence("ConcatFromSequence");
  declareRank(*model.graph().mutable_output(0), "y", 2);
  CHECK_THAT(model.import(), Contains("\"sequence_concat_shape\"(%arg0) <[11, 2, 0, 0]>"));
  setInt(*model.graph().mutable_node(0), "new_axis", 1);
  CHECK_THAT(model.import(), Contains("\"sequence_concat_shape\"(%arg0) <[11, 1, 0, 1]>"));
  model.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->clear_dim();
  CHECK_THAT(model.import(), Contains("the tensors of the sequence have no rank that is known"));
}

TEST_CASE("a graph for each tensor of a sequence says what rank they have") {
  OnnxModel model = unrankedSequence("SequenceMap");
  model.graph().mutable_node(0)->clear_attribute();
  ::onnx::GraphProto &body = setGraph(*model.graph().mutable_node(0), "body");
  declareRank(*body.add_input(), "x", 1);
  body.add_output()->set_name("n");
  addNode(body, "Neg", {"x"}, {"n"});
  CHECK_THAT(model.import(), Contains("\"sequence_shape\"") && Contains("graph.alu neg"));
}

TEST_CASE("an optional input has nothing for a default") {
  OnnxModel model;
  ::onnx::TypeProto &type = *model.graph().add_input()->mutable_type();
  model.graph().mutable_input(0)->set_name("o");
  type.mutable_optional_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(1);
  model.output("y");
  model.node("OptionalHasElement", {"o"}, {"y"});
  CHECK_THAT(model.import(), Contains("graph.dtype = !object.optional<tensor<*xf32>>"));
  CHECK(model.run({HostTensor()})[0].bytes == std::vector<char>{0});
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

/// What PyTorch makes of repeat_interleave: parts of one element each, though how many only a run knows.
TEST_CASE("parts that are all of one size have it at import, however many they are") {
  OnnxModel model;
  model.input("x", {"n"}, ::onnx::TensorProto::INT64).output("y").ints("zero", {0}, /*isScalar=*/true).ints("two", {2});
  model.node("Shape", {"x"}, {"s"});
  setTensor(
      *[&] {
        ::onnx::AttributeProto &one = *model.node("ConstantOfShape", {"s"}, {"ones"}).add_attribute();
        one.set_name("value");
        one.set_type(::onnx::AttributeProto::TENSOR);
        return one.mutable_t();
      }(),
      "one", {1}, {1});
  setInt(model.node("SplitToSequence", {"x", "ones"}, {"parts"}), "axis", 0);
  model.node("SequenceAt", {"parts", "zero"}, {"part"});
  setInt(model.node("Concat", {"part", "two"}, {"shape"}), "axis", 0);
  model.node("ConstantOfShape", {"shape"}, {"y"});
  CHECK(model.runFloats({intTensor({3}, {3, 1, 1})}).size() == 6);
}
