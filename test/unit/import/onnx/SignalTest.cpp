#include "OnnxModel.h"

#include <catch2/catch.hpp>

#include <complex>
#include <numbers>

using namespace kiln::test;
using Floats = std::vector<float>;
using Dims = kiln::interp::Dims;

static Floats rounded(Floats values) {
  for (float &value : values)
    value = std::round(value * 1000) / 1000 + 0.0f; // no -0
  return values;
}

static OnnxModel transform(OnnxModel::Dims dims, std::initializer_list<std::string> inputs,
                           std::initializer_list<const char *> flags) {
  OnnxModel model(20);
  model.input("x", dims).input("n", {}, ::onnx::TensorProto::INT64).output("y");
  ::onnx::NodeProto &node = model.node("DFT", inputs, {"y"});
  for (const char *flag : flags)
    setInt(node, flag, 1);
  return model;
}

TEST_CASE("DFT of a real signal, whole and its first half") {
  HostTensor x = floatTensor({1, 4, 1}, {1, 2, 3, 4}), n = intTensor({}, {4});
  CHECK(rounded(transform({1, 4, 1}, {"x"}, {}).runFloats({x, n})) == Floats{10, 0, -2, 2, -2, 0, -2, -2});
  CHECK(rounded(transform({1, 4, 1}, {"x"}, {"onesided"}).runFloats({x, n})) == Floats{10, 0, -2, 2, -2, 0});
}

TEST_CASE("DFT of another length cuts the signal or adds zeros") {
  HostTensor x = floatTensor({1, 4, 1}, {1, 2, 3, 4});
  OnnxModel model = transform({1, 4, 1}, {"x", "n"}, {});
  CHECK(rounded(model.runFloats({x, intTensor({}, {2})})) == Floats{3, 0, -1, 0});
  CHECK(model.run({x, intTensor({}, {6})})[0].dims == Dims{1, 6, 2});
}

TEST_CASE("DFT along an axis that is data") {
  HostTensor x = floatTensor({2, 2, 1}, {1, 2, 3, 4});
  OnnxModel model = transform({2, 2, 1}, {"x", "", "n"}, {});
  CHECK(rounded(model.runFloats({x, intTensor({}, {1})})) == Floats{3, 0, -1, 0, 7, 0, -1, 0});
  CHECK(rounded(model.runFloats({x, intTensor({}, {-3})})) == Floats{4, 0, 6, 0, -2, 0, -2, 0});
}

TEST_CASE("The inverse of a DFT, and of its first half") {
  HostTensor n = intTensor({}, {4}), last = intTensor({}, {-2});
  CHECK(rounded(transform({1, 4, 2}, {"x"}, {"inverse"})
                    .runFloats({floatTensor({1, 4, 2}, {10, 0, -2, 2, -2, 0, -2, -2}), n})) ==
        Floats{1, 0, 2, 0, 3, 0, 4, 0});
  CHECK(rounded(transform({1, 2, 2}, {"x", "", "n"}, {"inverse"})
                    .runFloats({floatTensor({1, 2, 2}, {3, 0, -1, 0}), last})) == Floats{1, 0, 2, 0});
  CHECK(rounded(transform({1, 3, 2}, {"x"}, {"inverse", "onesided"})
                    .runFloats({floatTensor({1, 3, 2}, {10, 0, -2, 2, -2, 0}), n})) == Floats{1, 2, 3, 4});
}

TEST_CASE("A long DFT in two steps, a prime one by a matrix, each there and back") {
  for (int64_t length : {30, 36, 37, 512}) {
    INFO(length);
    Floats signal(2 * length);
    for (int64_t i = 0; i < 2 * length; ++i)
      signal[i] = float((i * 37 % 11) - 5);
    HostTensor x = floatTensor({1, length, 2}, signal), n = intTensor({}, {length});
    Floats frequencies = transform({1, length, 2}, {"x"}, {}).runFloats({x, n});
    double most = 0;
    for (int64_t k = 0; k < length; ++k) {
      std::complex<double> sum = 0;
      for (int64_t i = 0; i < length; ++i)
        sum += std::complex<double>(signal[2 * i], signal[2 * i + 1]) *
               std::polar(1.0, -2 * std::numbers::pi * double(i * k % length) / double(length));
      most = std::max(most, std::abs(sum - std::complex<double>(frequencies[2 * k], frequencies[2 * k + 1])));
    }
    CHECK(most < 1e-3);
    HostTensor there = floatTensor({1, length, 2}, frequencies);
    CHECK(rounded(transform({1, length, 2}, {"x"}, {"inverse"}).runFloats({there, n})) == rounded(signal));
  }
}

TEST_CASE("A long DFT of a signal that is cut, and of one that has zeros appended") {
  for (int64_t length : {30, 48}) {
    OnnxModel model(20);
    model.input("x", {1, 40, 1}).ints("n", {length}, true).output("y");
    setInt(model.node("DFT", {"x", "n"}, {"y"}), "onesided", 1);
    std::vector<HostTensor> outputs = model.run({floatTensor({1, 40, 1}, Floats(40, 1))});
    CHECK(outputs[0].dims == Dims{1, length / 2 + 1, 2});
    CHECK(rounded(model.runFloats({floatTensor({1, 40, 1}, Floats(40, 1))}))[0] ==
          float(std::min<int64_t>(length, 40)));
  }
}

TEST_CASE("STFT transforms windows, a step apart") {
  OnnxModel model(17);
  model.input("x", {1, 6, 1}).input("step", {}, ::onnx::TensorProto::INT64).floats("window", {2}, {1, 0.5f});
  model.output("y").node("STFT", {"x", "step", "window"}, {"y"});
  HostTensor x = floatTensor({1, 6, 1}, {1, 2, 3, 4, 5, 6});
  std::vector<HostTensor> outputs = model.run({x, intTensor({}, {4})});
  CHECK(outputs[0].dims == Dims{1, 2, 2, 2});
  CHECK(rounded(model.runFloats({x, intTensor({}, {4})})) == Floats{2, 0, 0, 0, 8, 0, 2, 0});
}

TEST_CASE("MelWeightMatrix: a triangle a bin") {
  OnnxModel model(17);
  model.ints("bins", {2}, true).ints("length", {16}, true).ints("rate", {8000}, true);
  model.input("low", {}).input("high", {}).output("y");
  model.node("MelWeightMatrix", {"bins", "length", "rate", "low", "high"}, {"y"});
  std::vector<HostTensor> outputs = model.run({floatTensor({}, {0}), floatTensor({}, {4000})});
  CHECK(outputs[0].dims == Dims{9, 2});
  // In mels the edges lie at 0, 536.5, 1073 and 1609.5, in hertz at 0, 426.8, 1113.8 and 2219.8: frequencies 0, 0,
  // 2, 4.
  CHECK(model.runFloats({floatTensor({}, {0}), floatTensor({}, {4000})}) ==
        Floats{1, 0, 0.5f, 0.5f, 0, 1, 0, 0.5f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

/// A step of an optimizer with R = 0.5, X = 1, G = 2 and states of 4.
static Floats step(const char *op, int64_t before, std::initializer_list<std::string> states,
                   std::initializer_list<std::pair<const char *, float>> settings, const char *mode = nullptr) {
  OnnxModel model(20);
  auto &imported = *model.proto.add_opset_import();
  imported.set_domain("ai.onnx.preview.training");
  imported.set_version(1);
  model.floats("r", {}, {0.5f}).ints("t", {before}, true).input("x", {1}).floats("g", {1}, {2}).output("y");
  ::onnx::NodeProto &node = model.node(op, {"r", "t", "x", "g"}, {"y"});
  node.set_domain("ai.onnx.preview.training");
  for (const std::string &state : states) {
    model.floats(state, {1}, {4});
    node.add_input(state);
    node.add_output(state + "'");
    model.output(state + "'");
  }
  for (auto [name, value] : settings)
    setFloat(node, name, value);
  if (mode)
    setString(node, "mode", mode);
  Floats result;
  for (const HostTensor &output : model.run({floatTensor({1}, {1})}))
    result.push_back(output.elements<float>()[0]);
  return rounded(result);
}

TEST_CASE("Steps of optimizers") {
  CHECK(step("Adagrad", 3, {"h"}, {{"decay_factor", 1.0f}, {"norm_coefficient", 1.0f}}) == Floats{0.896f, 13});
  CHECK(step("Adam", 0, {"v", "h"}, {{"alpha", 0.5f}, {"beta", 0.5f}}) == Floats{0.25f, 3, 4});
  CHECK(step("Adam", 1, {"v", "h"}, {{"alpha", 0.5f}, {"beta", 0.5f}}) == Floats{-0.061f, 3, 4});
  CHECK(step("Momentum", 0, {"v"}, {{"alpha", 0.5f}, {"beta", 0.5f}}, "standard") == Floats{-1, 4});
  CHECK(step("Momentum", 1, {"v"}, {{"alpha", 0.5f}, {"beta", 0.5f}}, "nesterov") == Floats{-0.75f, 3});
}
