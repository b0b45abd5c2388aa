// ONNX passes axes, shapes and bounds as tensors. Mostly they are constants; here they are inputs, given when the model
// runs, so that sizes are data. If the importer then cannot prove that two sizes are equal or one of them is 1, it
// assumes so and leaves a check to the run. So a test gives lists that fit, and looks at the result, and lists that do
// not, and looks at the check's message.
#include "OnnxModel.h"

#include <catch2/catch.hpp>

using namespace kiln::test;
using Floats = std::vector<float>;
using Ints = llvm::ArrayRef<int64_t>;

/// A node whose further inputs are lists of int64 that are given when it runs.
class Steered {
public:
  Steered(int64_t opset, const std::string &op, OnnxModel::Dims dims) : model(opset) {
    model.input("x", dims).output("y");
    model.node(op, {"x"}, {"y"});
  }
  Steered &by(Ints values) {
    std::string name = "i" + std::to_string(lists.size());
    node().add_input(name);
    model.input(name, {int(values.size())}, ::onnx::TensorProto::INT64);
    lists.push_back(intTensor({int64_t(values.size())}, values));
    return *this;
  }
  Steered &with(const std::string &name, int64_t value) { return setInt(node(), name, value), *this; }
  Steered &withText(const std::string &name, const char *value) { return setString(node(), name, value), *this; }
  HostTensor on(Ints dims, llvm::ArrayRef<float> values) {
    std::vector<HostTensor> inputs{floatTensor(dims, values)};
    inputs.insert(inputs.end(), lists.begin(), lists.end());
    return model.run(inputs).front();
  }
  ::onnx::NodeProto &node() { return *model.graph().mutable_node(0); }

  OnnxModel model;
  std::vector<HostTensor> lists;
};

static void expect(const HostTensor &got, Ints dims, const Floats &values) {
  CHECK(Ints(got.dims) == dims);
  CHECK(Floats(got.elements<float>().begin(), got.elements<float>().end()) == values);
}

static const Floats kSix{1, 2, 3, 4, 5, 6};

TEST_CASE("axes to reduce that are data") {
  expect(Steered(18, "ReduceSum", {2, 3}).by({0}).on({2, 3}, kSix), {1, 3}, {5, 7, 9});
  expect(Steered(18, "ReduceSum", {2, 3}).by({-1}).on({2, 3}, kSix), {2, 1}, {6, 15});
  expect(Steered(18, "ReduceSum", {2, 3}).by({1}).with("keepdims", 0).on({2, 3}, kSix), {2}, {6, 15});
  expect(Steered(18, "ReduceMax", {2, 3}).by({1, 0}).with("keepdims", 0).on({2, 3}, kSix), {}, {6});
  expect(Steered(18, "ReduceMean", {2, 3}).by({}).on({2, 3}, kSix), {1, 1}, {3.5});
}

TEST_CASE("an axis to sum along that is data") {
  expect(Steered(14, "CumSum", {2, 3}).by({0}).on({2, 3}, kSix), {2, 3}, {1, 2, 3, 5, 7, 9});
  expect(Steered(14, "CumSum", {2, 3}).by({-1}).on({2, 3}, kSix), {2, 3}, {1, 3, 6, 4, 9, 15});
  expect(Steered(26, "CumProd", {2, 3}).by({1}).on({2, 3}, kSix), {2, 3}, {1, 2, 6, 4, 20, 120});
}

TEST_CASE("a shape that is data, with sizes to be found") {
  expect(Steered(14, "Reshape", {2, 3}).by({3, 2}).on({2, 3}, kSix), {3, 2}, kSix);
  expect(Steered(14, "Reshape", {2, 3}).by({-1}).on({2, 3}, kSix), {6}, kSix);
  expect(Steered(14, "Reshape", {2, 3}).by({0, 1, -1}).on({2, 3}, kSix), {2, 1, 3}, kSix);
}

TEST_CASE("axes of size 1 that are data") {
  expect(Steered(13, "Unsqueeze", {2, 3}).by({0, -1}).on({2, 3}, kSix), {1, 2, 3, 1}, kSix);
  expect(Steered(13, "Squeeze", {2, 1, 3}).by({1}).on({2, 1, 3}, kSix), {2, 3}, kSix);
}

TEST_CASE("slices whose bounds, axes and steps are data") {
  expect(Steered(13, "Slice", {2, 3}).by({1}).by({3}).by({1}).by({1}).on({2, 3}, kSix), {2, 2}, {2, 3, 5, 6});
  expect(Steered(13, "Slice", {2, 3}).by({-1}).by({INT64_MIN}).by({-1}).by({-2}).on({2, 3}, kSix), {2, 2},
         {3, 1, 6, 4});
  expect(Steered(13, "Slice", {2, 3}).by({0, 1}).by({1, INT64_MAX}).by({0, 1}).by({1, 1}).on({2, 3}, kSix), {1, 2},
         {2, 3});
}

TEST_CASE("a slice to the end along an axis that is data") {
  for (int64_t end : {INT64_MAX, int64_t(1) << 31}) {
    OnnxModel model(13);
    model.input("x", {2, 3}).input("axis", {1}, ::onnx::TensorProto::INT64).output("y").ints("from", {1});
    model.ints("to", {end});
    model.node("Slice", {"x", "from", "to", "axis"}, {"y"});
    expect(model.run({floatTensor({2, 3}, kSix), intTensor({1}, {1})}).front(), {2, 2}, {2, 3, 5, 6});
    expect(model.run({floatTensor({2, 3}, kSix), intTensor({1}, {-2})}).front(), {1, 3}, {4, 5, 6});
  }
}

TEST_CASE("amounts to pad that are data") {
  expect(Steered(18, "Pad", {3}).by({1, 2}).on({3}, {1, 2, 3}), {6}, {0, 1, 2, 3, 0, 0});
  expect(Steered(18, "Pad", {3}).by({-1, 1}).on({3}, {1, 2, 3}), {3}, {2, 3, 0});
  expect(Steered(18, "Pad", {3}).by({2, 1}).withText("mode", "reflect").on({3}, {1, 2, 3}), {6}, {3, 2, 1, 2, 3, 2});
  expect(Steered(18, "Pad", {3}).by({1, 2}).withText("mode", "edge").on({3}, {1, 2, 3}), {6}, {1, 1, 2, 3, 3, 3});
  expect(Steered(19, "Pad", {3}).by({1, 2}).withText("mode", "wrap").on({3}, {1, 2, 3}), {6}, {3, 1, 2, 3, 1, 2});
}

TEST_CASE("what data pads or cuts is as long as a symbol says, which has the bounds of a size") {
  Steered pad(18, "Pad", {3}), slice(13, "Slice", {5});
  pad.by({1, 2});
  slice.by({-4}).by({-1});
  CHECK_THAT(pad.model.import(), Catch::Contains("graph.bind <\"y.padded\", 0 to 2147483647"));
  CHECK_THAT(slice.model.import(), Catch::Contains("graph.bind <\"y.length\", 0 to 5"));
  CHECK_THAT(slice.model.import(), Catch::Contains("tensor<?xf32, #kiln.dims<[\"y.length{0..5}\"]>>\n"));
}

TEST_CASE("sizes and a diagonal that are data") {
  expect(Steered(13, "Expand", {3, 1}).by({1, 2}).on({3, 1}, {1, 2, 3}), {3, 2}, {1, 1, 2, 2, 3, 3});
  expect(Steered(18, "CenterCropPad", {3}).by({5}).on({3}, {1, 2, 3}), {5}, {0, 1, 2, 3, 0});
  expect(Steered(18, "CenterCropPad", {4}).by({2}).on({4}, {1, 2, 3, 4}), {2}, {2, 3});
  expect(Steered(14, "Trilu", {2, 2}).by({-1}).with("upper", 0).on({2, 2}, {1, 2, 3, 4}), {2, 2}, {0, 0, 3, 0});
  expect(Steered(11, "TopK", {3}).by({2}).on({3}, {1, 3, 2}), {2}, {3, 2});
}

TEST_CASE("sizes that are data are taken for equal where they meet, and the run looks") {
  OnnxModel model;
  model.input("x", {4}).input("a", {4}, ::onnx::TensorProto::BOOL).input("b", {4}, ::onnx::TensorProto::BOOL);
  model.output("y");
  model.node("Compress", {"x", "a"}, {"p"});
  model.node("Compress", {"x", "b"}, {"q"});
  model.node("Add", {"p", "q"}, {"y"});
  CHECK_THAT(model.import(), Catch::Contains("cannot broadcast: the sizes"));
  HostTensor x = floatTensor({4}, {1, 2, 3, 4});
  CHECK(model.runFloats({x, boolTensor({4}, {1, 1, 0, 0}), boolTensor({4}, {0, 0, 1, 1})}) == std::vector<float>{4, 6});
}

TEST_CASE("sizes that are data are taken for equal where tensors are concatenated, and the run looks") {
  OnnxModel model;
  model.input("x", {4}).input("a", {4}, ::onnx::TensorProto::BOOL).input("b", {4}, ::onnx::TensorProto::BOOL);
  model.output("y").ints("last", {1});
  model.node("Compress", {"x", "a"}, {"p"});
  model.node("Compress", {"x", "b"}, {"q"});
  model.node("Unsqueeze", {"p", "last"}, {"r"});
  model.node("Unsqueeze", {"q", "last"}, {"s"});
  setInt(model.node("Concat", {"r", "s"}, {"y"}), "axis", 1);
  CHECK_THAT(model.import(), Catch::Contains("cannot concatenate: the sizes"));
  HostTensor x = floatTensor({4}, {1, 2, 3, 4});
  CHECK(model.runFloats({x, boolTensor({4}, {1, 1, 0, 0}), boolTensor({4}, {0, 0, 1, 1})}) ==
        std::vector<float>{1, 3, 2, 4});
}

TEST_CASE("an axis that may be 1 is squeezed, and the run looks") {
  OnnxModel model;
  model.input("x", {"n", 2}).output("y").ints("axes", {0});
  model.node("Squeeze", {"x", "axes"}, {"y"});
  CHECK_THAT(model.import(), Catch::Contains("host.assert") || Catch::Contains("check"));
  CHECK(model.runFloats({floatTensor({1, 2}, {1, 2})}) == std::vector<float>{1, 2});
}

/// A node of two inputs of floats, as the interpreter runs it.
static std::vector<float> runPair(const char *op, OnnxModel::Dims x, OnnxModel::Dims y, const HostTensor &a,
                                  const HostTensor &b) {
  OnnxModel model;
  model.input("x", x).input("y", y).output("z");
  model.node(op, {"x", "y"}, {"z"});
  return model.runFloats({a, b});
}

TEST_CASE("sizes of two names are taken for equal where an operator asks for it, and the run looks") {
  HostTensor row = floatTensor({1, 2}, {1, 2}), column = floatTensor({2, 1}, {10, 20});
  CHECK(runPair("Add", {"a", 2}, {"b", 2}, row, row) == Floats{2, 4});
  CHECK(runPair("Add", {"a", 2}, {1, "b"}, row, row) == Floats{2, 4});
  CHECK(runPair("MatMul", {1, "a"}, {"b", 1}, row, column) == Floats{50});
  CHECK(runPair("Conv", {1, "a", 1}, {1, 2, 1}, floatTensor({1, 2, 1}, {1, 2}), floatTensor({1, 2, 1}, {3, 4})) ==
        Floats{11});
  CHECK(runPair("ConvTranspose", {1, "a", 1}, {2, 1, 1}, floatTensor({1, 2, 1}, {1, 2}),
                floatTensor({2, 1, 1}, {3, 4})) == Floats{11});
}

TEST_CASE("an operator on sizes of two names says when it runs which of them differ") {
  OnnxModel model;
  model.input("x", {"a", 2}).input("y", {"b", 2}).output("z");
  model.node("Add", {"x", "y"}, {"z"});
  CHECK_THAT(model.import(), Catch::Contains("cannot broadcast: the sizes a and b differ"));
}

TEST_CASE("an input's size is expanded to another input's, and the run looks") {
  OnnxModel model;
  model.input("x", {"a", 1}).input("like", {"b", 2}).output("y");
  model.node("Shape", {"like"}, {"shape"});
  model.node("Expand", {"x", "shape"}, {"y"});
  CHECK_THAT(model.import(), Catch::Contains("cannot broadcast: the sizes a and b differ"));
  CHECK(model.runFloats({floatTensor({1, 1}, {3}), floatTensor({1, 2}, {0, 0})}) == Floats{3, 3});
}

TEST_CASE("a size that is 0 or 1 is repeated as 1, and the run looks") {
  OnnxModel model;
  model.input("x", {"n"}).input("y", {3}).output("z").ints("zero", {0}).ints("one", {1});
  model.node("Slice", {"x", "zero", "one"}, {"first"});
  model.node("Add", {"first", "y"}, {"z"});
  CHECK(model.runFloats({floatTensor({2}, {1, 2}), floatTensor({3}, {10, 20, 30})}) == Floats{11, 21, 31});
}

TEST_CASE("a 1 in a tensor or in the shape that it is expanded to stands for the other's size") {
  Steered expand(13, "Expand", {"n", 2});
  expand.by({3, 1});
  expect(expand.on({1, 2}, {1, 2}), {3, 2}, {1, 2, 1, 2, 1, 2});
  Steered own(13, "Expand", {"n", "m"});
  own.by({1, 3});
  expect(own.on({2, 1}, {1, 2}), {2, 3}, {1, 1, 1, 2, 2, 2});
}

TEST_CASE("what is expanded to the sizes of another tensor has these, or 1") {
  OnnxModel model(13);
  model.input("x", {"n", "t"}).input("state", {"hn", "ht"}).output("y");
  model.node("Shape", {"x"}, {"sizes"});
  model.node("Expand", {"state", "sizes"}, {"y"});
  HostTensor x = floatTensor({2, 3}, kSix);
  CHECK(model.runFloats({x, floatTensor({1, 1}, {7})}) == Floats{7, 7, 7, 7, 7, 7});
  CHECK(model.runFloats({x, floatTensor({2, 1}, {7, 8})}) == Floats{7, 7, 7, 8, 8, 8});
  CHECK(model.runFloats({x, x}) == kSix);
}

TEST_CASE("a bound computed from sizes that may count from the end") {
  OnnxModel model;
  model.input("x", {5}).input("like", {"n"}).output("y").ints("two", {2}).ints("most", {INT64_MAX}).ints("axis", {0});
  model.node("Shape", {"like"}, {"n"});
  model.node("Sub", {"n", "two"}, {"from"});
  model.node("Slice", {"x", "from", "most", "axis"}, {"y"});
  HostTensor x = floatTensor({5}, {1, 2, 3, 4, 5});
  CHECK(model.runFloats({x, floatTensor({3}, {0, 0, 0})}) == Floats{2, 3, 4, 5});
  CHECK(model.runFloats({x, floatTensor({1}, {0})}) == Floats{5});
}

TEST_CASE("a bound that may count from the end, with a step back") {
  OnnxModel model;
  model.input("x", {5}).input("like", {"n"}).output("y").ints("two", {2}).ints("least", {INT64_MIN}).ints("axis", {0});
  model.ints("back", {-2});
  model.node("Shape", {"like"}, {"n"});
  model.node("Sub", {"n", "two"}, {"from"});
  model.node("Slice", {"x", "from", "least", "axis", "back"}, {"y"});
  HostTensor x = floatTensor({5}, {1, 2, 3, 4, 5});
  CHECK(model.runFloats({x, floatTensor({4}, {0, 0, 0, 0})}) == Floats{3, 1});
  CHECK(model.runFloats({x, floatTensor({1}, {0})}) == Floats{5, 3, 1});
}

TEST_CASE("Compress without an axis takes a condition of the tensor's shape") {
  OnnxModel model;
  model.input("x", {2, 2}).input("is", {2, 2}, ::onnx::TensorProto::BOOL).output("y");
  model.node("Compress", {"x", "is"}, {"y"});
  CHECK(model.runFloats({floatTensor({2, 2}, {1, 2, 3, 4}), boolTensor({2, 2}, {0, 1, 1, 0})}) == Floats{2, 3});
}

TEST_CASE("what a condition of Compress says past the axis stands for nothing") {
  for (bool isOpen : {false, true}) {
    OnnxModel model;
    OnnxModel::Dims two{2}, open{"n"}, five{5}, more{"m"};
    model.input("x", isOpen ? open : two).input("is", isOpen ? more : five, ::onnx::TensorProto::BOOL).output("y");
    setInt(model.node("Compress", {"x", "is"}, {"y"}), "axis", 0);
    CHECK(model.runFloats({floatTensor({2}, {7, 8}), boolTensor({5}, {1, 1, 1, 0, 1})}) == Floats{7, 8});
    if (isOpen)
      CHECK(model.runFloats({floatTensor({2}, {7, 8}), boolTensor({1}, {1})}) == Floats{7});
  }
}

TEST_CASE("Squeeze without axes looks that no open size is 1") {
  OnnxModel model(13);
  model.input("x", {"n", 1, 3}).output("y");
  model.node("Squeeze", {"x"}, {"y"}).set_name("squeeze");
  CHECK_THAT(model.import(), Catch::Contains("node 'squeeze': axis 0 of [n, 1, 3] is 1 in this run"));
  expect(model.run({floatTensor({2, 1, 3}, kSix)}).front(), {2, 3}, kSix);
  kiln::import::ImportOptions options;
  options.dims["n"] = {2, 9, 2};
  CHECK_THAT(model.import(options), !Catch::Contains("graph.check"));
}

TEST_CASE("a slice's lists of a length that only a run knows are as long as the others") {
  OnnxModel model(13);
  model.input("x", {2, 3}).input("from", {"k"}, ::onnx::TensorProto::INT64).output("y").ints("most", {INT64_MAX});
  model.ints("axis", {1});
  model.node("Slice", {"x", "from", "most", "axis"}, {"y"});
  CHECK_THAT(model.import(), Catch::Contains("graph.check"));
  CHECK(model.runFloats({floatTensor({2, 3}, kSix), intTensor({1}, {2})}) == Floats{3, 6});
}

TEST_CASE("a slice of no axes looks that a list of a length that only a run knows is empty") {
  OnnxModel model(13);
  model.input("x", {2, 3}).input("from", {"k"}, ::onnx::TensorProto::INT64).output("y").ints("none", {});
  model.node("Slice", {"x", "from", "none", "none"}, {"y"});
  CHECK_THAT(model.import(), Catch::Contains("graph.check"));
}

TEST_CASE("a slice's list of a length that only a run knows is no longer than others may be") {
  OnnxModel model(13);
  std::vector<int64_t> many(5000);
  model.input("x", {2, 3}).input("from", {"k"}, ::onnx::TensorProto::INT64).output("y").ints("many", many);
  model.node("Slice", {"x", "from", "many", "many"}, {"y"});
  CHECK_THAT(model.import(),
             Catch::Contains("input 'from' gives sizes, and how many is not known; fix its length, as with "
                             "--shape from=2 if it is an input of the model"));
}

TEST_CASE("bounds of a slice that are data may count from the end") {
  expect(Steered(13, "Slice", {5}).by({-4}).by({-1}).on({5}, {1, 2, 3, 4, 5}), {3}, {2, 3, 4});
  expect(Steered(13, "Slice", {5}).by({-9}).by({INT64_MAX}).on({5}, {1, 2, 3, 4, 5}), {5}, {1, 2, 3, 4, 5});
}

/// What the node gives for these inputs, whose sizes the model does not say, but for those of a constant.
static OnnxModel unsized(const std::string &op, std::initializer_list<OnnxModel::Dims> inputs) {
  OnnxModel model(18);
  ::onnx::NodeProto &node = model.node(op, {}, {"y"});
  for (OnnxModel::Dims dims : inputs) {
    std::string name = "x" + std::to_string(node.input_size());
    node.add_input(name);
    model.input(name, dims);
  }
  model.output("y");
  return model;
}

TEST_CASE("a convolution's bias is taken for as long as it has outputs, and the run looks") {
  OnnxModel model = unsized("Conv", {{1, 1, 2}, {"outputs", 1, 1}, {"k"}});
  CHECK_THAT(model.import(), Catch::Contains("cannot add the bias of a convolution: the sizes k and outputs differ"));
  CHECK(model.runFloats({floatTensor({1, 1, 2}, {1, 2}), floatTensor({2, 1, 1}, {1, 10}),
                         floatTensor({2}, {100, 200})}) == Floats{101, 102, 210, 220});
}

TEST_CASE("numbers of each channel are taken for as many as there are channels, and the run looks") {
  HostTensor x = floatTensor({1, 2, 2}, {1, 3, 2, 6}), ones = floatTensor({2}, {1, 1}),
             scale = floatTensor({2}, {1, 10});
  HostTensor zeros = floatTensor({2}, {0, 0});
  OnnxModel batch = unsized("BatchNormalization", {{1, "c", 2}, {2}, {2}, {"k"}, {2}});
  setFloat(*batch.graph().mutable_node(0), "epsilon", 0);
  CHECK_THAT(batch.import(), Catch::Contains("cannot give each channel its number: the sizes k and c differ"));
  CHECK(batch.runFloats({x, scale, zeros, ones, ones}) == Floats{0, 2, 10, 50});

  OnnxModel instance = unsized("InstanceNormalization", {{1, "c", 2}, {2}, {2}});
  setFloat(*instance.graph().mutable_node(0), "epsilon", 0);
  CHECK(instance.runFloats({x, scale, ones}) == Floats{0, 2, -9, 11});

  OnnxModel group = unsized("GroupNormalization", {{1, "c", 2}, {1}, {1}});
  setFloat(*group.graph().mutable_node(0), "epsilon", 0);
  setInt(*group.graph().mutable_node(0), "num_groups", 1);
  HostTensor other = floatTensor({1, 2, 2}, {1, 3, 1, 3});
  CHECK(group.runFloats({other, floatTensor({1}, {2}), floatTensor({1}, {1})}) == Floats{-1, 3, -1, 3});
}

TEST_CASE("numbers of each channel need channels and an axis") {
  OnnxModel scalar = unsized("BatchNormalization", {{1, 2, 2}, {}, {2}, {2}, {2}});
  CHECK_THAT(scalar.import(), Catch::Contains("is not one number for each channel"));
  OnnxModel row = unsized("BatchNormalization", {{2}, {2}, {2}, {2}, {2}});
  CHECK_THAT(row.import(), Catch::Contains("is not one number for each channel"));
}

TEST_CASE("parts of known sizes are taken for an axis of a size that a run knows, and the run looks") {
  OnnxModel model(13);
  model.input("x", {"n", 2}).ints("sizes", {2, 1}).output("y");
  model.node("Split", {"x", "sizes"}, {"z", "y"});
  CHECK_THAT(model.import(), Catch::Contains("cannot split: the sizes 3 and n differ"));
  CHECK(model.runFloats({floatTensor({3, 2}, kSix)}) == Floats{5, 6});
}
