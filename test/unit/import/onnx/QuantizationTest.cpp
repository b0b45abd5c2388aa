// Integers are right or wrong, no tolerance hides a mistake, and the mistakes are at the edges: a half that rounds the
// wrong way, saturation, a zero point that is taken away too late, a scale of the wrong axis. So the cases have few
// elements, chosen at ties and at the ends of ranges, and some sums in which float32 would lose ones, which tell
// whether integers were really added up.
#include "OnnxModel.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace kiln::test;
using Catch::Contains;
using Floats = std::vector<float>;
using Proto = ::onnx::TensorProto;

/// y = the node of x and more inputs, which are initializers; integers are those of the dtype given.
class QuantizedCase {
public:
  QuantizedCase(int64_t opset, const std::string &op, OnnxModel::Dims dims) : model_(opset) {
    model_.input("x", dims).output("z");
    setInt(addNode(model_.graph(), "Cast", {"x"}, {"i0"}), "to", Proto::FLOAT);
    addNode(model_.graph(), op, {"i0"}, {"y"});
    setInt(addNode(model_.graph(), "Cast", {"y"}, {"z"}), "to", Proto::FLOAT);
  }
  ::onnx::NodeProto &node() { return *model_.graph().mutable_node(1); }
  /// The first input in another dtype.
  QuantizedCase &as(int dtype) {
    model_.graph().mutable_node(0)->mutable_attribute(0)->set_i(dtype);
    return *this;
  }
  QuantizedCase &floats(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> values) {
    model_.floats(next(), dims, values);
    return *this;
  }
  QuantizedCase &ints(int dtype, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> values) {
    std::string name = next();
    setTensor(*model_.graph().add_initializer(), name + ".wide", dims, values);
    setInt(addNode(model_.graph(), "Cast", {name + ".wide"}, {name}), "to", dtype);
    return *this;
  }
  QuantizedCase &with(const std::string &name, int64_t value) { return setInt(node(), name, value), *this; }
  Floats on(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> values) {
    return model_.runFloats({floatTensor(dims, values)});
  }
  std::string import() { return model_.import(); }

private:
  std::string next() {
    std::string name = "i" + std::to_string(node().input_size());
    node().add_input(name);
    return name;
  }
  OnnxModel model_;
};

TEST_CASE("QuantizeLinear rounds half to even and saturates") {
  CHECK(QuantizedCase(10, "QuantizeLinear", {5}).floats({}, {2}).on({5}, {1, 3, 5, -1, 600}) ==
        Floats{0, 2, 2, 0, 255});
  CHECK(
      QuantizedCase(10, "QuantizeLinear", {4}).floats({}, {2}).ints(Proto::INT8, {}, {-1}).on({4}, {1, 3, -600, 600}) ==
      Floats{-1, 1, -128, 127});
  CHECK(QuantizedCase(21, "QuantizeLinear", {2}).floats({}, {1}).ints(Proto::UINT16, {}, {65000}).on({2}, {535, 536}) ==
        Floats{65535, 65535});
  CHECK(QuantizedCase(21, "QuantizeLinear", {2}).floats({}, {1}).with("output_dtype", Proto::INT8).on({2}, {-3, 200}) ==
        Floats{-3, 127});
}

TEST_CASE("QuantizeLinear's scales: one per index of an axis, or one per block") {
  Floats x{1, 2, 3, 4, 5, 6};
  CHECK(QuantizedCase(13, "QuantizeLinear", {2, 3}).floats({3}, {1, 2, 3}).on({2, 3}, x) == Floats{1, 1, 1, 4, 2, 2});
  CHECK(QuantizedCase(13, "QuantizeLinear", {2, 3}).floats({2}, {1, 2}).with("axis", 0).on({2, 3}, x) ==
        Floats{1, 2, 3, 2, 2, 3});
  CHECK(QuantizedCase(21, "QuantizeLinear", {2, 3}).floats({2, 2}, {1, 2, 3, 4}).with("block_size", 2).on({2, 3}, x) ==
        Floats{1, 2, 2, 1, 2, 2});
  CHECK_THAT(QuantizedCase(13, "QuantizeLinear", {2, 3}).floats({2}, {1, 2}).import(),
             Contains("a scale or zero point [2] along axis 1 of [2, 3]"));
  CHECK_THAT(QuantizedCase(21, "QuantizeLinear", {2, 3}).floats({2, 3}, Floats(6)).with("block_size", 2).import(),
             Contains("a scale or zero point [2, 3] for blocks of 2 along axis 1 of [2, 3]"));
}

TEST_CASE("DequantizeLinear takes the zero point away in integers") {
  CHECK(QuantizedCase(10, "DequantizeLinear", {2})
            .as(Proto::UINT8)
            .floats({}, {0.5})
            .ints(Proto::UINT8, {}, {200})
            .on({2}, {0, 255}) == Floats{-100, 27.5});
  CHECK_THAT(
      QuantizedCase(10, "DequantizeLinear", {2}).as(Proto::UINT8).floats({}, {1}).ints(Proto::INT8, {}, {0}).import(),
      Contains("a zero point of int8 for uint8"));
}

TEST_CASE("DynamicQuantizeLinear's range has 0 in it; of zeros alone the scale is not 0") {
  auto scale = [](Floats x) {
    QuantizedCase c(11, "DynamicQuantizeLinear", {3});
    c.node().clear_output();
    for (const char *name : {"q", "y", "zero"})
      c.node().add_output(name);
    return c.on({3}, x);
  };
  CHECK(scale({51, 102, 255}) == Floats{1});
  CHECK(scale({-51, 0, 204}) == Floats{1});
  CHECK(scale({0, 0, 0}) == Floats{1.0f / 255});
}

TEST_CASE("MatMulInteger and ConvInteger: padding is the zero point, zero points may be one per output") {
  CHECK(QuantizedCase(10, "MatMulInteger", {2, 1})
            .as(Proto::UINT8)
            .ints(Proto::INT8, {1, 2}, {-3, 4})
            .ints(Proto::UINT8, {2}, {1, 2})
            .ints(Proto::INT8, {2}, {0, 1})
            .on({2, 1}, {5, 7}) == Floats{-12, 12, -15, 15});
  CHECK(QuantizedCase(10, "ConvInteger", {1, 1, 4})
            .as(Proto::UINT8)
            .ints(Proto::INT8, {2, 1, 3}, {1, 1, 1, 4, 4, 4})
            .ints(Proto::UINT8, {}, {10})
            .ints(Proto::INT8, {2}, {0, 3})
            .on({1, 1, 4}, {11, 13, 10, 10}) == Floats{4, 3, 4, 3});
  QuantizedCase padded(10, "ConvInteger", {1, 1, 1});
  padded.as(Proto::UINT8).ints(Proto::INT8, {1, 1, 3}, {1, 1, 1}).ints(Proto::UINT8, {}, {10});
  setInts(padded.node(), "pads", {1, 1});
  CHECK(padded.on({1, 1, 1}, {13}) == Floats{3});
}

TEST_CASE("QLinearMatMul rounds before the zero point is added") {
  // 3 · 0.5 is 1.5 and rounds to 2, plus 1; with the zero point added first, 2.5 would round to 2.
  CHECK(QuantizedCase(10, "QLinearMatMul", {1, 1})
            .as(Proto::UINT8)
            .floats({}, {0.5})
            .ints(Proto::UINT8, {}, {0})
            .ints(Proto::INT8, {1, 1}, {1})
            .floats({}, {1})
            .ints(Proto::INT8, {}, {0})
            .floats({}, {1})
            .ints(Proto::UINT8, {}, {1})
            .on({1, 1}, {3}) == Floats{3});
}

TEST_CASE("QuantizeLinear to narrow dtypes saturates at their ends") {
  Floats x{-9, 7.5, 8, 2.5};
  CHECK(QuantizedCase(21, "QuantizeLinear", {4}).floats({}, {1}).with("output_dtype", Proto::INT4).on({4}, x) ==
        Floats{-8, 7, 7, 2});
  CHECK(QuantizedCase(21, "QuantizeLinear", {4}).floats({}, {1}).ints(Proto::UINT4, {}, {14}).on({4}, x) ==
        Floats{5, 15, 15, 15});
  CHECK(QuantizedCase(25, "QuantizeLinear", {4}).floats({}, {1}).with("output_dtype", Proto::INT2).on({4}, x) ==
        Floats{-2, 1, 1, 1});
  CHECK(QuantizedCase(19, "QuantizeLinear", {3})
            .floats({}, {2})
            .ints(Proto::FLOAT8E4M3FN, {}, {0})
            .on({3}, {1e6f, 3, -1}) == Floats{448, 1.5, -0.5});
  CHECK(std::isnan(QuantizedCase(19, "QuantizeLinear", {1})
                       .floats({}, {2})
                       .ints(Proto::FLOAT8E4M3FN, {}, {0})
                       .with("saturate", 0)
                       .on({1}, {1e6f})[0]));
  CHECK(QuantizedCase(23, "QuantizeLinear", {3})
            .floats({}, {1})
            .ints(Proto::FLOAT4E2M1, {}, {1})
            .on({3}, {100, 0.2f, -3}) == Floats{6, 1, -2});
}

TEST_CASE("DequantizeLinear of narrow dtypes") {
  CHECK(QuantizedCase(21, "DequantizeLinear", {2})
            .as(Proto::INT4)
            .floats({}, {0.5})
            .ints(Proto::INT4, {}, {-8})
            .on({2}, {-8, 7}) == Floats{0, 7.5});
  CHECK(QuantizedCase(19, "DequantizeLinear", {2}).as(Proto::FLOAT8E5M2).floats({}, {2}).on({2}, {1.5, -57344}) ==
        Floats{3, -114688});
  CHECK(QuantizedCase(21, "DequantizeLinear", {4})
            .as(Proto::UINT4)
            .floats({2}, {1, 2})
            .ints(Proto::UINT4, {2}, {1, 0})
            .with("axis", 0)
            .with("block_size", 2)
            .on({4}, {0, 1, 2, 3}) == Floats{-1, 0, 4, 6});
}

/// A product of one row and one column, both dequantised from bytes, in which float32 loses ones: it adds them to 2^24.
static OnnxModel dequantizedProduct(const std::string &op, OnnxModel::Dims dims, llvm::ArrayRef<int64_t> weightDims) {
  std::vector<int64_t> column(258, 255);
  column.resize(272, 1);
  OnnxModel model(17);
  model.input("x", dims).floats("scale", {}, {1}).output("y");
  setTensor(*model.graph().add_initializer(), "wide", weightDims, column);
  setInt(model.node("Cast", {"wide"}, {"w"}), "to", Proto::UINT8);
  setInt(model.node("Cast", {"x"}, {"q"}), "to", Proto::UINT8);
  model.node("DequantizeLinear", {"q", "scale"}, {"a"});
  model.node("DequantizeLinear", {"w", "scale"}, {"b"});
  model.node(op, {"a", "b"}, {"y"});
  return model;
}

TEST_CASE("a product of dequantised tensors is one of integers, scaled once") {
  std::vector<float> row(261, 255);
  row.resize(272, 1);
  CHECK(dequantizedProduct("MatMul", {1, 272}, {272, 1}).runFloats({floatTensor({1, 272}, row)}) == Floats{16777226});
  CHECK(dequantizedProduct("MatMul", {1, 272}, {272}).runFloats({floatTensor({1, 272}, row)}) == Floats{16777226});
  OnnxModel gemm = dequantizedProduct("Gemm", {1, 272}, {1, 272});
  setInt(*gemm.graph().mutable_node()->rbegin(), "transB", 1);
  CHECK(gemm.runFloats({floatTensor({1, 272}, row)}) == Floats{16777226});
  CHECK(dequantizedProduct("Conv", {1, 272, 1}, {1, 272, 1}).runFloats({floatTensor({1, 272, 1}, row)}) ==
        Floats{16777226});
}

TEST_CASE("a product of dequantised tensors whose sum may not fit int32 stays one of floats") {
  OnnxModel model(17);
  model.input("q", {1, 40000}, Proto::UINT8).input("w", {40000, 1}, Proto::UINT8).floats("scale", {}, {1}).output("y");
  model.node("DequantizeLinear", {"q", "scale"}, {"a"});
  model.node("DequantizeLinear", {"w", "scale"}, {"b"});
  model.node("MatMul", {"a", "b"}, {"y"});
  CHECK_THAT(model.import(), !Contains("1x1x40000xi32"));
}

TEST_CASE("a product of dequantised tensors takes the second one's scale of each column, not of each row") {
  auto product = [](int64_t axis) {
    OnnxModel model(17);
    model.input("x", {1, 2}).input("y", {2, 2}).floats("first", {}, {0.5f}).floats("second", {2}, {2, 10});
    model.floats("bias", {2}, {1, 2}).output("z");
    setInt(model.node("Cast", {"x"}, {"p"}), "to", Proto::INT8);
    setInt(model.node("Cast", {"y"}, {"q"}), "to", Proto::INT8);
    model.node("DequantizeLinear", {"p", "first"}, {"a"});
    setInt(model.node("DequantizeLinear", {"q", "second"}, {"b"}), "axis", axis);
    model.node("Gemm", {"a", "b", "bias"}, {"z"});
    return model.runFloats({floatTensor({1, 2}, {2, 3}), floatTensor({2, 2}, {1, 2, 3, 4})});
  };
  CHECK(product(1) == Floats{12, 82});
  CHECK(product(0) == Floats{48, 66});
}
