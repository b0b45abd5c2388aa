// What surrounds the operators: names, the order of nodes, opsets and domains, defaults, functions of the model. A file
// may hold anything here, functions that call themselves among it, and most users meet the importer first by what it
// says of their file. So besides what is made of a right model, the tests compare the one line that a wrong one gets,
// with the node that it names.
#include "OnnxModel.h"

#include <catch2/catch.hpp>

using namespace kiln::test;
using Catch::Contains;
using Catch::StartsWith;

/// y = Relu(x) on two numbers.
static OnnxModel reluModel(int64_t opset = 20) {
  OnnxModel model(opset);
  model.input("x", {2}).output("y");
  model.node("Relu", {"x"}, {"y"}).set_name("act");
  return model;
}

TEST_CASE("every op has the name of its node") {
  std::string text = importWithLocations(reluModel().bytes());
  CHECK_THAT(text, Contains("loc(\"act\")"));
  OnnxModel unnamed = reluModel();
  unnamed.graph().mutable_node(0)->clear_name();
  CHECK_THAT(importWithLocations(unnamed.bytes()), Contains("loc(\"Relu_0\")"));
}

TEST_CASE("names of inputs and outputs are kept") {
  CHECK_THAT(reluModel().import(), Contains("func.func @main(%arg0: tensor<2xf32> {graph.name = \"x\"}) -> "
                                            "(tensor<2xf32> {graph.name = \"y\"})"));
}

TEST_CASE("a size of an input is not a number below -1, which stands for an unknown one") {
  OnnxModel model = reluModel();
  auto *size = model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0);
  size->set_dim_value(-1);
  CHECK_THAT(model.import(), Contains("x.dim0"));
  size->set_dim_value(-3);
  CHECK(model.import() ==
        "error: model.onnx: input 'x': the size -3 is negative; write -1, or a name, for a size that is not known");
}

TEST_CASE("a model without outputs is none") {
  OnnxModel model = reluModel();
  model.graph().clear_output();
  CHECK(model.import() == "error: model.onnx: the model has no output; name a graph output");
}

TEST_CASE("an undefined name is named, with its node") {
  OnnxModel model = reluModel();
  model.graph().mutable_node(0)->set_input(0, "z");
  CHECK(model.import() == "error: model.onnx: node 'act' (Relu): input 'z' is undefined; no node, input or initializer "
                          "gives it");
  OnnxModel output = reluModel();
  output.graph().mutable_output(0)->set_name("z");
  CHECK(output.import() == "error: model.onnx: output 'z' is undefined; no node, input or initializer gives it");
}

TEST_CASE("a name is made once") {
  OnnxModel twice = reluModel();
  twice.node("Exp", {"x"}, {"y"});
  CHECK_THAT(twice.import(), StartsWith("error: model.onnx: node 'Exp_1' (Exp): output 'y' is made twice; "));
  OnnxModel overInput = reluModel();
  overInput.graph().mutable_node(0)->set_output(0, "x");
  overInput.graph().mutable_node(0)->set_input(0, "w");
  overInput.floats("w", {2}, {1, 2});
  CHECK_THAT(overInput.import(), StartsWith("error: model.onnx: node 'act' (Relu): output 'x' is made twice; "));
  OnnxModel inputs = reluModel();
  inputs.input("x", {2});
  CHECK_THAT(inputs.import(), StartsWith("error: model.onnx: input 'x': the name is given twice; "));
  OnnxModel weights = reluModel();
  weights.floats("w", {1}, {1}).floats("w", {1}, {2});
  CHECK_THAT(weights.import(), StartsWith("error: model.onnx: initializer 'w' is given twice; "));
}

TEST_CASE("nodes in any order are sorted") {
  OnnxModel model;
  model.input("x", {2}).output("y");
  model.node("Exp", {"h"}, {"y"});
  model.node("Relu", {"x"}, {"h"});
  CHECK_THAT(model.import(), Contains(" max %arg0") && Contains(" exp %1"));
}

TEST_CASE("a cycle is an error that names a node on it") {
  OnnxModel model;
  model.input("x", {2}).output("y");
  model.node("Exp", {"b"}, {"y"});
  model.node("Add", {"x", "b"}, {"a"}).set_name("on");
  model.node("Relu", {"a"}, {"b"});
  CHECK(model.import() ==
        "error: model.onnx: node 'Relu_2' (Relu): its inputs depend on its own output; break the cycle");
}

TEST_CASE("unknown operators, domains, opsets and IR versions") {
  OnnxModel op = reluModel();
  op.graph().mutable_node(0)->set_op_type("Relux");
  CHECK_THAT(op.import(), StartsWith("error: model.onnx: node 'act' (Relux): operator 'Relux' is not supported; "));
  OnnxModel domain = reluModel();
  domain.graph().mutable_node(0)->set_domain("com.example");
  CHECK_THAT(
      domain.import(),
      StartsWith("error: model.onnx: node 'act' (com.example:Relu): operator 'com.example:Relu' is not supported; "
                 "export the model with ONNX's own operators"));
  OnnxModel runtimes = reluModel();
  ::onnx::NodeProto &node = *runtimes.graph().mutable_node(0);
  node.set_domain("com.microsoft");
  CHECK_THAT(runtimes.import(),
             Contains("operator 'com.microsoft:Relu' is not supported; ") && Contains("docs/onnx-operators.md lists"));
  node.set_op_type("BeamSearch");
  CHECK_THAT(runtimes.import(), Contains("operator 'com.microsoft:BeamSearch' is not supported: it runs a decoder again"
                                         " and again until a text ends; compile the decoder, and"));
  node.set_domain("com.microsoft.nchwc");
  node.set_op_type("Conv");
  CHECK_THAT(runtimes.import(), Contains("operator 'com.microsoft.nchwc:Conv' is not supported: ONNX Runtime saved"));
  CHECK(reluModel(29).import() ==
        "error: model.onnx: opset 29 is not known; export the model with an opset from 1 to 28");
  OnnxModel none = reluModel();
  none.proto.clear_opset_import();
  CHECK_THAT(none.import(), Contains("the model imports no opset of domain ''"));
  OnnxModel version = reluModel();
  version.proto.set_ir_version(99);
  CHECK_THAT(version.import(), StartsWith("error: model.onnx: IR version 99 is not known; "));
  OnnxModel older(13);
  older.input("x", {2}).output("y");
  older.node("HardSwish", {"x"}, {"y"});
  CHECK_THAT(older.import(), Contains("'HardSwish' came with opset 14; the model imports 13"));
}

TEST_CASE("attributes of the wrong type, unknown ones and ones given twice") {
  OnnxModel type = reluModel();
  type.graph().mutable_node(0)->set_op_type("LeakyRelu");
  setInt(*type.graph().mutable_node(0), "alpha", 1);
  CHECK(type.import() == "error: model.onnx: node 'act' (LeakyRelu): attribute 'alpha' is of type INT where FLOAT is "
                         "needed; give it that type");
  OnnxModel unknown = reluModel();
  setInt(*unknown.graph().mutable_node(0), "alpha", 1);
  CHECK(unknown.import() ==
        "error: model.onnx: node 'act' (Relu): attribute 'alpha' is not known in opset 20; remove it");
  OnnxModel twice = type;
  setInt(*twice.graph().mutable_node(0), "alpha", 1);
  CHECK_THAT(twice.import(), Contains("attribute 'alpha' is given twice"));
}

TEST_CASE("inputs that are not tensors of known rank and dtype") {
  OnnxModel sequence = reluModel();
  sequence.graph().mutable_input(0)->mutable_type()->mutable_sequence_type();
  CHECK_THAT(sequence.import(), StartsWith("error: model.onnx: input 'x': it is not a tensor; "));
  OnnxModel rank = reluModel();
  rank.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  CHECK_THAT(rank.import(), StartsWith("error: model.onnx: input 'x': its rank is not known; "));
  OnnxModel dtype = reluModel();
  dtype.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(::onnx::TensorProto::COMPLEX64);
  CHECK_THAT(dtype.import(),
             StartsWith("error: model.onnx: input 'x': dtype COMPLEX64 is not supported; dtypes are bool, "));
}

TEST_CASE("an output's declared dtype is held to") {
  OnnxModel model = reluModel();
  model.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(::onnx::TensorProto::INT64);
  CHECK(model.import() ==
        "error: model.onnx: output 'y' is declared as INT64 but computed as float32; declare it so, or cast it");
}

TEST_CASE("shapes that do not fit are the node's error") {
  OnnxModel model;
  model.input("x", {2, 3}).input("w", {4, 5}).output("y");
  model.node("MatMul", {"x", "w"}, {"y"}).set_name("product");
  CHECK_THAT(model.import(),
             StartsWith("error: model.onnx: node 'product' (MatMul): cannot multiply [2, 3] and [4, 5]"));
}

TEST_CASE("too few inputs and too many outputs") {
  OnnxModel few = reluModel();
  few.graph().mutable_node(0)->clear_input();
  CHECK(few.import() == "error: model.onnx: node 'act' (Relu): input 0 is missing; the operator needs it");
  OnnxModel many = reluModel();
  many.graph().mutable_node(0)->add_output("z");
  CHECK(many.import() ==
        "error: model.onnx: node 'act' (Relu): it has 2 outputs where the operator gives 1; leave the others out");
}

TEST_CASE("an error is one line, whatever the model's names hold") {
  OnnxModel model = reluModel();
  model.graph().mutable_node(0)->set_name("a\nb" + std::string(1000, 'c'));
  model.graph().mutable_node(0)->set_input(0, "z\x01");
  std::string text = model.import();
  CHECK_THAT(text, StartsWith("error: model.onnx: node 'a bcc") && Contains("input 'z?' is undefined"));
  CHECK(text.size() < 400);
}

//===----------------------------------------------------------------------===//
// Stored defaults
//===----------------------------------------------------------------------===//

TEST_CASE("an input's initializer is its default, and a weight before IR version 4") {
  OnnxModel model = reluModel();
  model.floats("x", {2}, {1, 2});
  CHECK_THAT(model.import(), Contains("graph.name = \"x\", graph.value = dense<[1.000000e+00, 2.000000e+00]>"));
  model.proto.set_ir_version(3);
  CHECK_THAT(model.import(), Contains("func.func @main() ->") && Contains("graph.weight \"x\""));
}

TEST_CASE("a default of another shape is refused") {
  OnnxModel model = reluModel();
  model.floats("x", {3}, {1, 2, 3});
  CHECK_THAT(model.import(), Contains("input 'x': its stored default has another shape or dtype"));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static ::onnx::FunctionProto &addFunction(OnnxModel &model, const std::string &name) {
  ::onnx::FunctionProto &function = *model.proto.add_functions();
  function.set_name(name);
  function.set_domain("local");
  function.add_input("a");
  function.add_output("b");
  function.add_opset_import()->set_version(20);
  ::onnx::OperatorSetIdProto &own = *function.add_opset_import();
  own.set_domain("local");
  own.set_version(1);
  return function;
}

static ::onnx::NodeProto &addNode(::onnx::FunctionProto &function, const std::string &op,
                                  const std::string &domain = "") {
  ::onnx::NodeProto &node = *function.add_node();
  node.set_op_type(op);
  node.set_domain(domain);
  node.add_input("a");
  node.add_output("b");
  return node;
}

static OnnxModel callingModel(const std::string &name) {
  OnnxModel model;
  model.input("x", {2}).output("y");
  ::onnx::NodeProto &call = model.node(name, {"x"}, {"y"});
  call.set_domain("local");
  call.set_name("call");
  return model;
}

TEST_CASE("a flag is 0 or 1") {
  OnnxModel mean = reluModel();
  ::onnx::NodeProto &node = *mean.graph().mutable_node(0);
  node.set_op_type("ReduceMean");
  ::onnx::AttributeProto &keeps = *node.add_attribute();
  keeps.set_name("keepdims");
  keeps.set_type(::onnx::AttributeProto::INT);
  keeps.set_i(2);
  CHECK_THAT(mean.import(), Contains("node 'act' (ReduceMean): attribute 'keepdims' is 2; it has to be 0 or 1"));
}

TEST_CASE("a function of the model is inlined, with the call's name before its nodes'") {
  OnnxModel model = callingModel("Leaky");
  addNode(addFunction(model, "Leaky"), "Relu");
  CHECK_THAT(importWithLocations(model.bytes()), Contains(" max %arg0") && Contains("loc(\"call/Relu_0\")"));
}

TEST_CASE("a function's node takes attributes of the call, or the function's defaults") {
  OnnxModel model = callingModel("Leaky");
  ::onnx::FunctionProto &function = addFunction(model, "Leaky");
  function.add_attribute("slope");
  ::onnx::AttributeProto &reference = *addNode(function, "LeakyRelu").add_attribute();
  reference.set_name("alpha");
  reference.set_ref_attr_name("slope");
  reference.set_type(::onnx::AttributeProto::FLOAT);
  CHECK_THAT(model.import(), Contains("0.00999999977")); // the operator's own default
  ::onnx::AttributeProto &standard = *function.add_attribute_proto();
  standard.set_name("slope");
  standard.set_type(::onnx::AttributeProto::FLOAT);
  standard.set_f(0.25);
  CHECK_THAT(model.import(), Contains("2.500000e-01"));
  setFloat(*model.graph().mutable_node(0), "slope", 0.5);
  CHECK_THAT(model.import(), Contains("5.000000e-01"));
}

TEST_CASE("an input that a call leaves out is absent within") {
  OnnxModel model = callingModel("Clamp");
  ::onnx::FunctionProto &function = addFunction(model, "Clamp");
  function.add_input("low");
  function.add_input("high");
  ::onnx::NodeProto &clip = addNode(function, "Clip");
  clip.add_input("low");
  clip.add_input("high");
  model.graph().mutable_node(0)->add_input("");
  model.graph().mutable_node(0)->add_input("top");
  model.floats("top", {}, {6});
  CHECK_THAT(model.import(), Contains(" min %arg0") && !Contains(" max %arg0"));
}

TEST_CASE("a function does not see the names around its call") {
  OnnxModel model = callingModel("Peek");
  addNode(addFunction(model, "Peek"), "Relu").set_input(0, "x");
  CHECK_THAT(model.import(), Contains("node 'call' (local:Peek): node 'Relu_0' (Relu): input 'x' is undefined"));
}

TEST_CASE("a function that calls itself is an error") {
  OnnxModel model = callingModel("Ping");
  addNode(addFunction(model, "Ping"), "Pong", "local");
  addNode(addFunction(model, "Pong"), "Ping", "local");
  CHECK(model.import() ==
        "error: model.onnx: node 'call' (local:Ping): node 'Pong_0' (local:Pong): node 'Ping_0' (local:Ping): function "
        "'Ping' calls itself; use a Loop");
}

TEST_CASE("functions that multiply without end are an error") {
  OnnxModel model = callingModel("f0");
  for (int i = 0; i < 60; ++i) {
    ::onnx::FunctionProto &function = addFunction(model, "f" + std::to_string(i));
    std::string callee = i == 59 ? "Identity" : "f" + std::to_string(i + 1);
    addNode(function, callee, i == 59 ? "" : "local").set_output(0, "c");
    addNode(function, callee, i == 59 ? "" : "local").set_input(0, "c");
  }
  CHECK_THAT(model.import(), Contains("the model has over 1000000 nodes"));
}

TEST_CASE("calls that nest too deep are an error") {
  OnnxModel model = callingModel("f0");
  for (int i = 0; i < 300; ++i)
    addNode(addFunction(model, "f" + std::to_string(i)), i == 299 ? "Relu" : "f" + std::to_string(i + 1),
            i == 299 ? "" : "local");
  CHECK_THAT(model.import(), Contains("graphs and calls nest over 200 deep; nest them less"));
}

TEST_CASE("a node without an output is an error, and so are queries and keys of different sizes") {
  OnnxModel none;
  none.input("x", {2}, ::onnx::TensorProto::BOOL).output("x");
  none.node("NonZero", {"x"}, {});
  CHECK_THAT(none.import(), Catch::Contains("(NonZero): it has no output; remove it"));
  OnnxModel attention(23);
  attention.input("q", {1, 1, 2, 3}).input("k", {1, 1, 2, 4}).input("v", {1, 1, 2, 4}).output("y");
  attention.node("Attention", {"q", "k", "v"}, {"y"});
  CHECK_THAT(attention.import(), Catch::Contains("(Attention): ") && Catch::Contains("3") && Catch::Contains("4"));
}
