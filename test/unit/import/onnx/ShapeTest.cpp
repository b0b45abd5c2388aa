// Exporters write arithmetic of shapes as nodes: Shape, Gather, Mul, Concat into a Reshape. If the importer kept it as
// data every size after it would be unknown, so it follows lists of sizes symbolically, through whatever exporters put
// between. The tests are such patterns, and mostly look in the module's text at the sizes that come out.
#include "OnnxModel.h"

#include <catch2/catch.hpp>

using namespace kiln::test;
using Catch::Contains;

TEST_CASE("a dim_param is a symbol, an expression over others their expression") {
  OnnxModel model;
  model.input("x", {"past + seq", 4}).input("p", {"past"}).input("s", {"seq"}).output("y");
  model.node("Relu", {"x"}, {"y"});
  std::string text = model.import();
  CHECK_THAT(text, Contains("%arg0: tensor<?x4xf32, #kiln.dims<[\"(past+seq)\", 4]>>"));
  CHECK_THAT(text, Contains("#kiln.symbol<\"past\", 0 to 2147483647, default 1>"));
}

TEST_CASE("an expression over names that no input has is a name") {
  OnnxModel model;
  model.input("x", {"a + b"}).output("y");
  model.node("Relu", {"x"}, {"y"});
  CHECK_THAT(model.import(), Contains("#kiln.symbol<\"a + b\", "));
}

TEST_CASE("a number as a dim_param gives no size") {
  OnnxModel model;
  model.input("x", {"0"}).output("y");
  model.node("Relu", {"x"}, {"y"});
  CHECK_THAT(model.import(), Contains("#kiln.symbol<\"x.dim0\", 0 to 2147483647"));
}

TEST_CASE("an anonymous dim gets a name of its own") {
  OnnxModel model;
  model.input("x", {2, ""}).input("z", {-1}).output("y");
  model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(1)->Clear();
  model.node("Relu", {"x"}, {"y"});
  CHECK_THAT(model.import(), Contains("#kiln.dims<[2, \"x.dim1\"]>") && Contains("#kiln.dims<[\"z.dim0\"]>"));
}

TEST_CASE("--dim bounds a symbol or makes it a number") {
  OnnxModel model;
  model.input("x", {"batch", 3}).output("y");
  model.node("Relu", {"x"}, {"y"});
  ImportOptions options;
  options.dims["batch"] = {2, 8, 4};
  CHECK_THAT(model.import(options), Contains("#kiln.symbol<\"batch\", 2 to 8, default 4>"));
  options.dims["batch"] = {5, 5, 5};
  CHECK_THAT(model.import(options), Contains("tensor<5x3xf32>") && Contains("kiln.symbols = []"));
}

TEST_CASE("--dim of a size that the model has not is an error that names those it has") {
  OnnxModel model;
  model.input("x", {"batch", "seq"}).output("y");
  model.node("Relu", {"x"}, {"y"});
  ImportOptions options;
  options.dims["bach"] = {2, 2, 2};
  CHECK(model.import(options) ==
        "error: model.onnx: --dim names 'bach', which is not a size of the model; it has batch, seq");
}

/// x [batch, seq, 48] reshaped by what exporters make of x.reshape(batch * seq, 48).
TEST_CASE("shape arithmetic stays symbolic") {
  OnnxModel model;
  model.input("x", {"batch", "seq", 48}).output("y").ints("zero", {0}, true).ints("one", {1}, true).ints("axis", {0});
  model.ints("width", {48});
  model.node("Shape", {"x"}, {"shape"});
  model.node("Gather", {"shape", "zero"}, {"batch"});
  model.node("Gather", {"shape", "one"}, {"seq"});
  model.node("Mul", {"batch", "seq"}, {"rows"});
  model.node("Unsqueeze", {"rows", "axis"}, {"rows1"});
  setInt(model.node("Concat", {"rows1", "width"}, {"target"}), "axis", 0);
  model.node("Reshape", {"x", "target"}, {"y"});
  std::string text = model.import();
  CHECK_THAT(text, Contains("-> (tensor<?x48xf32, #kiln.dims<[\"(batch*seq)\", 48]>>"));
  CHECK_THAT(text, !Contains("graph.size") && !Contains("graph.gather"));
}

/// What is missing to a multiple of 4, as exporters without a remainder of shapes write it: (4 - (n - n/4·4))/2.
TEST_CASE("a remainder of shapes has bounds, and what is divided of it stays symbolic") {
  OnnxModel model;
  model.input("x", {"n"}).output("y").ints("four", {4}).ints("two", {2});
  model.node("Shape", {"x"}, {"n"});
  model.node("Div", {"n", "four"}, {"whole"});
  model.node("Mul", {"whole", "four"}, {"most"});
  model.node("Sub", {"n", "most"}, {"rest"});
  model.node("Sub", {"four", "rest"}, {"missing"});
  model.node("Div", {"missing", "two"}, {"half"});
  model.node("ConstantOfShape", {"half"}, {"y"});
  CHECK_THAT(model.import(), !Contains("graph.bind") && !Contains("graph.size"));
  CHECK(model.runFloats({floatTensor({5}, {0, 0, 0, 0, 0})}).size() == 1);
  CHECK(model.runFloats({floatTensor({4}, {0, 0, 0, 0})}).size() == 2);
}

/// How many frames of 4 elements, 2 apart, a signal has: 0 or 1 + (n - 4)/2, as TensorFlow counts them.
TEST_CASE("a size that may be negative before it is divided stays symbolic") {
  OnnxModel model;
  model.input("x", {"n"}).output("y").ints("four", {4}).ints("two", {2}).ints("one", {1}).ints("none", {0});
  model.node("Shape", {"x"}, {"n"});
  model.node("Sub", {"n", "four"}, {"rest"});
  model.node("Div", {"rest", "two"}, {"whole"});
  model.node("Add", {"whole", "one"}, {"more"});
  model.node("Max", {"more", "none"}, {"frames"});
  model.node("ConstantOfShape", {"frames"}, {"y"});
  CHECK_THAT(model.import(), !Contains("graph.bind") && !Contains("graph.size"));
  CHECK(model.runFloats({floatTensor({7}, std::vector<float>(7))}).size() == 2);
  CHECK(model.runFloats({floatTensor({3}, std::vector<float>(3))}).size() == 1); // division is towards 0
  CHECK(model.runFloats({floatTensor({1}, std::vector<float>(1))}).empty());
}

TEST_CASE("tables of sizes stay symbolic where they are stacked, split and joined") {
  OnnxModel model;
  model.input("x", {"n", "m"}).output("y").ints("zero", {0}).ints("flat", {-1}).ints("ones", {1, 1, 1, 1});
  model.node("Shape", {"x"}, {"sizes"});
  model.node("Unsqueeze", {"sizes", "zero"}, {"row"});
  setInt(model.node("Concat", {"row", "row"}, {"table"}), "axis", 0);
  model.node("Reshape", {"table", "flat"}, {"all"});
  model.node("Split", {"all", "ones"}, {"a", "b", "c", "d"});
  setInt(model.node("Concat", {"d", "a"}, {"target"}), "axis", 0);
  model.node("Reshape", {"x", "target"}, {"y"});
  CHECK_THAT(model.import(), Contains("#kiln.dims<[\"m\", \"n\"]>") && !Contains("graph.size"));
}

TEST_CASE("a size that is read as data is an op") {
  OnnxModel model;
  model.input("x", {"n"}).output("y");
  model.node("Size", {"x"}, {"count"});
  setInt(model.node("Cast", {"count"}, {"f"}), "to", 1);
  model.node("Div", {"x", "f"}, {"y"});
  CHECK_THAT(model.import(), Contains("graph.size <\"n\"> : tensor<i64>"));
}

TEST_CASE("a list of sizes read as data holds each of them") {
  OnnxModel model;
  model.input("x", {"n", 3}).output("y");
  model.node("Shape", {"x"}, {"y"});
  CHECK(model.runInts({floatTensor({2, 3}, {1, 2, 3, 4, 5, 6})}) == std::vector<int64_t>{2, 3});
}

TEST_CASE("Reshape: 0 copies, -1 is what is left, allowzero is zero") {
  OnnxModel model;
  model.input("x", {"n", 4, 6}).output("y").ints("shape", {0, -1, 3});
  model.node("Reshape", {"x", "shape"}, {"y"});
  CHECK_THAT(model.import(), Contains("#kiln.dims<[\"n\", 8, 3]>"));
  OnnxModel empty;
  empty.input("x", {0, 4}).output("y").ints("shape", {4, 0});
  setInt(empty.node("Reshape", {"x", "shape"}, {"y"}), "allowzero", 1);
  CHECK_THAT(empty.import(), Contains("tensor<4x0xf32>"));
  OnnxModel copied;
  copied.input("x", {0, 4, 6}).output("y").ints("shape", {0, -1, 3});
  copied.node("Reshape", {"x", "shape"}, {"y"});
  CHECK_THAT(copied.import(), Contains("tensor<0x8x3xf32>"));
  OnnxModel misfit;
  misfit.input("x", {2, 4}).output("y").ints("shape", {3, -1});
  misfit.node("Reshape", {"x", "shape"}, {"y"});
  CHECK_THAT(misfit.import(), Contains("error: ") && Contains("cannot reshape [2, 4] to [3, -1]"));
}

TEST_CASE("Reshape: a copied 0 says nothing of the size for -1, known at import or not") {
  OnnxModel model;
  model.input("x", {"n", 4, 6}).input("shape", {3}, ::onnx::TensorProto::INT64).output("y");
  model.node("Reshape", {"x", "shape"}, {"y"});
  std::vector<HostTensor> results = model.run({floatTensor({0, 4, 6}, {}), intTensor({3}, {0, -1, 3})});
  CHECK(llvm::ArrayRef(results.front().dims) == llvm::ArrayRef<int64_t>{0, 8, 3});
}

TEST_CASE("Reshape to a shape that is data is checked when the program runs") {
  OnnxModel model;
  model.input("x", {6}).input("shape", {2}, ::onnx::TensorProto::INT64).output("y");
  model.node("Reshape", {"x", "shape"}, {"y"});
  CHECK_THAT(model.import(), Contains("graph.check"));
}

TEST_CASE("a shape that is data is bound at run time") {
  OnnxModel model;
  model.input("x", {6}).input("shape", {2}, ::onnx::TensorProto::INT64).output("y");
  model.node("ConstantOfShape", {"shape"}, {"y"});
  std::string text = model.import();
  CHECK_THAT(text, Contains("graph.bind <\"shape.0\", 0 to 2147483647, default 1>"));
  CHECK_THAT(text, Contains("#kiln.dims<[\"shape.0\", \"shape.1\"]>"));
}

TEST_CASE("Where(Equal(shape, -1), ones, shape), as exporters write Expand") {
  OnnxModel model;
  model.input("x", {1, 3}).input("z", {"n"}).output("y").ints("minus", {-1}).ints("ones", {1, 1}).ints("three", {3});
  model.node("Shape", {"z"}, {"n"});
  setInt(model.node("Concat", {"n", "three"}, {"shape"}), "axis", 0);
  model.node("Equal", {"shape", "minus"}, {"open"});
  model.node("Where", {"open", "ones", "shape"}, {"target"});
  model.node("Expand", {"x", "target"}, {"y"});
  CHECK_THAT(model.import(), Contains("#kiln.dims<[\"n\", 3]>") && !Contains("cmpeq"));
}

TEST_CASE("Slice of a symbolic axis from its end") {
  OnnxModel model;
  model.input("x", {"n", 4}).output("y").ints("from", {-3}).ints("to", {INT64_MAX}).ints("axes", {1});
  model.node("Slice", {"x", "from", "to", "axes"}, {"y"});
  CHECK_THAT(model.import(), Contains("graph.shrink") && Contains("#kiln.dims<[\"n\", 3]>"));
}

TEST_CASE("Range over a size") {
  OnnxModel model;
  model.input("x", {"n"}).output("y").ints("zero", {0}, true).ints("one", {1}, true);
  model.node("Size", {"x"}, {"n"});
  model.node("Range", {"zero", "n", "one"}, {"y"});
  CHECK_THAT(model.import(), Contains("-> (tensor<?xi64, #kiln.dims<[\"n\"]>>"));
  CHECK(model.runInts({floatTensor({4}, {1, 1, 1, 1})}) == std::vector<int64_t>{0, 1, 2, 3});
}

TEST_CASE("integer arithmetic at import does not overflow") {
  OnnxModel model;
  model.output("y").ints("least", {INT64_MIN}).ints("minus", {-1});
  model.node("Div", {"least", "minus"}, {"y"});
  CHECK(model.runInts({}) == std::vector<int64_t>{INT64_MIN});
  OnnxModel range;
  range.output("y").ints("from", {INT64_MIN}, true).ints("to", {INT64_MAX}, true).ints("by", {INT64_MAX}, true);
  range.node("Range", {"from", "to", "by"}, {"y"});
  CHECK_THAT(range.import(), Contains("is too long; bounds are within 2^62 of 0"));
}

/// x [batch, seq] and a table of positions cut at seq: x + table[:, :seq].
static OnnxModel positions(int64_t length, OnnxModel::Dims dims) {
  OnnxModel model;
  model.input("x", dims).output("y").ints("zero", {0}).ints("axis", {1});
  std::vector<float> table(length, 1.0f);
  model.floats("table", {1, length}, table);
  setInt(model.node("Shape", {"x"}, {"seq"}), "start", 1);
  model.node("Slice", {"table", "zero", "seq", "axis"}, {"part"});
  model.node("Add", {"x", "part"}, {"y"});
  return model;
}

TEST_CASE("a table that is cut at a size bounds it") {
  OnnxModel model = positions(3, {"batch", "seq"});
  CHECK_THAT(model.import(),
             Contains("#kiln.symbol<\"seq\", 0 to 3, default 1>") && Contains("\"batch\", 0 to 2147483647"));
  CHECK(model.runFloats({floatTensor({1, 3}, {1, 2, 3})}) == std::vector<float>{2, 3, 4});
}

TEST_CASE("--dim decides against a table that is too short") {
  ImportOptions options;
  options.dims["seq"] = {0, 8, 1};
  CHECK_THAT(positions(3, {"batch", "seq"}).import(options), Contains("cannot broadcast"));
}

TEST_CASE("the sizes of which a table's cut is made are bounded only where there is one") {
  CHECK_THAT(positions(3, {"batch", 4}).import(), Contains("cannot broadcast"));
}

TEST_CASE("a triangle of a symbolic size may be of none") {
  OnnxModel model;
  model.input("x", {"n", "n"}).output("y");
  model.node("Trilu", {"x"}, {"y"});
  CHECK(model.runFloats({floatTensor({0, 0}, {})}).empty());
  CHECK(model.runFloats({floatTensor({2, 2}, {1, 2, 3, 4})}) == std::vector<float>{1, 2, 0, 4});
}

/// PyTorch has amounts to pad from the last axis to the first, an axis' two side by side, and turns them for ONNX.
TEST_CASE("amounts to pad stay symbolic where they are turned as a list of lists") {
  OnnxModel model(13);
  model.input("x", {"rows", 3})
      .output("y")
      .ints("first", {0})
      .ints("none", {0})
      .ints("pairs", {-1, 2})
      .ints("flat", {-1});
  model.ints("last", {-1}).ints("begin", {INT64_MIN + 1}).ints("one", {1});
  model.node("Shape", {"x"}, {"shape"});
  model.node("Gather", {"shape", "first"}, {"rows"});
  setInt(model.node("Concat", {"none", "one", "none", "rows"}, {"amounts"}), "axis", 0);
  model.node("Reshape", {"amounts", "pairs"}, {"paired"});
  model.node("Slice", {"paired", "last", "begin", "first", "last"}, {"turned"});
  model.node("Transpose", {"turned"}, {"sides"});
  model.node("Reshape", {"sides", "flat"}, {"pads"});
  model.node("Pad", {"x", "pads"}, {"y"});
  std::string text = model.import();
  CHECK_THAT(text, Contains("#kiln.dims<[\"(rows*2)\", 4]>") && !Contains("graph.bind"));
  CHECK(model.runFloats({floatTensor({1, 3}, {1, 2, 3})}) == std::vector<float>{1, 2, 3, 0, 0, 0, 0, 0});
}

TEST_CASE("a diagonal of EyeLike that lies outside any matrix leaves zeros") {
  for (int64_t k : {int64_t(1) << 31, INT64_MAX, INT64_MIN, -(int64_t(1) << 31)}) {
    OnnxModel model;
    model.input("x", {2, 3}).output("y");
    setInt(model.node("EyeLike", {"x"}, {"y"}), "k", k);
    CHECK(model.runFloats({floatTensor({2, 3}, {1, 2, 3, 4, 5, 6})}) == std::vector<float>(6, 0));
  }
}

TEST_CASE("logarithms of sums of integers are cut to integers") {
  OnnxModel model;
  model.input("x", {3}, ::onnx::TensorProto::INT64).output("s").output("e");
  model.node("ReduceLogSum", {"x"}, {"s"});
  model.node("ReduceLogSumExp", {"x"}, {"e"});
  std::vector<HostTensor> got = model.run({intTensor({3}, {1, 2, 3})});
  CHECK(got[0].elements<int64_t>()[0] == 1); // log 6
  CHECK(got[1].elements<int64_t>()[0] == 3); // 3.4
}
