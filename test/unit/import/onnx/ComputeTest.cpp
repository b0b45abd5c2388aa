// Values that follow from constants are computed when the model is imported, through any operator, and by the rules of
// a run. Values that follow from sizes stay expressions, also through floats, as long as no float rounds one. The tests
// look at the rest of the module, and at numbers near the ends of dtypes.
#include "OnnxModel.h"

#include <catch2/catch.hpp>

using namespace kiln::test;
using Catch::Contains;
using Proto = ::onnx::TensorProto;

/// A model that gives a tensor whose rank tells which branch of an If on `c` was taken.
static void addBranches(OnnxModel &model, const std::string &condition) {
  ::onnx::NodeProto &node = model.node("If", {condition}, {"y"});
  node.set_name("choose");
  for (auto [name, op] : {std::pair("then_branch", "Flatten"), std::pair("else_branch", "Identity")}) {
    ::onnx::GraphProto &graph = setGraph(node, name);
    addNode(graph, op, {"x"}, {"r"});
    graph.add_output()->set_name("r");
  }
  model.output("y");
}

TEST_CASE("a condition is known through floats, comparisons, Where and reductions") {
  OnnxModel model;
  model.input("x", {2, 3, 4}).ints("one", {1}).floats("half", {}, {0.5f}).ints("none", {0}).ints("seven", {7});
  model.node("Shape", {"x"}, {"s"});
  setInt(model.node("Cast", {"s"}, {"f"}), "to", Proto::FLOAT);
  model.node("Mul", {"f", "half"}, {"h"});
  model.node("Ceil", {"h"}, {"up"});                  // 1 2 2
  model.node("Equal", {"up", "h"}, {"even"});         // 1 0 1
  model.node("Where", {"even", "s", "seven"}, {"w"}); // 2 7 4
  model.node("ReduceMin", {"w"}, {"least"});          // 2
  model.node("Mod", {"least", "seven"}, {"m"});
  setInt(model.node("Cast", {"m"}, {"c"}), "to", Proto::BOOL);
  model.node("Squeeze", {"c"}, {"c0"});
  addBranches(model, "c0");
  std::string text = model.import();
  CHECK_THAT(text, Contains("-> (tensor<2x12xf32>") || Contains("-> tensor<2x12xf32>"));
  CHECK_THAT(text, !Contains("graph.if"));
}

TEST_CASE("a condition on a rank or an open size is known through a cast to bool") {
  OnnxModel model;
  model.input("x", {"n", 3, 4}).ints("two", {2}, true);
  model.node("Shape", {"x"}, {"s"});
  model.node("Size", {"s"}, {"rank"});
  model.node("Equal", {"rank", "two"}, {"is"});
  model.node("Not", {"is"}, {"isNot"});
  setInt(model.node("Cast", {"isNot"}, {"c"}), "to", Proto::BOOL);
  addBranches(model, "c");
  CHECK_THAT(model.import(), !Contains("graph.if") && !Contains("error"));
}

TEST_CASE("a condition on an open size is the run's, and --dim decides it at import") {
  OnnxModel model;
  model.input("x", {"n", "k", 4}).ints("one", {1}, true);
  model.node("Shape", {"x"}, {"s"});
  model.node("Gather", {"s", "one"}, {"k"});
  model.node("Equal", {"k", "one"}, {"c"});
  addBranches(model, "c");
  CHECK_THAT(model.import(), Contains("graph.if"));
  kiln::import::ImportOptions options;
  options.dims["k"] = {1, 1, 1};
  CHECK_THAT(model.import(options), !Contains("graph.if") && !Contains("error"));
}

TEST_CASE("integers known at import wrap as those of a run do") {
  for (const char *op : {"ReduceProd", "ReduceSum"}) {
    OnnxModel model;
    std::vector<int64_t> values(5, int64_t(1) << 62);
    model.input("x", {1}, Proto::INT64).output("y").ints("c", values);
    setInt(model.node(op, {"c"}, {"r"}), "keepdims", 1);
    model.node("Add", {"r", "x"}, {"y"});
    CHECK(model.runInts({intTensor({1}, {0})}) ==
          std::vector<int64_t>{std::string(op) == "ReduceSum" ? int64_t(1) << 62 : 0});
  }
}

TEST_CASE("the least integer stays what it is where it is moved") {
  constexpr int64_t least = INT64_MIN;
  OnnxModel model;
  model.input("x", {2}, Proto::INT64).output("y").ints("a", {least}).ints("b", {5}).ints("i", {1, 0}).ints("z", {0});
  setInt(model.node("Concat", {"a", "b"}, {"c"}), "axis", 0);
  model.node("Gather", {"c", "i"}, {"g"});
  model.node("Slice", {"g", "z", "i2"}, {"t"}).mutable_input(2)->assign("two");
  model.ints("two", {2});
  model.node("Add", {"t", "x"}, {"y"});
  CHECK(model.runInts({intTensor({2}, {0, 0})}) == std::vector<int64_t>{5, least});
}

TEST_CASE("a loop over constants is computed, one that takes too long is not") {
  for (int64_t trips : {5, 1'000'000'000}) {
    OnnxModel model;
    model.input("x", {1}, Proto::INT64).output("y").ints("trips", {trips}, true).ints("zero", {0}).ints("two", {2});
    ::onnx::GraphProto &body = setGraph(model.node("Loop", {"trips", "", "zero"}, {"sum"}), "body");
    for (const char *name : {"i", "c", "s"})
      body.add_input()->set_name(name);
    body.mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(Proto::INT64);
    addNode(body, "Identity", {"c"}, {"on"});
    addNode(body, "Add", {"s", "two"}, {"next"});
    for (const char *name : {"on", "next"})
      body.add_output()->set_name(name);
    model.node("Add", {"sum", "x"}, {"y"});
    std::string text = model.import();
    bool isLoop = text.find("graph.loop") != std::string::npos;
    CHECK(isLoop == (trips != 5));
  }
}

/// What is missing to a multiple of 32, as torchvision writes it: through floats.
static OnnxModel padded(int dtype = Proto::FLOAT) {
  OnnxModel model;
  model.input("x", {"h"}).output("y").ints("zero", {0}, true).ints("axis", {0}).floats("f32", {}, {32});
  model.node("Shape", {"x"}, {"s"});
  model.node("Gather", {"s", "zero"}, {"h"});
  setInt(model.node("Cast", {"h"}, {"hf"}), "to", dtype);
  setInt(model.node("Cast", {"f32"}, {"c"}), "to", dtype);
  model.node("Div", {"hf", "c"}, {"q"});
  model.node("Ceil", {"q"}, {"up"});
  model.node("Mul", {"up", "c"}, {"m"});
  setInt(model.node("Cast", {"m"}, {"to"}), "to", Proto::INT64);
  model.node("Sub", {"to", "h"}, {"p"});
  model.node("Unsqueeze", {"p", "axis"}, {"pads"});
  setInt(model.node("Concat", {"axis", "pads"}, {"all"}), "axis", 0);
  model.node("Pad", {"x", "all"}, {"y"});
  return model;
}

TEST_CASE("a size that passes through floats is an expression, and the run checks that none was rounded") {
  std::string text = padded().import();
  CHECK_THAT(text, !Contains("graph.bind") && Contains("graph.check") && Contains("16777216"));
  CHECK_THAT(padded(Proto::DOUBLE).import(), !Contains("graph.bind") && !Contains("graph.check"));
  CHECK(padded().runFloats({floatTensor({3}, {1, 2, 3})}).size() == 32);
  CHECK(padded().runFloats({floatTensor({0}, {})}).empty());
  kiln::import::ImportOptions options;
  options.dims["h"] = {0, 4096, 1};
  CHECK_THAT(padded().import(options), !Contains("graph.check"));
  // float16 rounds too early to be of use.
  CHECK_THAT(padded(Proto::FLOAT16).import(), Contains("graph.bind"));
}

TEST_CASE("a quotient that floats round is followed where it is rounded to an integer next, and nowhere else") {
  auto model = [](const std::string &between) {
    OnnxModel model;
    model.input("x", {"h"}).output("y").ints("zero", {0}, true).floats("three", {}, {3}).ints("axis", {0});
    model.node("Shape", {"x"}, {"s"});
    setInt(model.node("Cast", {"s"}, {"f"}), "to", Proto::FLOAT);
    model.node("Div", {"f", "three"}, {"q"});
    if (between == "Mul")
      model.node("Mul", {"q", "three"}, {"r"});
    else
      model.node(between, {"q"}, {"r"});
    setInt(model.node("Cast", {"r"}, {"n"}), "to", Proto::INT64);
    model.node("ConstantOfShape", {"n"}, {"y"});
    return model;
  };
  CHECK_THAT(model("Floor").import(), !Contains("graph.bind"));
  CHECK_THAT(model("Ceil").import(), !Contains("graph.bind"));
  CHECK_THAT(model("Identity").import(), !Contains("graph.bind"));
  CHECK_THAT(model("Mul").import(), Contains("graph.bind"));
  CHECK(model("Floor").runFloats({floatTensor({8}, std::vector<float>(8))}).size() == 2);
  CHECK(model("Ceil").runFloats({floatTensor({8}, std::vector<float>(8))}).size() == 3);
}

TEST_CASE("sizes are followed through a long row of new constants") {
  OnnxModel model;
  model.input("x", {"h"}).output("y").ints("axis", {0});
  model.node("Shape", {"x"}, {"s"});
  setInt(model.node("Cast", {"s"}, {"sum0"}), "to", Proto::FLOAT);
  for (int i = 0; i < 400; ++i) {
    std::string number = std::to_string(i), next = std::to_string(i + 1);
    model.floats("c" + number, {1}, {float(i)});
    model.node("Add", {"sum" + number, "c" + number}, {"sum" + next});
    if (i % 7 == 0) // so that a constant, and not only a sum, makes the table of elements grow
      model.node("Neg", {"sum" + next}, {"negative" + next});
  }
  model.node("Unsqueeze", {"sum400", "axis"}, {"y"});
  CHECK(model.runFloats({floatTensor({3}, {0, 0, 0})}) == std::vector<float>{79803});
}
