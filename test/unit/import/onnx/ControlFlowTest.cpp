// With If, Loop and Scan the size of a tensor may depend on the branch that is taken or on how often a body runs, so
// that results have sizes which no input has. The tests look at both sides: in the module's text at the symbols that
// stand for such sizes, and in what the interpreter computes at the numbers. What cannot be typed has to be an error
// that names the node.
#include "OnnxModel.h"

#include <catch2/catch.hpp>

using namespace kiln::test;
using Catch::Contains;
using Catch::StartsWith;
using Proto = ::onnx::TensorProto;

static void addOutput(::onnx::GraphProto &graph, const std::string &name) { graph.add_output()->set_name(name); }
static void addInput(::onnx::GraphProto &graph, const std::string &name) { graph.add_input()->set_name(name); }

/// y = c ? op1(x) : op2(x), x [n, 3].
static OnnxModel ifModel(const std::string &first, const std::string &second) {
  OnnxModel model;
  model.input("c", {}, Proto::BOOL).input("x", {"n", 3}).output("y");
  ::onnx::NodeProto &node = model.node("If", {"c"}, {"y"});
  node.set_name("choose");
  for (auto [name, op] : {std::pair("then_branch", first), std::pair("else_branch", second)}) {
    ::onnx::GraphProto &graph = setGraph(node, name);
    addNode(graph, op, {"x"}, {"r"});
    addOutput(graph, "r");
  }
  return model;
}

TEST_CASE("If's branches read values from above") {
  std::string text = ifModel("Exp", "Neg").import();
  CHECK_THAT(text, Contains("graph.if %arg0 : tensor<i1> -> (tensor<?x3xf32, #kiln.dims<[\"n\", 3]>>)"));
  CHECK_THAT(text, Contains(" exp %arg1") && Contains(" neg %arg1"));
}

TEST_CASE("a size in which the branches differ is a symbol of the result's own") {
  OnnxModel model = ifModel("Exp", "Concat");
  ::onnx::NodeProto &concat = *model.graph().mutable_node(0)->mutable_attribute(1)->mutable_g()->mutable_node(0);
  concat.add_input("x");
  setInt(concat, "axis", 1);
  std::string text = model.import();
  CHECK_THAT(text, Contains("-> (tensor<?x?xf32, #kiln.dims<[\"n\", \"y.dim1{3..6}\"]>>)"));
  CHECK_THAT(text, Contains("#kiln.symbol<\"y.dim1\", 3 to 6, default 3>"));
}

TEST_CASE("outputs of different dtype, and fewer outputs than the node has, are an error") {
  CHECK_THAT(ifModel("Exp", "Shape").import(),
             StartsWith("error: model.onnx: node 'choose' (If): 'y' is [n, 3] of float32 in one branch and "
                        "[2] of int64 in the other; "));
  OnnxModel count = ifModel("Exp", "Neg");
  count.graph().mutable_node(0)->add_output("more");
  CHECK_THAT(count.import(), Contains("graph 'then_branch' has 1 outputs where the node has 2"));
}

TEST_CASE("a run decides the rank of an output") {
  OnnxModel model = ifModel("Exp", "ReduceSum");
  setInt(*model.graph().mutable_node(0)->mutable_attribute(1)->mutable_g()->mutable_node(0), "keepdims", 0);
  std::string text = model.import();
  CHECK_THAT(text, Contains("graph.rank = #kiln.expr<\"y.rank{0..2}\">"));
  HostTensor x = floatTensor({1, 3}, {1, 2, 3});
  std::vector<HostTensor> sum = model.run({boolTensor({}, {0}), x}), all = model.run({boolTensor({}, {1}), x});
  CHECK(sum[0].dims.empty());
  CHECK(all[0].dims.size() == 2);
  CHECK(model.runFloats({boolTensor({}, {0}), x}) == std::vector<float>{6});
}

/// y = exp(-t) of t = c ? flatten(x) : unsqueeze(x), x [n, 3], through `ops`.
static OnnxModel versionsModel(std::initializer_list<const char *> ops) {
  OnnxModel model = ifModel("Flatten", "Unsqueeze");
  model.ints("first", {0}).ints("flat", {-1});
  ::onnx::NodeProto &node = *model.graph().mutable_node(0);
  node.mutable_attribute(1)->mutable_g()->mutable_node(0)->add_input("first");
  node.set_output(0, "t0");
  int last = 0;
  for (const char *op : ops) {
    std::string from = "t" + std::to_string(last++), to = "t" + std::to_string(last);
    if (llvm::StringRef(op) == "Reshape")
      model.node(op, {from, "flat"}, {to});
    else
      model.node(op, {from}, {to});
  }
  model.node("Identity", {"t" + std::to_string(last)}, {"y"});
  return model;
}

static size_t countOf(llvm::StringRef text, llvm::StringRef part) { return text.count(part); }

TEST_CASE("nodes after an If are in its branches only until the ranks agree again") {
  OnnxModel model = versionsModel({"Neg", "Reshape", "Exp"});
  std::string text = model.import();
  CHECK(countOf(text, " neg ") == 2);
  CHECK(countOf(text, " exp ") == 1);
  HostTensor x = floatTensor({1, 3}, {0, 0, 0});
  CHECK(model.runFloats({boolTensor({}, {0}), x}) == std::vector<float>{1, 1, 1});
}

TEST_CASE("what a node of the versions needs is in them, and what it does not need is not") {
  // s, a sum that both versions have with one rank, is read by a node outside and by one with t.
  OnnxModel model = versionsModel({"Neg"});
  model.node("ReduceSum", {"t1", "flat"}, {"unused"});
  model.node("Reshape", {"t0", "flat"}, {"s"});
  model.node("ReduceMax", {"s"}, {"m"});
  model.node("Sin", {"m"}, {"n"});
  model.node("Mul", {"n", "t1"}, {"p"});
  model.node("Reshape", {"p", "flat"}, {"q"});
  model.node("Exp", {"m"}, {"z"});
  model.graph().mutable_output(0)->set_name("q");
  model.output("z");
  std::string text = model.import();
  CHECK(countOf(text, " sin ") == 2);
  CHECK(countOf(text, " exp ") == 1);
  HostTensor x = floatTensor({1, 3}, {0, 0, 0});
  CHECK(model.run({boolTensor({}, {1}), x}).size() == 2);
}

TEST_CASE("a second If that depends on the rank is decided in each version") {
  OnnxModel model = versionsModel({});
  model.node("Size", {"shape"}, {"rank"});
  model.node("Shape", {"t0"}, {"shape"});
  model.ints("two", {2}, true);
  model.node("Equal", {"rank", "two"}, {"isTwo"});
  ::onnx::NodeProto &node = model.node("If", {"isTwo"}, {"u"});
  for (auto [name, op] : {std::pair("then_branch", "Sin"), std::pair("else_branch", "Abs")}) {
    ::onnx::GraphProto &graph = setGraph(node, name);
    addNode(graph, op, {"t0"}, {"r"});
    addOutput(graph, "r");
  }
  model.node("Reshape", {"u", "flat"}, {"v"});
  model.graph().mutable_output(0)->set_name("v");
  std::string text = model.import();
  CHECK(countOf(text, "graph.if") == 1);
  CHECK(countOf(text, " sin ") == 1);
}

TEST_CASE("too many versions are an error that names the Ifs") {
  OnnxModel model;
  model.input("x", {"n", 3}).output("y").ints("first", {0});
  for (int i = 0; i < 5; ++i) {
    std::string c = "c" + std::to_string(i), y = i < 4 ? "y" + std::to_string(i) : "y";
    std::string x = i ? "y" + std::to_string(i - 1) : "x";
    model.input(c, {}, Proto::BOOL);
    ::onnx::NodeProto &node = model.node("If", {c}, {y});
    node.set_name("choose" + std::to_string(i));
    for (auto [name, op] : {std::pair("then_branch", "Neg"), std::pair("else_branch", "Unsqueeze")}) {
      ::onnx::GraphProto &graph = setGraph(node, name);
      ::onnx::NodeProto &inner = addNode(graph, op, {x}, {"r"});
      if (inner.op_type() == "Unsqueeze")
        inner.add_input("first");
      addOutput(graph, "r");
    }
  }
  CHECK_THAT(model.import(), Contains("node 'choose0' (If), node 'choose1' (If), node 'choose2' (If), node 'choose3' "
                                      "(If) and 1 more differ in rank or dtype, which makes over 16 versions"));
}

TEST_CASE("a branch that does not fit the sizes ends the run that takes it") {
  OnnxModel model = ifModel("Exp", "Concat");
  ::onnx::NodeProto &concat = *model.graph().mutable_node(0)->mutable_attribute(1)->mutable_g()->mutable_node(0);
  concat.add_input("w");
  setInt(concat, "axis", 0);
  model.floats("w", {1, 4}, {1, 2, 3, 4});
  std::string text = model.import();
  CHECK_THAT(text, Contains("graph.check <0> \"node 'choose' (If): node 'Concat_0' (Concat): "));
  CHECK(model.runFloats({boolTensor({}, {1}), floatTensor({1, 3}, {0, 0, 0})}) == std::vector<float>{1, 1, 1});
  OnnxModel both = model;
  *both.graph().mutable_node(0)->mutable_attribute(0)->mutable_g() = both.graph().node(0).attribute(1).g();
  CHECK_THAT(both.import(), StartsWith("error: model.onnx: node 'choose' (If): node 'Concat_0' (Concat): "));
}

TEST_CASE("an operator that kiln does not know is an error in any branch") {
  CHECK_THAT(ifModel("Exp", "NoSuchOperator").import(), StartsWith("error: ") && Contains("NoSuchOperator"));
}

TEST_CASE("an error within a branch names both nodes") {
  OnnxModel model = ifModel("Exp", "Relu");
  model.graph().mutable_node(0)->mutable_attribute(1)->mutable_g()->mutable_node(0)->set_input(0, "none");
  CHECK_THAT(model.import(),
             StartsWith("error: model.onnx: node 'choose' (If): node 'Relu_0' (Relu): input 'none' is undefined"));
}

TEST_CASE("a known condition leaves one branch") {
  OnnxModel model = ifModel("Exp", "Neg");
  model.node("Shape", {"x"}, {"s"});
  model.ints("limit", {5}, true).ints("axis", {1}, true);
  model.node("Gather", {"s", "axis"}, {"width"});
  model.node("Less", {"width", "limit"}, {"k"});
  model.graph().mutable_node(0)->set_input(0, "k");
  CHECK_THAT(model.import(), !Contains("graph.if") && Contains(" exp %arg1") && !Contains(" neg %arg1"));
}

/// Multiplies x [n] by 2 while its sum is below 100, at most m times; y is the last x and s the sums.
static OnnxModel loopModel() {
  OnnxModel model;
  model.input("m", {}, Proto::INT64).input("x", {"n"}).output("y").output("s").floats("two", {}, {2});
  ::onnx::NodeProto &node = model.node("Loop", {"m", "", "x"}, {"y", "s"});
  node.set_name("loop");
  ::onnx::GraphProto &body = setGraph(node, "body");
  addInput(body, "i");
  addInput(body, "c");
  addInput(body, "v");
  addNode(body, "Mul", {"v", "two"}, {"w"});
  addNode(body, "ReduceSum", {"w"}, {"sum"});
  addNode(body, "Identity", {"c"}, {"again"});
  for (const char *name : {"again", "w", "sum"})
    addOutput(body, name);
  return model;
}

TEST_CASE("a counted Loop with a carried tensor and a scan output") {
  OnnxModel model = loopModel();
  std::string text = model.import();
  CHECK_THAT(text,
             Contains("graph.loop trips(%arg0 : tensor<i64>) carry(%arg1 : tensor<?xf32, #kiln.dims<[\"n\"]>>) -> "
                      "(tensor<?xf32, #kiln.dims<[\"n\"]>>, tensor<?x1xf32, #kiln.dims<[\"s.dim0\", 1]>>)"));
  CHECK_THAT(text, Contains("#kiln.symbol<\"s.dim0\", 0 to 2147483647, default 1>"));
  CHECK(model.runFloats({intTensor({}, {3}), floatTensor({2}, {1, 2})}) == std::vector<float>{8, 16});
}

TEST_CASE("a Loop's condition is data") {
  OnnxModel model = loopModel();
  model.floats("limit", {}, {20});
  model.graph().mutable_node(0)->set_input(1, "start");
  model.node("Not", {"stop"}, {"start"});
  model.input("stop", {}, Proto::BOOL);
  ::onnx::GraphProto &body = *model.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
  body.mutable_node(2)->Clear();
  body.mutable_node(2)->set_op_type("Less");
  for (const char *name : {"total", "limit"})
    body.mutable_node(2)->add_input(name);
  body.mutable_node(2)->add_output("again");
  setInt(addNode(body, "ReduceSum", {"w"}, {"total"}), "keepdims", 0);
  CHECK_THAT(model.import(), Contains("graph.loop trips(%arg0 : tensor<i64>) while("));
  auto result = [&](bool stop) {
    return model.runFloats({intTensor({}, {9}), floatTensor({2}, {1, 2}), boolTensor({}, {stop})});
  };
  CHECK(result(false) == std::vector<float>{8, 16});
  CHECK(result(true) == std::vector<float>{1, 2});
}

TEST_CASE("a carried tensor that grows has symbols of its own within and after") {
  OnnxModel model = loopModel();
  ::onnx::NodeProto &grow = *model.graph().mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_node(0);
  grow.set_op_type("Concat");
  setInt(grow, "axis", 0);
  grow.set_input(1, "one");
  model.floats("one", {1}, {1});
  std::string text = model.import();
  CHECK_THAT(text, Contains("-> (tensor<?xf32, #kiln.dims<[\"y.dim0\"]>>, "));
  CHECK_THAT(text, Contains("tensor<?xf32, #kiln.dims<[\"v.dim0\"]>>"));
  CHECK_THAT(text, Contains("#kiln.dims<[\"(v.dim0+1)\"]>"));
  CHECK(model.runFloats({intTensor({}, {2}), floatTensor({1}, {7})}) == std::vector<float>{7, 1, 1});
}

TEST_CASE("scan slices of changing size are an error") {
  OnnxModel model = loopModel();
  ::onnx::GraphProto &body = *model.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
  body.mutable_node(0)->set_op_type("Concat");
  setInt(*body.mutable_node(0), "axis", 0);
  body.mutable_node(0)->set_input(1, "one");
  model.floats("one", {1}, {1});
  body.mutable_output(2)->set_name("w");
  CHECK_THAT(model.import(),
             Contains("node 'loop' (Loop): scan output 0 has slices of size (v.dim0+1), which changes"));
}

TEST_CASE("a body's outputs have the sizes that they declare where nothing else says them, and the run looks") {
  OnnxModel model = loopModel();
  model.input("keep", {2}, Proto::BOOL);
  ::onnx::GraphProto &body = *model.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
  body.mutable_node(0)->set_op_type("Compress");
  body.mutable_node(0)->set_input(1, "keep");
  body.mutable_output(2)->set_name("w");
  for (int i : {1, 2})
    body.mutable_output(i)->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(2);
  CHECK_THAT(model.import(), Contains("output 'w' of the loop's body has size") && Contains("where it declares 2"));
  model.graph().mutable_output(0)->set_name("s");
  model.graph().mutable_output(1)->set_name("y");
  CHECK(model.runFloats({intTensor({}, {2}), floatTensor({2}, {1, 2}), boolTensor({2}, {1, 1})}) ==
        std::vector<float>{1, 2, 1, 2});
}

TEST_CASE("a Loop that never ends is an error") {
  OnnxModel model = loopModel();
  model.graph().mutable_node(0)->set_input(0, "");
  CHECK_THAT(model.import(), StartsWith("error: model.onnx: node 'loop' (Loop): it never ends; "));
}

TEST_CASE("a body that does not fit the Loop is an error") {
  OnnxModel inputs = loopModel();
  addInput(*inputs.graph().mutable_node(0)->mutable_attribute(0)->mutable_g(), "extra");
  CHECK_THAT(inputs.import(), Contains("graph 'body' has 4 inputs where 3 are needed"));
  OnnxModel dtype = loopModel();
  ::onnx::NodeProto &cast = *dtype.graph().mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_node(0);
  cast.set_op_type("Shape");
  cast.mutable_input()->RemoveLast();
  CHECK_THAT(dtype.import(), Contains("carried tensor 0 is [n] of float32 and becomes [1] of int64"));
}

/// y, t = running sums of x's slices [3, 2] from s on: the last one, and all.
static OnnxModel scanModel(int64_t opset = 21, int slices = 3) {
  OnnxModel model(opset);
  model.input("s", {2}).input("x", {slices, 2}).output("y").output("t");
  ::onnx::NodeProto &node = model.node("Scan", {"s", "x"}, {"y", "t"});
  node.set_name("scan");
  setInt(node, "num_scan_inputs", 1);
  ::onnx::GraphProto &body = setGraph(node, "body");
  addInput(body, "before");
  addInput(body, "now");
  addNode(body, "Add", {"before", "now"}, {"sum"});
  addNode(body, "Identity", {"sum"}, {"seen"});
  for (const char *name : {"sum", "seen"})
    addOutput(body, name);
  return model;
}

static std::vector<float> secondOf(const OnnxModel &model, std::vector<HostTensor> inputs) {
  HostTensor all = model.run(inputs)[1];
  llvm::ArrayRef<float> elements = all.elements<float>();
  return {elements.begin(), elements.end()};
}

TEST_CASE("Scan runs its body on each slice, from either end") {
  std::vector<HostTensor> inputs{floatTensor({2}, {0, 10}), floatTensor({3, 2}, {1, 2, 3, 4, 5, 6})};
  OnnxModel model = scanModel();
  CHECK(model.runFloats(inputs) == std::vector<float>{9, 22});
  CHECK(secondOf(model, inputs) == std::vector<float>{1, 12, 4, 16, 9, 22});
  setInts(*model.graph().mutable_node(0), "scan_input_directions", {1});
  CHECK(secondOf(model, inputs) == std::vector<float>{5, 16, 8, 20, 9, 22});
  setInts(*model.graph().mutable_node(0), "scan_output_directions", {1});
  CHECK(secondOf(model, inputs) == std::vector<float>{9, 22, 8, 20, 5, 16});
}

TEST_CASE("Scan of no slices gives its states as they were, and nothing stacked") {
  for (int64_t backwards : {0, 1}) {
    OnnxModel model = scanModel(21, 0);
    setInts(*model.graph().mutable_node(0), "scan_input_directions", {backwards});
    std::vector<HostTensor> results = model.run({floatTensor({2}, {3, 10}), floatTensor({0, 2}, {})});
    CHECK(results[0].elements<float>().vec() == std::vector<float>{3, 10});
    CHECK(results[1].dims == kiln::interp::Dims{0, 2});
  }
}

TEST_CASE("Scan's slices lie along the axes that it names") {
  OnnxModel model = scanModel();
  model.graph().mutable_input(1)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()->SwapElements(
      0, 1);
  setInts(*model.graph().mutable_node(0), "scan_input_axes", {1});
  setInts(*model.graph().mutable_node(0), "scan_output_axes", {-1});
  CHECK(secondOf(model, {floatTensor({2}, {0, 10}), floatTensor({2, 3}, {1, 3, 5, 2, 4, 6})}) ==
        std::vector<float>{1, 4, 9, 12, 16, 22});
}

TEST_CASE("the first Scan has a batch before its slices") {
  OnnxModel model(8);
  model.input("s", {2, 1}).input("x", {2, 3, 1}).output("y").output("t");
  ::onnx::NodeProto &node = model.node("Scan", {"", "s", "x"}, {"y", "t"});
  ::onnx::NodeProto given = scanModel(8).graph().node(0);
  node.mutable_attribute()->CopyFrom(given.attribute());
  std::vector<HostTensor> inputs{floatTensor({2, 1}, {0, 10}), floatTensor({2, 3, 1}, {1, 2, 3, 4, 5, 6})};
  CHECK(model.runFloats(inputs) == std::vector<float>{6, 25});
  CHECK(secondOf(model, inputs) == std::vector<float>{1, 3, 6, 14, 19, 25});
}

TEST_CASE("a body that does not fit the Scan is an error") {
  OnnxModel changes = scanModel();
  ::onnx::GraphProto &body = *changes.graph().mutable_node(0)->mutable_attribute(1)->mutable_g();
  body.mutable_node(0)->set_op_type("Concat");
  setInt(*body.mutable_node(0), "axis", 0);
  CHECK_THAT(changes.import(), Contains("node 'scan' (Scan): state 0 is [2] of float32 and becomes [4] of float32"));
  OnnxModel many = scanModel();
  many.graph().mutable_node(0)->mutable_attribute(0)->set_i(3);
  CHECK_THAT(many.import(), Contains("its body has 2 inputs for 2 tensors, of which 3 are scanned"));
}

TEST_CASE("whether an optional is there is known at import") {
  OnnxModel model(21);
  model.input("x", {2}).output("y").node("OptionalHasElement", {"x"}, {"has"});
  model.node("OptionalHasElement", {""}, {"none"});
  model.node("OptionalGetElement", {"x"}, {"element"});
  model.node("Cast", {"none"}, {"number"});
  setInt(*model.graph().mutable_node(3), "to", Proto::FLOAT);
  model.node("Where", {"has", "element", "number"}, {"y"});
  CHECK(model.runFloats({floatTensor({2}, {1, 2})}) == std::vector<float>{1, 2});
  model.graph().mutable_node(4)->set_input(0, "none");
  CHECK(model.runFloats({floatTensor({2}, {1, 2})}) == std::vector<float>{0, 0});
}
