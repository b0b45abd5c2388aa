// A file's sizes of its inputs are often no more than a hint: exporters write one name for all unknown sizes, or leave
// the shape out. The user can say more. Tests look at the resulting symbols.
#include "OnnxModel.h"

#include <catch2/catch.hpp>

using namespace kiln::test;
using Catch::Contains;

TEST_CASE("sizes called ? or None are each their own") {
  for (const char *name : {"?", "None", "-1", "unk__7"}) {
    OnnxModel model;
    model.input("x", {1, 3, name, name}).output("y");
    model.node("Relu", {"x"}, {"y"});
    CHECK_THAT(model.import(), Contains("\"x.dim3\"]"));
  }
}

TEST_CASE("inputs that share a name have sizes of their own where no operator brings them together") {
  OnnxModel model;
  model.input("a", {"n", 2}).input("b", {"n", 2}).input("c", {"n", 2}).output("y").output("z");
  model.node("Relu", {"b"}, {"y"});
  model.node("Add", {"a", "c"}, {"z"});
  std::string text = model.import();
  CHECK_THAT(text, Contains("%arg0: tensor<?x2xf32, #kiln.dims<[\"n\", 2]>>"));
  CHECK_THAT(text, Contains("%arg1: tensor<?x2xf32, #kiln.dims<[\"b.dim0\", 2]>>"));
  CHECK_THAT(text, Contains("%arg2: tensor<?x2xf32, #kiln.dims<[\"n\", 2]>>"));
  CHECK_THAT(text, !Contains("graph.check"));
}

TEST_CASE("a concatenation of sizes of one name does not want them equal, what is added does") {
  OnnxModel model;
  model.input("a", {"n", 2}).input("b", {"n", 2}).output("y");
  setInt(model.node("Concat", {"a", "b"}, {"y"}), "axis", 0);
  CHECK_THAT(model.import(), Contains("\"(n+b.dim0)\"") || Contains("\"(b.dim0+n)\""));
  CHECK(model.runFloats({floatTensor({1, 2}, {1, 2}), floatTensor({2, 2}, {3, 4, 5, 6})}) ==
        std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("a name twice in one input is one size only where an operator needs that") {
  OnnxModel plain;
  plain.input("x", {"n", "n"}).output("y");
  plain.node("Relu", {"x"}, {"y"});
  CHECK_THAT(plain.import(), Contains("#kiln.dims<[\"n\", \"x.dim1\"]>"));
  CHECK(plain.runFloats({floatTensor({1, 3}, {1, -2, 3})}) == std::vector<float>{1, 0, 3});

  OnnxModel square;
  square.input("x", {"n", "n"}).output("y");
  square.node("Det", {"x"}, {"y"});
  CHECK_THAT(square.import(), Contains("%arg0: tensor<?x?xf32, #kiln.dims<[\"n\", \"n\"]>>"));
}

TEST_CASE("rows and columns of a product, and indices, may share a name and differ") {
  OnnxModel product;
  product.input("a", {"n", 2}).input("b", {2, "n"}).output("y");
  product.node("MatMul", {"a", "b"}, {"y"});
  CHECK(product.runFloats({floatTensor({1, 2}, {1, 2}), floatTensor({2, 2}, {3, 4, 5, 6})}) ==
        std::vector<float>{13, 16});

  OnnxModel rows;
  rows.input("a", {"n", 2}).input("i", {"n"}, onnx::TensorProto::INT64).output("y");
  rows.node("Gather", {"a", "i"}, {"y"});
  CHECK_THAT(rows.import(), Contains("%arg1: tensor<?xi64, #kiln.dims<[\"i.dim0\"]>>"));
}

TEST_CASE("inputs of as many elements in sum or product do not give their sizes to others") {
  OnnxModel model;
  model.input("a", {"n", "n"}).input("b", {"n", "n"}).output("y");
  model.ints("flat", {-1});
  model.node("Reshape", {"a", "flat"}, {"p"});
  model.node("Reshape", {"b", "flat"}, {"q"});
  model.node("Add", {"p", "q"}, {"y"});
  CHECK(model.runFloats({floatTensor({1, 2}, {1, 2}), floatTensor({2, 1}, {3, 4})}) == std::vector<float>{4, 6});
}

TEST_CASE("--dim of a shared name is of all, of a place of that one") {
  OnnxModel model;
  model.input("a", {"n"}).input("b", {"n"}).output("y").output("z");
  model.node("Relu", {"a"}, {"y"});
  model.node("Relu", {"b"}, {"z"});
  ImportOptions options;
  options.dims["n"] = {3, 3, 3};
  CHECK_THAT(model.import(options), Contains("%arg0: tensor<3xf32>") && Contains("%arg1: tensor<3xf32>"));
  options.dims["b.0"] = {5, 5, 5};
  CHECK_THAT(model.import(options), Contains("%arg0: tensor<3xf32>") && Contains("%arg1: tensor<5xf32>"));
  options.dims["b.1"] = {5, 5, 5};
  CHECK_THAT(model.import(options),
             Contains("error: model.onnx: --dim names 'b.1', and 'b' has 1 axis; it is number 0"));
}

TEST_CASE("an input without a shape gets one from the user or from the data") {
  OnnxModel model;
  model.input("x", {}).output("y");
  model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  model.node("Relu", {"x"}, {"y"});
  CHECK_THAT(model.import(), Contains("input 'x': its rank is not known; give its shape, as in --shape x=1,3,h,w"));
  ImportOptions options;
  options.ranks = {2};
  CHECK_THAT(model.import(options), Contains("[\"x.dim0\", \"x.dim1\"]"));
  options.shapes["x"] = {"1", "h", "2*h", "?"};
  CHECK_THAT(model.import(options), Contains("[1, \"h\", \"(h*2)\", \"x.dim3\"]"));
  options.shapes["z"] = {"1"};
  CHECK_THAT(model.import(options), Contains("--shape names 'z', which is not an input of the model"));
}

TEST_CASE("--shape gives sizes that the model leaves open, not others") {
  OnnxModel model;
  model.input("x", {"n", 3}).output("y");
  model.node("Relu", {"x"}, {"y"});
  ImportOptions options;
  options.shapes["x"] = {"7", "?"};
  CHECK_THAT(model.import(options), Contains("tensor<7x3xf32>"));
  options.shapes["x"] = {"7", "4"};
  CHECK_THAT(model.import(options), Contains("input 'x': --shape gives axis 1 the size 4 where the model has 3"));
  options.shapes["x"] = {"7"};
  CHECK_THAT(model.import(options), Contains("--shape gives it 1 sizes where the model has 2"));
}

TEST_CASE("a default may be of any size") {
  OnnxModel model;
  std::vector<float> values(257, 1);
  values[256] = 5;
  model.input("w", {257}).output("y").floats("w", {257}, values);
  model.node("Relu", {"w"}, {"y"});
  CHECK(model.runFloats({HostTensor()}) == values);
}
