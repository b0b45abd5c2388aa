// One operator of ONNX is several, by opset: what was an attribute became an input, defaults changed, axes are matched
// differently. A model of the older opset that is read by the newer rules may import without an error and compute
// something else. So models of one node are imported at opsets before and after such a change, run by the interpreter,
// and compared with numbers made by hand. What opsets leave alone has a check for each operator.
#include "OnnxModel.h"

#include <catch2/catch.hpp>

using namespace kiln::test;
using Catch::Contains;
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

/// A node of one float input x and one output y; more inputs are initializers.
class Case {
public:
  Case(int64_t opset, const std::string &op, OnnxModel::Dims dims) : model(opset) {
    model.input("x", dims).output("y");
    model.node(op, {"x"}, {"y"});
  }
  Case &with(const std::string &name, std::integral auto value) { return setInt(node(), name, value), *this; }
  Case &with(const std::string &name, std::initializer_list<int64_t> values) {
    return setInts(node(), name, values), *this;
  }
  Case &reals(const std::string &name, std::initializer_list<float> values) {
    ::onnx::AttributeProto &attribute = *node().add_attribute();
    attribute.set_name(name);
    attribute.set_type(::onnx::AttributeProto::FLOATS);
    attribute.mutable_floats()->Add(values.begin(), values.end());
    return *this;
  }
  Case &with(const std::string &name, const char *value) { return setString(node(), name, value), *this; }
  Case &with(const std::string &name, float value) { return setFloat(node(), name, value), *this; }
  Case &ints(llvm::ArrayRef<int64_t> values, bool isScalar = false) {
    std::string name = "i" + std::to_string(node().input_size());
    node().add_input(name);
    model.ints(name, values, isScalar);
    return *this;
  }
  Case &floats(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> values) {
    std::string name = "f" + std::to_string(node().input_size());
    node().add_input(name);
    model.floats(name, dims, values);
    return *this;
  }
  Case &none() { return node().add_input(""), *this; }
  Floats on(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> values) {
    return model.runFloats({floatTensor(dims, values)});
  }
  std::string import() { return model.import(); }

  OnnxModel model;
  ::onnx::NodeProto &node() { return *model.graph().mutable_node(0); }
};

static Floats rounded(Floats values) {
  for (float &value : values)
    value = std::round(value * 1000) / 1000;
  return values;
}

TEST_CASE("ONNX's first, experimental operators") {
  CHECK(Case(1, "Affine", {3}).with("alpha", 2.f).with("beta", 0.5f).on({3}, {-1, 0, 2}) == Floats{-1.5, 0.5, 4.5});
  CHECK(Case(1, "Scale", {2}).with("scale", 3.f).on({2}, {-1, 2}) == Floats{-3, 6});
  CHECK(rounded(Case(1, "ScaledTanh", {2}).with("alpha", 2.f).with("beta", 0.5f).on({2}, {0, 2})) ==
        rounded(Floats{0, 1.5231884f}));
  CHECK(rounded(Case(1, "ParametricSoftplus", {2}).with("alpha", 2.f).with("beta", 0.5f).on({2}, {0, 2})) ==
        rounded(Floats{1.3862944f, 2.6265234f}));
  CHECK(Case(1, "ImageScaler", {1, 2, 1, 2}).with("scale", 2.f).reals("bias", {1, -1}).on({1, 2, 1, 2}, {1, 2, 3, 4}) ==
        Floats{3, 5, 5, 7});
  CHECK_THAT(Case(1, "ImageScaler", {1, 2, 1, 2}).reals("bias", {1}).import(),
             Contains("1 numbers in 'bias' for an image [1, 2, 1, 2]; give one for each channel"));
  CHECK_THAT(Case(1, "ScaledTanh", {2}).import(), Contains("attribute 'alpha' or 'beta' is missing; give both"));
}

TEST_CASE("Crop takes borders from an image, or a part of a size") {
  Floats image{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  auto crop = [](OnnxModel::Dims dims = {1, 1, 3, 4}) { return Case(1, "Crop", dims); };
  CHECK(crop().with("border", {1, 0, 2, 1}).on({1, 1, 3, 4}, image) == Floats{1, 5});
  CHECK(crop().with("border", {1, 1, 9, 9}).with("scale", {2, 2}).on({1, 1, 3, 4}, image) == Floats{5, 6, 9, 10});
  CHECK(crop({1, 1, "h", "w"}).with("border", {1, 0, 2, 1}).on({1, 1, 3, 4}, image) == Floats{1, 5});
  CHECK_THAT(crop().with("border", {3, 0, 2, 0}).import(),
             Contains("axis 3 of [1, 1, 3, 4] is shorter than what Crop takes; give a larger image"));
  CHECK_THAT(crop({1, 1, "h", "w"}).with("border", {3, 0, 2, 0}).import(), Contains("is shorter than what Crop takes"));
  CHECK_THAT(crop().with("border", {1, 0, -2, 1}).import(), Contains("attribute 'border' is not four sizes"));
}

TEST_CASE("DynamicSlice has its bounds as inputs in an old opset") {
  CHECK(Case(7, "DynamicSlice", {4}).ints({1}).ints({3}).on({4}, {0, 1, 2, 3}) == Floats{1, 2});
  CHECK(Case(7, "DynamicSlice", {2, 2}).ints({1}).ints({2}).ints({1}).on({2, 2}, {0, 1, 2, 3}) == Floats{1, 3});
}

//===----------------------------------------------------------------------===//
// Opset differences
//===----------------------------------------------------------------------===//

TEST_CASE("Softmax before opset 13 takes the axes from its axis on as one") {
  Floats x{0, 1, 2, 3};
  CHECK(rounded(Case(11, "Softmax", {1, 2, 2}).on({1, 2, 2}, x)) == Floats{0.032f, 0.087f, 0.237f, 0.644f});
  CHECK(rounded(Case(13, "Softmax", {1, 2, 2}).on({1, 2, 2}, x)) == Floats{0.269f, 0.731f, 0.269f, 0.731f});
}

TEST_CASE("before opset 7 the second operand's axes lie where an attribute says") {
  Floats x{0, 0, 10, 10};
  auto add = [&](int64_t opset) { return Case(opset, "Add", {2, 2}).floats({2}, {1, 2}).with("broadcast", 1); };
  CHECK(add(6).on({2, 2}, x) == Floats{1, 2, 11, 12});
  CHECK(add(6).with("axis", 0).on({2, 2}, x) == Floats{1, 1, 12, 12});
  CHECK(add(1).with("axis", 0).with("consumed_inputs", {0, 0}).on({2, 2}, x) == Floats{1, 1, 12, 12});
  CHECK_THAT(add(7).import(), Contains("attribute 'broadcast' is not known in opset 7"));
  CHECK_THAT(Case(6, "Relu", {1}).with("consumed_inputs", {0}).import(), Contains("is not known in opset 6"));
}

TEST_CASE("PRelu's slope is one per channel before opset 7") {
  Floats x{-1, -1, -1, -1};
  CHECK(Case(6, "PRelu", {1, 2, 2}).floats({2}, {2, 3}).on({1, 2, 2}, x) == Floats{-2, -2, -3, -3});
  CHECK(Case(7, "PRelu", {1, 2, 2}).floats({2}, {2, 3}).on({1, 2, 2}, x) == Floats{-2, -3, -2, -3});
}

TEST_CASE("what the first opsets said otherwise") {
  CHECK(Case(4, "Reshape", {4}).with("shape", {2, -1}).on({4}, {1, 2, 3, 4}) == Floats{1, 2, 3, 4});
  CHECK(Case(1, "Pad", {2}).with("paddings", {1, 0}).on({2}, {1, 2}) == Floats{0, 1, 2});
  CHECK(Case(5, "Tile", {1, 2}).ints({2}, true).ints({1}, true).on({1, 2}, {1, 2}) == Floats{1, 2, 1, 2});
  CHECK(Case(5, "Cast", {1}).with("to", "FLOAT").on({1}, {1.5f}) == Floats{1.5f});
  CHECK_THAT(Case(5, "Cast", {1}).with("to", "FLOATS").import(), Contains("attribute 'to' is 'FLOATS'"));
  CHECK(Case(6, "Dropout", {1}).with("is_test", 1).on({1}, {3}) == Floats{3});
  CHECK_THAT(Case(6, "Dropout", {1}).import(), Contains("attribute 'is_test' is 0"));
  CHECK(Case(1, "GlobalLpPool", {1, 1, 2}).with("p", 1.0f).on({1, 1, 2}, {-3, 4}) == Floats{7});
  CHECK(rounded(Case(5, "Selu", {1}).on({1}, {1})) == Floats{1.051f});
}

TEST_CASE("Clip's bounds are attributes before opset 11, inputs since") {
  CHECK(Case(7, "Clip", {3}).with("min", 0.0f).with("max", 1.0f).on({3}, {-1, 0.5, 2}) == Floats{0, 0.5, 1});
  CHECK(Case(11, "Clip", {3}).floats({}, {0}).floats({}, {1}).on({3}, {-1, 0.5, 2}) == Floats{0, 0.5, 1});
  CHECK(Case(11, "Clip", {3}).none().floats({}, {1}).on({3}, {-1, 0.5, 2}) == Floats{-1, 0.5, 1});
  CHECK_THAT(Case(11, "Clip", {3}).with("min", 0.0f).import(), Contains("attribute 'min' is not known in opset 11"));
}

TEST_CASE("ReduceSum's axes are an attribute before opset 13, an input since") {
  Floats x{1, 2, 3, 4};
  CHECK(Case(11, "ReduceSum", {2, 2}).with("axes", {1}).on({2, 2}, x) == Floats{3, 7});
  CHECK(Case(13, "ReduceSum", {2, 2}).ints({-2}).on({2, 2}, x) == Floats{4, 6});
  CHECK(Case(13, "ReduceSum", {2, 2}).on({2, 2}, x) == Floats{10});
  CHECK(Case(13, "ReduceSum", {2, 2}).with("noop_with_empty_axes", 1).on({2, 2}, x) == x);
  CHECK_THAT(Case(13, "ReduceSum", {2, 2}).with("axes", {1}).import(),
             Contains("attribute 'axes' is not known in opset 13"));
}

TEST_CASE("ReduceMax keeps its axes as an attribute up to opset 17") {
  CHECK(Case(17, "ReduceMax", {2, 2}).with("axes", {0}).with("keepdims", 0).on({2, 2}, {1, 5, 3, 2}) == Floats{3, 5});
  CHECK(Case(18, "ReduceMax", {2, 2}).ints({0}).with("keepdims", 0).on({2, 2}, {1, 5, 3, 2}) == Floats{3, 5});
}

TEST_CASE("Squeeze's and Unsqueeze's axes are attributes before opset 13") {
  CHECK_THAT(Case(11, "Squeeze", {1, 3, 1}).with("axes", {0}).import(), Contains("to tensor<3x1xf32>"));
  CHECK_THAT(Case(13, "Squeeze", {1, 3, 1}).ints({-1}).import(), Contains("to tensor<1x3xf32>"));
  CHECK_THAT(Case(13, "Squeeze", {1, 3, 1}).import(), Contains("to tensor<3xf32>"));
  CHECK_THAT(Case(11, "Unsqueeze", {3}).with("axes", {0, 2}).import(), Contains("to tensor<1x3x1xf32>"));
  CHECK_THAT(Case(13, "Unsqueeze", {3}).ints({-1}).import(), Contains("to tensor<3x1xf32>"));
}

TEST_CASE("Slice's bounds are attributes before opset 10, inputs since") {
  Floats x{0, 1, 2, 3, 4};
  CHECK(Case(9, "Slice", {5}).with("starts", {1}).with("ends", {-1}).on({5}, x) == Floats{1, 2, 3});
  CHECK(Case(10, "Slice", {5}).ints({1}).ints({100}).on({5}, x) == Floats{1, 2, 3, 4});
  CHECK(Case(10, "Slice", {5}).ints({4}).ints({INT64_MIN}).ints({0}).ints({-2}).on({5}, x) == Floats{4, 2, 0});
}

TEST_CASE("Pad's amounts are an attribute before opset 11, an input since; its axes came with opset 18") {
  CHECK(Case(10, "Pad", {2}).with("pads", {1, 1}).with("value", 7.0f).on({2}, {1, 2}) == Floats{7, 1, 2, 7});
  CHECK(Case(11, "Pad", {2}).ints({1, 0}).floats({}, {7}).on({2}, {1, 2}) == Floats{7, 1, 2});
  CHECK(Case(18, "Pad", {1, 2}).ints({0, 1}).none().ints({1}).on({1, 2}, {1, 2}) == Floats{1, 2, 0});
  CHECK(Case(11, "Pad", {3}).ints({2, 1}).with("mode", "reflect").on({3}, {1, 2, 3}) == Floats{3, 2, 1, 2, 3, 2});
  CHECK(Case(11, "Pad", {3}).ints({1, 2}).with("mode", "edge").on({3}, {1, 2, 3}) == Floats{1, 1, 2, 3, 3, 3});
  CHECK(Case(11, "Pad", {3}).ints({-1, 0}).on({3}, {1, 2, 3}) == Floats{2, 3});
}

TEST_CASE("Split by sizes, into equal parts, and with a smaller last part") {
  auto split = [](int64_t opset, llvm::ArrayRef<int64_t> input, std::initializer_list<int64_t> attribute, int outputs) {
    Case c(opset, "Split", {5});
    if (attribute.size())
      c.with("split", attribute);
    if (!input.empty())
      c.ints(input);
    for (int i = 1; i < outputs; ++i) {
      c.node().add_output("y" + std::to_string(i));
      c.model.output("y" + std::to_string(i));
    }
    if (opset >= 18 && input.empty())
      c.with("num_outputs", outputs);
    return c;
  };
  CHECK(split(11, {}, {2, 3}, 2).on({5}, {1, 2, 3, 4, 5}) == Floats{1, 2});
  CHECK(split(13, {4, 1}, {}, 2).on({5}, {1, 2, 3, 4, 5}) == Floats{1, 2, 3, 4});
  CHECK(split(18, {}, {}, 2).on({5}, {1, 2, 3, 4, 5}) == Floats{1, 2, 3});
  CHECK_THAT(split(13, {}, {}, 2).import(), Contains("an axis of size 5 does not split into 2 equal parts"));
  CHECK_THAT(split(13, {4, 2}, {}, 2).import(), Contains("do not make up an axis of size 5"));
}

TEST_CASE("Dropout is the identity; its mask is true") {
  Case c(13, "Dropout", {2});
  c.node().add_output("mask");
  c.model.output("mask");
  std::vector<HostTensor> outputs = c.model.run({floatTensor({2}, {1, 2})});
  CHECK(outputs[0].elements<float>() == llvm::ArrayRef<float>({1, 2}));
  CHECK(outputs[1].bytes == std::vector<char>{1, 1});
}

TEST_CASE("GroupNormalization's scale is one per group before opset 21, one per channel since") {
  Floats x{1, 3, 2, 6};
  CHECK(rounded(Case(18, "GroupNormalization", {1, 4, 1})
                    .with("num_groups", 2)
                    .floats({2}, {1, 2})
                    .floats({2}, {0, 1})
                    .on({1, 4, 1}, x)) == Floats{-1, 1, -1, 3});
  CHECK(rounded(Case(21, "GroupNormalization", {1, 4, 1})
                    .with("num_groups", 2)
                    .floats({4}, {1, 1, 2, 2})
                    .floats({4}, {0, 0, 1, 1})
                    .on({1, 4, 1}, x)) == Floats{-1, 1, -1, 3});
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

TEST_CASE("Conv with strides, pads, groups and a bias") {
  Floats x{1, 2, 3, 4, 5};
  CHECK(Case(11, "Conv", {1, 1, 5})
            .floats({1, 1, 2}, {1, 10})
            .with("strides", {2})
            .with("pads", {1, 0})
            .on({1, 1, 5}, x) == Floats{10, 32, 54});
  CHECK(Case(11, "Conv", {1, 2, 2})
            .floats({2, 1, 1}, {1, 10})
            .floats({2}, {0.5, 0.25})
            .with("group", 2)
            .on({1, 2, 2}, {1, 2, 3, 4}) == Floats{1.5, 2.5, 30.25, 40.25});
}

TEST_CASE("auto_pad puts the odd padding after or before") {
  auto conv = [](const char *pad) {
    return Case(11, "Conv", {1, 1, 3}).floats({1, 1, 2}, {1, 10}).with("auto_pad", pad).on({1, 1, 3}, {1, 2, 3});
  };
  CHECK(conv("SAME_UPPER") == Floats{21, 32, 3});
  CHECK(conv("SAME_LOWER") == Floats{10, 21, 32});
  CHECK(conv("VALID") == Floats{21, 32});
  CHECK_THAT(Case(11, "Conv", {1, 1, 3}).floats({1, 1, 2}, {1, 10}).with("auto_pad", "SOME").import(),
             Contains("attribute 'auto_pad' is 'SOME'; it is NOTSET, VALID, SAME_UPPER or SAME_LOWER"));
}

TEST_CASE("auto_pad of a size that only a run knows") {
  auto windows = [](const char *op, const char *pad, llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<float> values) {
    OnnxModel model(11);
    model.input("x", {1, 1, "n"}).output("y");
    model.floats("w", {1, 1, kernel[0]}, Floats(kernel[0], 1));
    ::onnx::NodeProto &node =
        llvm::StringRef(op) == "Conv" ? model.node(op, {"x", "w"}, {"y"}) : model.node(op, {"x"}, {"y"});
    setString(node, "auto_pad", pad);
    setInts(node, "strides", {2});
    if (llvm::StringRef(op) != "Conv")
      setInts(node, "kernel_shape", {int(kernel[0])});
    return model.runFloats({floatTensor({1, 1, int64_t(values.size())}, values)});
  };
  CHECK(windows("Conv", "SAME_UPPER", {3}, {1, 2, 3}) == Floats{3, 5});
  CHECK(windows("Conv", "SAME_UPPER", {3}, {1, 2, 3, 4}) == Floats{6, 7});
  CHECK(windows("Conv", "SAME_LOWER", {3}, {1, 2, 3, 4}) == Floats{3, 9});
  CHECK(windows("Conv", "SAME_UPPER", {1}, {1, 2, 3, 4}) == Floats{1, 3}); // the 4 is in no window
  CHECK(windows("MaxPool", "SAME_UPPER", {3}, {-1, -2, -3, -4}) == Floats{-1, -3});
  CHECK(windows("AveragePool", "SAME_UPPER", {3}, {3, 6, 9, 12}) == Floats{6, 10.5});
}

TEST_CASE("a shortcut beside windows of the same stride fits at any size") {
  OnnxModel model(11);
  model.input("x", {1, 1, "n"}).output("y").floats("w3", {1, 1, 3}, {1, 1, 1}).floats("w1", {1, 1, 1}, {10});
  for (auto [weight, result] : {std::pair("w3", "a"), std::pair("w1", "b")}) {
    ::onnx::NodeProto &node = model.node("Conv", {"x", weight}, {result});
    setString(node, "auto_pad", "SAME_UPPER");
    setInts(node, "strides", {2});
  }
  model.node("Add", {"a", "b"}, {"y"});
  CHECK(model.runFloats({floatTensor({1, 1, 3}, {1, 2, 3})}) == Floats{13, 35});
}

TEST_CASE("window attributes that cannot be") {
  auto conv = [] { return Case(11, "Conv", {1, 1, 3}).floats({1, 1, 2}, {1, 10}); };
  CHECK_THAT(conv().with("strides", {0}).import(),
             Contains("attribute 'strides' is [0]; 1 numbers from 1 on are needed"));
  CHECK_THAT(conv().with("pads", {-1, 0}).import(), Contains("attribute 'pads' is [-1, 0]; "));
  CHECK_THAT(conv().with("dilations", {1, 1}).import(), Contains("attribute 'dilations' is [1, 1]; "));
  CHECK_THAT(conv().with("kernel_shape", {3}).import(), Contains("attribute 'kernel_shape' is not the weight's shape"));
  CHECK_THAT(conv().with("group", 0).import(), Contains("in 0 groups"));
  CHECK_THAT(conv().with("dilations", {int64_t(1) << 40}).import(),
             Contains("attribute 'dilations' is [1099511627776]; "));
  CHECK_THAT(Case(11, "MaxPool", {1, 1, 3}).import(), Contains("attribute 'kernel_shape' is missing"));
}

TEST_CASE("ConvTranspose with strides and output_shape") {
  CHECK(Case(11, "ConvTranspose", {1, 1, 2}).floats({1, 1, 2}, {1, 10}).with("strides", {2}).on({1, 1, 2}, {1, 2}) ==
        Floats{1, 10, 2, 20});
  CHECK(Case(11, "ConvTranspose", {1, 1, 2})
            .floats({1, 1, 2}, {1, 10})
            .with("strides", {2})
            .with("output_shape", {3})
            .on({1, 1, 2}, {1, 2}) == Floats{10, 2, 20});
  CHECK(Case(11, "ConvTranspose", {1, 1, 2})
            .floats({1, 1, 2}, {1, 10})
            .with("strides", {2})
            .with("output_padding", {1})
            .on({1, 1, 2}, {1, 2}) == Floats{1, 10, 2, 20, 0});
}

TEST_CASE("pools, with ceil_mode and with and without counting the padding") {
  Floats x{1, 5, 2, 4};
  CHECK(Case(10, "MaxPool", {1, 1, 4})
            .with("kernel_shape", {3})
            .with("strides", {2})
            .with("ceil_mode", 1)
            .on({1, 1, 4}, x) == Floats{5, 4});
  CHECK(Case(10, "AveragePool", {1, 1, 4})
            .with("kernel_shape", {2})
            .with("strides", {2})
            .with("pads", {1, 1})
            .on({1, 1, 4}, x) == Floats{1, 3.5, 4});
  CHECK(Case(10, "AveragePool", {1, 1, 4})
            .with("kernel_shape", {2})
            .with("strides", {2})
            .with("pads", {1, 1})
            .with("count_include_pad", 1)
            .on({1, 1, 4}, x) == Floats{0.5, 3.5, 2});
  CHECK(Case(10, "GlobalAveragePool", {1, 2, 2}).on({1, 2, 2}, x) == Floats{3, 3});
}

//===----------------------------------------------------------------------===//
// The rest, one check each
//===----------------------------------------------------------------------===//

TEST_CASE("Gemm with alpha, beta and transposes") {
  CHECK(Case(11, "Gemm", {2, 1})
            .floats({2, 2}, {1, 2, 3, 4})
            .floats({1}, {1})
            .with("alpha", 2.0f)
            .with("beta", 0.5f)
            .with("transA", 1)
            .with("transB", 1)
            .on({2, 1}, {1, 10}) == Floats{42.5, 86.5});
  CHECK_THAT(Case(11, "Gemm", {2, 1, 1}).floats({2, 2}, {1, 2, 3, 4}).import(), Contains("both must be matrices"));
}

TEST_CASE("Gather by a constant is a slice, else a gather; negative indices count from the end") {
  Case constant = Case(13, "Gather", {3, 2}).ints({-1}, /*isScalar=*/true);
  CHECK_THAT(constant.import(), !Contains("graph.gather"));
  CHECK(constant.on({3, 2}, {1, 2, 3, 4, 5, 6}) == Floats{5, 6});
  CHECK(Case(13, "Gather", {3, 2}).ints({2, -3}).on({3, 2}, {1, 2, 3, 4, 5, 6}) == Floats{5, 6, 1, 2});
}

TEST_CASE("GatherND reads elements, rows, and those of its batch") {
  auto gather = [](llvm::ArrayRef<int64_t> dims, const std::vector<int64_t> &indices, int batch) {
    OnnxModel model(13);
    model.input("x", {2, 2, 2}).output("y");
    setTensor(*model.graph().add_initializer(), "i", dims, indices);
    setInt(model.node("GatherND", {"x", "i"}, {"y"}), "batch_dims", batch);
    return model.runFloats({floatTensor({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7})});
  };
  CHECK(gather({2, 3}, {0, 1, 0, 1, -1, 1}, 0) == Floats{2, 7});
  CHECK(gather({1, 2}, {1, 0}, 0) == Floats{4, 5});
  CHECK(gather({2, 1}, {1, 0}, 1) == Floats{2, 3, 4, 5});
  CHECK(gather({2, 3, 1}, {0, 1, 1, 1, 0, 0}, 1) == Floats{0, 1, 2, 3, 2, 3, 6, 7, 4, 5, 4, 5});
}

TEST_CASE("GatherND refuses more places than there are axes") {
  CHECK_THAT(Case(13, "GatherND", {2, 2}).ints({0, 0, 0}).import(), Contains("for [2, 2] with 0 batch axes"));
}

TEST_CASE("Div and Mod of integers; Pow across dtypes") {
  OnnxModel model;
  model.input("x", {2}, ::onnx::TensorProto::INT64).output("y").ints("three", {3}, true);
  model.node("Mod", {"x", "three"}, {"y"});
  CHECK(model.runInts({intTensor({2}, {-7, 7})}) == Ints{2, 1});
  model.graph().mutable_node(0)->set_op_type("Div");
  CHECK(model.runInts({intTensor({2}, {-7, 7})}) == Ints{-2, 2});
  CHECK(Case(13, "Pow", {2}).ints({3}, true).on({2}, {2, -2}) == Floats{8, -8});
  // 377.97, which bfloat16 would round to 378.
  OnnxModel cut;
  cut.input("x", {1}, ::onnx::TensorProto::INT64).output("y").floats("f", {1}, {3.6875f});
  setInt(cut.node("Cast", {"f"}, {"e"}), "to", ::onnx::TensorProto::BFLOAT16);
  cut.node("Pow", {"x", "e"}, {"y"});
  CHECK(cut.runInts({intTensor({1}, {5})}) == Ints{377});
}

TEST_CASE("Shrink of integers is exact") {
  // float32 has no 2^24 + 1, and float64 no 2^53 + 1.
  OnnxModel model;
  model.input("x", {3}, ::onnx::TensorProto::INT64).output("y");
  ::onnx::NodeProto &shrink = model.node("Shrink", {"x"}, {"y"});
  CHECK(model.runInts({intTensor({3}, {(1LL << 53) + 1, -(1LL << 53) - 1, 0})}) ==
        Ints{(1LL << 53) + 1, -(1LL << 53) - 1, 0});
  setFloat(shrink, "bias", 1);
  CHECK(model.runInts({intTensor({3}, {(1 << 24) + 2, -(1 << 24) - 2, 0})}) == Ints{(1 << 24) + 1, -(1 << 24) - 1, 0});
}

TEST_CASE("integers keep their dtype in sums and means") {
  OnnxModel model(17);
  model.input("x", {2}, ::onnx::TensorProto::INT8).output("y");
  model.node("ReduceMean", {"x"}, {"y"});
  CHECK_THAT(model.import(), Contains("-> (tensor<1xi8>"));
}

TEST_CASE("a mean of integers is exact, and cut towards 0") {
  for (const OnnxModel::Dim &size : {OnnxModel::Dim(3), OnnxModel::Dim("n")}) {
    OnnxModel model(17);
    model.input("x", {size}, ::onnx::TensorProto::INT64).output("y");
    model.node("ReduceMean", {"x"}, {"y"});
    CHECK(model.runInts({intTensor({3}, {100000001, 100000001, 100000001})}) == Ints{100000001});
    CHECK(model.runInts({intTensor({3}, {-4, -4, -3})}) == Ints{-3});
  }
}

TEST_CASE("LpPool's last window may reach past the end, but does not begin there") {
  auto pool = [](int64_t kernel, int64_t stride, int64_t padding) {
    Floats results;
    for (const OnnxModel::Dim &size : {OnnxModel::Dim(4), OnnxModel::Dim("n")}) {
      Case c = Case(18, "LpPool", {1, 1, size}).with("p", 1).with("ceil_mode", 1);
      c.with("kernel_shape", {kernel}).with("strides", {stride}).with("pads", {0, padding});
      Floats found = c.on({1, 1, 4}, {1, -2, 3, 4});
      CHECK((results.empty() || found == results));
      results = found;
    }
    return results;
  };
  CHECK(rounded(pool(3, 2, 0)) == Floats{6, 7});
  CHECK(rounded(pool(2, 3, 0)) == Floats{3, 4});
  CHECK(rounded(pool(2, 4, 1)) == Floats{3});
}

TEST_CASE("a norm of half precision may be within its range where powers are not") {
  OnnxModel model(13);
  model.input("x", {1, 1, 2}).output("y");
  setInt(model.node("Cast", {"x"}, {"half"}), "to", ::onnx::TensorProto::FLOAT16);
  model.node("GlobalLpPool", {"half"}, {"norm"});
  setInt(model.node("Cast", {"norm"}, {"y"}), "to", ::onnx::TensorProto::FLOAT);
  CHECK(model.runFloats({floatTensor({1, 1, 2}, {3000, 4000})}) == Floats{5000});
}

TEST_CASE("OneHot takes an open list of two values") {
  OnnxModel model(13);
  model.input("values", {"n"}).output("y").ints("i", {1}).ints("depth", {2}, true);
  model.node("OneHot", {"i", "depth", "values"}, {"y"});
  CHECK(model.runFloats({floatTensor({2}, {5, 7})}) == Floats{5, 7});
}

TEST_CASE("LayerNormalization gives its mean and inverse deviation where they are asked for") {
  Case c = Case(17, "LayerNormalization", {2}).floats({2}, {1, 1});
  c.node().add_output("mean");
  c.model.output("mean");
  std::vector<HostTensor> outputs = c.model.run({floatTensor({2}, {1, 3})});
  CHECK(rounded(outputs[0].elements<float>()) == Floats{-1, 1});
  CHECK(outputs[1].elements<float>() == llvm::ArrayRef<float>({2}));
}

TEST_CASE("LayerNormalization of float64 gives its mean in float32") {
  OnnxModel model(17);
  model.input("x", {2}).output("mean");
  setInt(model.node("Cast", {"x"}, {"d"}), "to", ::onnx::TensorProto::DOUBLE);
  model.node("LayerNormalization", {"d", "d"}, {"y", "mean"});
  CHECK(model.runFloats({floatTensor({2}, {1, 3})}) == Floats{2});
}

TEST_CASE("ArgMax takes the first of equals, or the last") {
  OnnxModel model;
  model.input("x", {3}).output("y");
  ::onnx::NodeProto &node = model.node("ArgMax", {"x"}, {"y"});
  CHECK(model.runInts({floatTensor({3}, {1, 2, 2})}) == Ints{1});
  setInt(node, "select_last_index", 1);
  CHECK(model.runInts({floatTensor({3}, {1, 2, 2})}) == Ints{2});
}

TEST_CASE("angles and hyperbolic functions") {
  auto apply = [](const char *op, llvm::ArrayRef<float> x) { return Case(13, op, {3}).on({3}, x); };
  auto near = [](Floats got, Floats want) {
    REQUIRE(got.size() == want.size());
    for (auto [g, w] : llvm::zip(got, want))
      CHECK(g == Approx(w).epsilon(1e-6).margin(1e-7));
  };
  near(apply("Atan", {-0.5, 3, 1e30f}), {-0.4636476f, 1.2490458f, 1.5707963f});
  near(apply("Asin", {-1, 0.25, 1}), {-1.5707963f, 0.2526802f, 1.5707963f});
  near(apply("Acos", {-1, 0.25, 1}), {3.1415927f, 1.3181161f, 0});
  near(apply("Asinh", {-100, 0, 2}), {-5.2983424f, 0, 1.4436355f});
  near(apply("Tan", {-1, 0, 1.5}), {-1.5574077f, 0, 14.10142f});
}

TEST_CASE("Swish, with and without alpha") {
  CHECK(rounded(Case(24, "Swish", {2}).on({2}, {0, 1})) == Floats{0, 0.731f});
  CHECK(rounded(Case(24, "Swish", {2}).with("alpha", 2.0f).on({2}, {0, 1})) == Floats{0, 0.881f});
}

TEST_CASE("an unknown mode or dtype is refused") {
  CHECK_THAT(Case(20, "Gelu", {1}).with("approximate", "x").import(),
             Contains("attribute 'approximate' is 'x'; it is none or tanh"));
  CHECK_THAT(Case(13, "Cast", {1}).with("to", 8).import(), Contains("cast of float32 to string is not supported"));
}

TEST_CASE("MaxPool says where its maxima lie, the first of equals, by rows or by columns") {
  auto places = [](int order) {
    OnnxModel model(12);
    model.input("x", {1, 2, 2, 3}).output("y").output("places");
    ::onnx::NodeProto &node = model.node("MaxPool", {"x"}, {"y", "places"});
    setInts(node, "kernel_shape", {2, 2});
    setInts(node, "pads", {0, 0, 0, 1});
    setInt(node, "storage_order", order);
    std::vector<HostTensor> outputs = model.run({floatTensor({1, 2, 2, 3}, {1, 5, 2, 4, 5, 3, 0, 0, 0, 0, 0, -1})});
    llvm::ArrayRef<int64_t> elements = outputs[1].elements<int64_t>();
    return Ints(elements.begin(), elements.end());
  };
  CHECK(places(0) == Ints{1, 1, 5, 6, 7, 8});
  CHECK(places(1) == Ints{2, 2, 5, 6, 8, 10});
}

TEST_CASE("BatchNormalization in training is by the batch and moves the running statistics") {
  OnnxModel model(15);
  model.input("x", {2, 1, 2}).floats("one", {1}, {1}).floats("zero", {1}, {0}).floats("mean", {1}, {10});
  for (const char *name : {"y", "runningMean", "runningVariance"})
    model.output(name);
  ::onnx::NodeProto &node =
      model.node("BatchNormalization", {"x", "one", "zero", "mean", "one"}, {"y", "runningMean", "runningVariance"});
  setInt(node, "training_mode", 1);
  setFloat(node, "momentum", 0.5f);
  setFloat(node, "epsilon", 0.0f);
  std::vector<HostTensor> outputs = model.run({floatTensor({2, 1, 2}, {2, 4, 6, 8})});
  CHECK(outputs[0].elements<float>()[3] == Approx(3 / std::sqrt(5)));
  CHECK(outputs[1].elements<float>()[0] == 7.5f);
  CHECK(outputs[2].elements<float>()[0] == 3);
}

TEST_CASE("Range and OneHot may be as long as data says") {
  OnnxModel model(13);
  model.input("x", {}).output("y").floats("start", {}, {1}).floats("step", {}, {0.5f});
  model.node("Range", {"start", "x", "step"}, {"y"});
  CHECK(model.runFloats({floatTensor({}, {2.25f})}) == Floats{1, 1.5f, 2});
  CHECK(model.runFloats({floatTensor({}, {0})}).empty());
  OnnxModel hot(13);
  hot.input("depth", {}).output("y").ints("i", {1}).floats("values", {2}, {0, 1});
  hot.node("OneHot", {"i", "depth", "values"}, {"y"});
  CHECK(hot.runFloats({floatTensor({}, {3})}) == Floats{0, 1, 0});
}

TEST_CASE("Range of floats whose length is known") {
  OnnxModel model(13);
  model.input("x", {3}).output("y").floats("start", {}, {1}).floats("limit", {}, {2.25f}).floats("step", {}, {0.5f});
  model.node("Range", {"start", "limit", "step"}, {"r"});
  model.node("Add", {"x", "r"}, {"y"});
  CHECK(model.runFloats({floatTensor({3}, {0, 0, 1})}) == Floats{1, 1.5f, 3});
}

TEST_CASE("Range by a step that is data") {
  OnnxModel model(13);
  model.input("step", {}, ::onnx::TensorProto::INT64).output("y").ints("a", {7}, true).ints("b", {2}, true);
  model.node("Range", {"a", "b", "step"}, {"y"});
  CHECK(model.runInts({intTensor({}, {-2})}) == Ints{7, 5, 3});
}

TEST_CASE("Softmax of half precision rounds its powers and their sum, as its definition does") {
  OnnxModel model(13);
  model.input("x", {3}).output("y");
  setInt(model.node("Cast", {"x"}, {"half"}), "to", ::onnx::TensorProto::FLOAT16);
  model.node("Softmax", {"half"}, {"weights"});
  setInt(model.node("Cast", {"weights"}, {"y"}), "to", ::onnx::TensorProto::FLOAT);
  // powers 0.60644531, 1, 1; their sum 2.60644531 rounds to 2.60546875
  CHECK(model.runFloats({floatTensor({3}, {0, 0.5, 0.5})}) == Floats{0.232788086f, 0.383789062f, 0.383789062f});
}

TEST_CASE("a running sum has its input's size, 0 too") {
  OnnxModel model;
  model.input("x", {"n"}).ints("axis", {0}, /*isScalar=*/true).output("y");
  model.node("CumSum", {"x", "axis"}, {"sums"});
  model.node("Add", {"x", "sums"}, {"y"});
  CHECK(model.runFloats({floatTensor({3}, {1, 2, 3})}) == Floats{2, 5, 9});
  CHECK(model.runFloats({floatTensor({0}, {})}).empty());
}
