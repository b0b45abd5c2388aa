// Resize is one formula with many switches: which place of the input an element of the output stands for, how ties are
// rounded, what lies past the edge. The importer has a way of its own for each kind of ratio (repetition, slices, a
// gather by computed rows), also where sizes are symbols or data. The cases have one axis and few elements, whose
// values tell which of the input they were made of.
#include "OnnxModel.h"

#include <catch2/catch.hpp>

using namespace kiln::test;
using Catch::Contains;
using Floats = std::vector<float>;
using Sizes = std::vector<int64_t>;

/// A Resize of one axis by `scale`, or to `size`.
struct Resize {
  OnnxModel model{19};

  explicit Resize(float scale, OnnxModel::Dims dims, int64_t opset = 19) : model(opset) {
    model.input("x", dims).output("y").floats("scales", {1}, {scale});
    model.node("Resize", {"x", "", "scales"}, {"y"});
  }
  Resize(Sizes size, OnnxModel::Dims dims) {
    model.input("x", dims).output("y").ints("size", size);
    model.node("Resize", {"x", "", "", "size"}, {"y"});
  }
  ::onnx::NodeProto &node() { return *model.graph().mutable_node(0); }
  Resize &with(const std::string &name, const char *value) { return setString(node(), name, value), *this; }
  Resize &with(const std::string &name, int value) { return setInt(node(), name, value), *this; }
  Resize &linear() { return with("mode", "linear"); }
  Resize &coordinates(const char *mode) { return with("coordinate_transformation_mode", mode); }
  Floats on(Floats x) { return model.runFloats({floatTensor({int64_t(x.size())}, x)}); }
};

static Floats rounded(Floats values) {
  for (float &value : values)
    value = std::round(value * 1000) / 1000;
  return values;
}

TEST_CASE("Twice the size, nearest, is a repetition") {
  Resize twice(2, {2});
  CHECK(twice.on({1, 2}) == Floats{1, 1, 2, 2});
  CHECK_THAT(twice.model.import(), !Contains("graph.gather") && Contains("graph.expand"));
}

TEST_CASE("Half the size, nearest, is every other element") {
  Resize half(0.5f, {4});
  CHECK(half.coordinates("asymmetric").on({1, 2, 3, 4}) == Floats{1, 3});
  CHECK_THAT(half.model.import(), !Contains("graph.gather"));
}

TEST_CASE("Twice the size, linear, reads no index and repeats the edges") {
  Resize twice = Resize(2, {3}).linear();
  CHECK(twice.on({0, 4, 8}) == Floats{0, 1, 3, 5, 7, 8});
  CHECK_THAT(twice.model.import(), !Contains("graph.gather"));
}

TEST_CASE("A symbolic size is doubled symbolically") {
  Resize twice = Resize(2, {"n"}).linear().coordinates("pytorch_half_pixel");
  CHECK_THAT(twice.model.import(), !Contains("graph.gather") && Contains("(n*2)"));
  CHECK(twice.on({5}) == Floats{5, 5});
  CHECK(twice.on({0, 4, 8}) == Floats{0, 1, 3, 5, 7, 8});
}

TEST_CASE("Two thirds of a symbolic size") {
  Resize part = Resize(0.75f, {"n"}).linear();
  CHECK(rounded(part.on({0, 6, 12, 18, 24})) == Floats{1, 9, 17});
  CHECK(rounded(part.on({0, 6, 12, 18})) == Floats{1, 9, 17});
}

TEST_CASE("A scale that does not come out even gathers") {
  CHECK(Resize(0.6f, {5}).coordinates("asymmetric").on({0, 1, 2, 3, 4}) == Floats{0, 2, 3});
  CHECK(Resize(0.6f, {"n"}).coordinates("asymmetric").on({0, 1, 2, 3, 4}) == Floats{0, 2, 3});
}

TEST_CASE("The corners of a symbolic size meet") {
  Resize four = Resize(Sizes{4}, {"n"}).linear().coordinates("align_corners");
  CHECK(rounded(four.on({0, 3})) == Floats{0, 1, 2, 3});
  CHECK(rounded(four.on({0, 3, 9})) == Floats{0, 2, 5, 9});
}

TEST_CASE("Roundings differ at ties") {
  auto at = [](const char *rounding) {
    return Resize(Sizes{4}, {2}).coordinates("asymmetric").with("nearest_mode", rounding).on({0, 1});
  };
  CHECK(at("round_prefer_floor") == Floats{0, 0, 1, 1});
  CHECK(at("round_prefer_ceil") == Floats{0, 1, 1, 1});
  CHECK(at("floor") == Floats{0, 0, 1, 1});
  CHECK(at("ceil") == Floats{0, 1, 1, 1});
}

TEST_CASE("Cubic goes through the elements and beyond them") {
  Resize twice = Resize(2, {4}).with("mode", "cubic").coordinates("asymmetric");
  // Half way: -0.09375, 0.59375, 0.59375, -0.09375.
  CHECK(rounded(twice.on({0, 0, 1, 1})) == Floats{0, -0.094f, 0, 0.5f, 1, 1.094f, 1, 1});
}

TEST_CASE("antialias weighs all that an element covers") {
  CHECK(rounded(Resize(0.5f, {4}).linear().with("antialias", 1).on({0, 4, 8, 12})) == Floats{2.5f, 9.5f});
  CHECK(Resize(0.5f, {4}).linear().on({0, 4, 8, 12}) == Floats{2, 10});
}

TEST_CASE("Only some axes are resized; the ratio can be kept") {
  OnnxModel model(18);
  model.input("x", {1, 2, 4}).output("y").ints("size", {3, 4});
  ::onnx::NodeProto &node = model.node("Resize", {"x", "", "", "size"}, {"y"});
  setInts(node, "axes", {-1, 1});
  setString(node, "keep_aspect_ratio_policy", "not_larger");
  std::vector<HostTensor> outputs = model.run({floatTensor({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})});
  CHECK(outputs[0].dims == kiln::interp::Dims{1, 2, 3});
}

TEST_CASE("Opset 10 has scales alone and rounds down; nearest neighbours know tf_half_pixel_for_nn at any opset") {
  OnnxModel model(10);
  model.input("x", {2}).output("y").floats("scales", {1}, {1.5f});
  model.node("Resize", {"x", "scales"}, {"y"});
  CHECK(model.runFloats({floatTensor({2}, {1, 2})}) == Floats{1, 1, 2});
  CHECK(Resize(0.5f, {4}, 11).coordinates("tf_half_pixel_for_nn").on({1, 2, 3, 4}) == Floats{2, 4});
  CHECK(Resize(0.5f, {4}, 18).coordinates("tf_half_pixel_for_nn").on({1, 2, 3, 4}) == Floats{2, 4});
  CHECK_THAT(Resize(0.5f, {4}, 13).coordinates("tf_half_pixel_for_nn").with("mode", "linear").model.import(),
             Contains("it is one of half_pixel, "));
}

TEST_CASE("Upsample's scales are an attribute before opset 9, and it ends with opset 10") {
  OnnxModel model(7);
  model.input("x", {2}).output("y");
  ::onnx::AttributeProto &scales = *model.node("Upsample", {"x"}, {"y"}).add_attribute();
  scales.set_name("scales");
  scales.set_type(::onnx::AttributeProto::FLOATS);
  scales.add_floats(2);
  CHECK(model.runFloats({floatTensor({2}, {1, 2})}) == Floats{1, 1, 2, 2});
  OnnxModel late(10);
  late.input("x", {2}).output("y").floats("scales", {1}, {2});
  late.node("Upsample", {"x", "scales"}, {"y"});
  CHECK_THAT(late.import(), Contains("use Resize"));
}

TEST_CASE("Resize without scales and sizes, or too many of them, is refused") {
  OnnxModel model(13);
  model.input("x", {2}).output("y");
  model.node("Resize", {"x"}, {"y"});
  CHECK_THAT(model.import(), Contains("there are neither scales nor sizes"));
  CHECK_THAT(Resize(Sizes{2, 2}, {2}).model.import(), Contains("2 sizes or scales for 1 axes"));
}

/// A Resize of one axis whose scale or size, and region, are inputs of the run.
static Floats byData(const char *mode, std::initializer_list<std::pair<const char *, int>> flags, Floats x,
                     Floats scales, Sizes sizes, Floats region = {}) {
  OnnxModel model(19);
  int count = int(x.size());
  model.input("x", {count}).input("region", {int(region.size())}).input("scales", {int(scales.size())});
  model.input("sizes", {int(sizes.size())}, ::onnx::TensorProto::INT64).output("y");
  ::onnx::NodeProto &node = model.node("Resize", {"x", "region", "scales", "sizes"}, {"y"});
  setString(node, "mode", "linear");
  setString(node, "coordinate_transformation_mode", mode);
  for (auto [name, value] : flags)
    setInt(node, name, value);
  return rounded(
      model.runFloats({floatTensor({count}, x), floatTensor({int64_t(region.size())}, region),
                       floatTensor({int64_t(scales.size())}, scales), intTensor({int64_t(sizes.size())}, sizes)}));
}

TEST_CASE("A scale that is data") {
  CHECK(byData("half_pixel", {}, {0, 4, 8}, {2}, {}) == Floats{0, 1, 3, 5, 7, 8});
  CHECK(byData("asymmetric", {}, {0, 1, 2, 3, 4}, {0.6f}, {}) == Floats{0, 1.667f, 3.333f});
  CHECK(byData("align_corners", {}, {0, 3}, {2}, {}) == Floats{0, 1, 2, 3});
  CHECK(byData("half_pixel", {{"antialias", 1}}, {0, 4, 8, 12}, {0.5f}, {}) == Floats{2.5f, 9.5f});
}

TEST_CASE("antialias of a size that is data") {
  CHECK(byData("half_pixel", {{"antialias", 1}}, {0, 4, 8, 12}, {}, {2}) == Floats{2.5f, 9.5f});
}

TEST_CASE("A region that is data") {
  CHECK(byData("tf_crop_and_resize", {}, {0, 10, 20}, {}, {3}, {0.5f, 1}) == Floats{10, 15, 20});
  CHECK(byData("tf_crop_and_resize", {}, {1, 10, 20}, {}, {3}, {0.5f, 1.5f}) == Floats{10, 20, 0});
  CHECK(byData("tf_crop_and_resize", {}, {0, 10, 20}, {}, {1}, {0, 1}) == Floats{10});
}

TEST_CASE("One ratio of sizes that are data") {
  auto dims = [](const char *policy) {
    OnnxModel model(18);
    model.input("x", {2, 4}).input("size", {2}, ::onnx::TensorProto::INT64).output("y");
    setString(model.node("Resize", {"x", "", "", "size"}, {"y"}), "keep_aspect_ratio_policy", policy);
    return model.run({floatTensor({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), intTensor({2}, {4, 6})})[0].dims;
  };
  CHECK(dims("not_larger") == kiln::interp::Dims{3, 6});
  CHECK(dims("not_smaller") == kiln::interp::Dims{4, 8});
}

TEST_CASE("float64 is interpolated in float64, as float16 and integers are in what they widen to") {
  using Proto = ::onnx::TensorProto;
  for (int dtype : {Proto::DOUBLE, Proto::FLOAT16, Proto::INT32, Proto::UINT8})
    for (const char *mode : {"nearest", "linear", "cubic"})
      for (bool isOpen : {false, true}) {
        OnnxModel model(19);
        OnnxModel::Dims three{3}, open{"n"};
        model.input("x", isOpen ? open : three).output("y").floats("scales", {1}, {1.7f});
        setInt(model.node("Cast", {"x"}, {"d"}), "to", dtype);
        setString(model.node("Resize", {"d", "", "scales"}, {"r"}), "mode", mode);
        setInt(model.node("Cast", {"r"}, {"y"}), "to", Proto::FLOAT);
        CHECK(model.runFloats({floatTensor({3}, {0, 40, 80})}).size() == 5);
      }
}

/// A row of integers made twice, of equal rows, and resized to `size`; its first row.
static Floats ofIntegers(int dtype, bool antialias, Floats x, Sizes size, bool isOpen) {
  OnnxModel model(19);
  int64_t count = x.size();
  OnnxModel::Dims known{2, count}, open{"n", "m"};
  model.input("x", isOpen && !antialias ? open : known).output("y");
  isOpen ? model.input("size", {2}, ::onnx::TensorProto::INT64) : model.ints("size", size);
  setInt(model.node("Cast", {"x"}, {"d"}), "to", dtype);
  ::onnx::NodeProto &node = model.node("Resize", {"d", "", "", "size"}, {"r"});
  setString(node, "mode", "linear");
  setInt(node, "antialias", antialias);
  setInt(model.node("Cast", {"r"}, {"y"}), "to", ::onnx::TensorProto::FLOAT);
  Floats rows = x;
  rows.insert(rows.end(), x.begin(), x.end());
  std::vector<HostTensor> inputs{floatTensor({2, count}, rows)};
  if (isOpen)
    inputs.push_back(intTensor({2}, size));
  Floats y = model.runFloats(inputs);
  return Floats(y.begin(), y.begin() + size[1]);
}

TEST_CASE("Between integers, a resize cuts towards 0 and keeps an integer that it meets") {
  using Proto = ::onnx::TensorProto;
  for (bool isOpen : {false, true}) {
    CHECK(ofIntegers(Proto::UINT8, false, {0, 3}, {5, 4}, isOpen) == Floats{0, 0, 2, 3});
    CHECK(ofIntegers(Proto::INT8, false, {0, -3}, {5, 4}, isOpen) == Floats{0, 0, -2, -3});
    for (int64_t size = 2; size < 24; ++size)
      CHECK(ofIntegers(Proto::UINT8, false, {255, 255, 255}, {size, size}, isOpen) == Floats(size, 255));
  }
}

TEST_CASE("Between integers, antialias takes the nearest, and of two the one away from 0") {
  using Proto = ::onnx::TensorProto;
  for (bool isOpen : {false, true}) {
    CHECK(ofIntegers(Proto::UINT8, true, {10, 11}, {2, 1}, isOpen) == Floats{11});
    CHECK(ofIntegers(Proto::UINT8, true, {1, 2, 4, 9}, {2, 3}, isOpen) == Floats{1, 3, 8});
    CHECK(ofIntegers(Proto::INT32, true, {-10, -11}, {2, 1}, isOpen) == Floats{-11});
  }
}

TEST_CASE("An axis is interpolated where it is, with the axes inside it innermost") {
  Resize resize({1, 2, 6, 4}, {1, 2, 3, 4});
  // [outer…, windows, phases, inner…, taps]: neighbours along the last axis stay neighbours in what is computed.
  CHECK_THAT(resize.linear().model.import(), Contains("graph.reduce add") && Contains("tensor<1x2x3x2x4x1xf32>"));
  resize = Resize({1, 1, 4, 1}, {1, 1, 2, 1});
  HostTensor x = floatTensor({1, 1, 2, 1}, {0, 4});
  CHECK(resize.linear().model.runFloats({x}) == Floats{0, 1, 3, 4});
}

TEST_CASE("Windows that end inside an axis of any size repeat no edge") {
  Resize half(0.5, {"n"});
  CHECK_THAT(half.linear().model.import(), Contains("graph.reduce add") && !Contains("where"));
  CHECK(half.on({1, 3, 4, 8, 9}) == Floats{2, 6});
  CHECK(half.on({1}).empty());
}
