// RNN, GRU and LSTM of one unit and one input feature, against the equations of their definition on plain numbers. With
// one unit each gate is a number, so the definition can be written down a second time in a few lines that have nothing
// in common with the importer's. Every gate has weights of its own, so that two gates in the wrong order would show.
#include "OnnxModel.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace kiln::test;
using Catch::Contains;
using Floats = std::vector<float>;

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// What the tests vary; weights are W[g] = 0.5 + g/4, R[g] = 0.25 + g/8, Wb[g] = g/10, Rb[g] = 0.3, for gate g.
struct Unit {
  double clip = INFINITY;
  bool coupled = false, peepholes = false, resetsAfter = false;
  double hidden = 0, cell = 0;

  double w(int gate) const { return 0.5 + gate / 4.0; }
  double r(int gate) const { return 0.25 + gate / 8.0; }
  double wb(int gate) const { return gate / 10.0; }
  static constexpr double rb = 0.3;
  double clipped(double x) const { return std::clamp(x, -clip, clip); }
  double sum(int gate, double x, double h) const { return x * w(gate) + h * r(gate) + wb(gate) + rb; }

  double lstm(double x) {
    double p = peepholes ? 0.7 : 0, h = hidden;
    double input = sigmoid(clipped(sum(0, x, h) + p * cell));
    double forget = coupled ? 1 - input : sigmoid(clipped(sum(2, x, h) + p * cell));
    cell = forget * cell + input * std::tanh(clipped(sum(3, x, h)));
    return hidden = sigmoid(clipped(sum(1, x, h) + p * cell)) * std::tanh(cell);
  }
  double gru(double x) {
    double update = sigmoid(sum(0, x, hidden)), reset = sigmoid(sum(1, x, hidden));
    double memory = resetsAfter ? reset * (hidden * r(2) + rb) : reset * hidden * r(2) + rb;
    double fresh = std::tanh(x * w(2) + wb(2) + memory);
    return hidden = (1 - update) * fresh + update * hidden;
  }
  double rnn(double x) { return hidden = std::tanh(sum(0, x, hidden)); }
};

/// A model of one such node whose input is [3, 1, 1].
struct Model {
  OnnxModel model{14};
  std::string op;

  Model(const std::string &op, int gates, int directions = 1, OnnxModel::Dims dims = {3, 1, 1}) : op(op) {
    model.input("x", dims);
    for (const char *name : {"y", "last", "cell"})
      if (op == "LSTM" || name != std::string("cell"))
        model.output(name);
    model.node(op, {"x", "w", "r", "b"}, {"y", "last"});
    if (op == "LSTM")
      node().add_output("cell");
    Unit unit;
    Floats w, r, b;
    for (int d = 0; d < directions; ++d) {
      for (int g = 0; g < gates; ++g) {
        w.push_back(unit.w(g));
        r.push_back(unit.r(g));
        b.push_back(unit.wb(g));
      }
      b.insert(b.end(), gates, Unit::rb);
    }
    model.floats("w", {directions, gates, 1}, w);
    model.floats("r", {directions, gates, 1}, r);
    model.floats("b", {directions, 2 * gates}, b);
  }
  ::onnx::NodeProto &node() { return *model.graph().mutable_node(0); }
  /// Input `index` is an initializer.
  Model &with(int index, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> values) {
    while (node().input_size() < index)
      node().add_input("");
    node().add_input("i" + std::to_string(index));
    model.floats("i" + std::to_string(index), dims, values);
    return *this;
  }
  Floats y(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> x) { return model.runFloats({floatTensor(dims, x)}); }
};

Floats three(double (Unit::*step)(double), Unit unit, const Floats &x) {
  Floats y;
  for (float value : x)
    y.push_back((unit.*step)(value));
  return y;
}

void checkClose(const Floats &got, const Floats &want) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i)
    CHECK(got[i] == Approx(want[i]).margin(1e-6));
}

const Floats kX{1, -2, 0.5};
} // namespace

TEST_CASE("LSTM follows its equations") { checkClose(Model("LSTM", 4).y({3, 1, 1}, kX), three(&Unit::lstm, {}, kX)); }
TEST_CASE("GRU follows its equations") { checkClose(Model("GRU", 3).y({3, 1, 1}, kX), three(&Unit::gru, {}, kX)); }
TEST_CASE("RNN follows its equations") { checkClose(Model("RNN", 1).y({3, 1, 1}, kX), three(&Unit::rnn, {}, kX)); }

TEST_CASE("All steps of all samples are rows of one product for each direction") {
  Model m("LSTM", 4, 2, {"time", "batch", 1});
  setString(m.node(), "direction", "bidirectional");
  CHECK_THAT(m.model.import(), Contains("#kiln.dims<[2, \"(batch*time)\", 4, 1]>>)"));
}

TEST_CASE("An LSTM's last states are its second and third outputs") {
  Model m("LSTM", 4);
  std::vector<HostTensor> outputs = m.model.run({floatTensor({3, 1, 1}, kX)});
  Unit unit;
  for (float x : kX)
    unit.lstm(x);
  REQUIRE(outputs.size() == 3);
  CHECK(outputs[1].dims == kiln::interp::Dims{1, 1, 1});
  CHECK(outputs[1].elements<float>()[0] == Approx(unit.hidden));
  CHECK(outputs[2].elements<float>()[0] == Approx(unit.cell));
}

TEST_CASE("An LSTM takes initial states and peepholes") {
  Model m("LSTM", 4);
  m.with(5, {1, 1, 1}, {0.4f}).with(6, {1, 1, 1}, {-0.6f}).with(7, {1, 3}, {0.7f, 0.7f, 0.7f});
  checkClose(m.y({3, 1, 1}, kX), three(&Unit::lstm, {.peepholes = true, .hidden = 0.4, .cell = -0.6}, kX));
}

TEST_CASE("input_forget makes the forget gate what the input gate leaves") {
  Model m("LSTM", 4);
  setInt(m.node(), "input_forget", 1);
  checkClose(m.y({3, 1, 1}, kX), three(&Unit::lstm, {.coupled = true}, kX));
}

TEST_CASE("clip bounds what goes into the gates, not the cell") {
  Model m("LSTM", 4);
  setFloat(m.node(), "clip", 0.25f);
  checkClose(m.y({3, 1, 1}, kX), three(&Unit::lstm, {.clip = 0.25}, kX));
}

TEST_CASE("linear_before_reset resets after the product and its bias") {
  Model m("GRU", 3);
  setInt(m.node(), "linear_before_reset", 1);
  checkClose(m.y({3, 1, 1}, kX), three(&Unit::gru, {.resetsAfter = true}, kX));
}

TEST_CASE("A reversed direction begins at the end") {
  Model m("GRU", 3);
  setString(m.node(), "direction", "reverse");
  Floats backwards = three(&Unit::gru, {}, {kX.rbegin(), kX.rend()});
  checkClose(m.y({3, 1, 1}, kX), {backwards.rbegin(), backwards.rend()});
}

TEST_CASE("Both directions stand side by side, each with its activations") {
  Model m("RNN", 1, 2);
  setString(m.node(), "direction", "bidirectional");
  ::onnx::AttributeProto &names = *m.node().add_attribute();
  names.set_name("activations");
  names.set_type(::onnx::AttributeProto::STRINGS);
  names.add_strings("tanh");
  names.add_strings("Affine");
  ::onnx::AttributeProto &alpha = *m.node().add_attribute();
  alpha.set_name("activation_alpha");
  alpha.set_type(::onnx::AttributeProto::FLOATS);
  alpha.add_floats(0.5f); // of Affine: Tanh has none
  Floats forward = three(&Unit::rnn, {}, kX), y;
  double h = 0, backward[3];
  for (int t = 2; t >= 0; --t)
    backward[t] = h = 0.5 * Unit().sum(0, kX[t], h);
  for (int t = 0; t < 3; ++t)
    y.insert(y.end(), {forward[t], float(backward[t])});
  checkClose(m.y({3, 1, 1}, kX), y);
}

TEST_CASE("layout 1 has the batch first") {
  Model m("RNN", 1, 1, {2, 3, 1});
  setInt(m.node(), "layout", 1);
  Floats y = three(&Unit::rnn, {}, kX), second = three(&Unit::rnn, {}, {3, 4, 5});
  y.insert(y.end(), second.begin(), second.end());
  checkClose(m.y({2, 3, 1}, {1, -2, 0.5, 3, 4, 5}), y);
}

TEST_CASE("A sequence that is over keeps its state and gives zeros") {
  for (const char *direction : {"forward", "reverse"}) {
    Model m("RNN", 1);
    setString(m.node(), "direction", direction);
    m.node().add_input("lengths");
    ::onnx::TensorProto &lengths = *m.model.graph().add_initializer();
    lengths.set_name("lengths");
    lengths.set_data_type(::onnx::TensorProto::INT32);
    lengths.add_dims(1);
    lengths.add_int32_data(2);
    std::vector<HostTensor> outputs = m.model.run({floatTensor({3, 1, 1}, kX)});
    bool forward = direction == std::string("forward");
    Floats two = three(&Unit::rnn, {}, forward ? Floats{1, -2} : Floats{-2, 1});
    CHECK(outputs[0].elements<float>()[0] == Approx(two[forward ? 0 : 1]));
    CHECK(outputs[0].elements<float>()[1] == Approx(two[forward ? 1 : 0]));
    CHECK(outputs[0].elements<float>()[2] == 0);
    CHECK(outputs[1].elements<float>()[0] == Approx(two[1]));
  }
}

TEST_CASE("A sequence of no steps has zeros for its last state, whatever the initial one") {
  Model m("LSTM", 4);
  m.node().add_input("lengths");
  ::onnx::TensorProto &lengths = *m.model.graph().add_initializer();
  lengths.set_name("lengths");
  lengths.set_data_type(::onnx::TensorProto::INT32);
  lengths.add_dims(1);
  lengths.add_int32_data(0);
  m.model.floats("h", {1, 1, 1}, {0.5f});
  m.node().add_input("h");
  m.node().add_input("h");
  for (const HostTensor &output : m.model.run({floatTensor({3, 1, 1}, {1, 2, 3})}))
    for (float value : output.elements<float>())
      CHECK(value == 0);
}

TEST_CASE("A symbolic time runs at any length") {
  Model m("GRU", 3, 1, {"time", 1, 1});
  CHECK(m.y({0, 1, 1}, {}).empty());
  checkClose(m.y({1, 1, 1}, {2}), three(&Unit::gru, {}, {2}));
  checkClose(m.y({3, 1, 1}, kX), three(&Unit::gru, {}, kX));
}

TEST_CASE("One step needs no loop") {
  Model m("LSTM", 4, 1, {1, 1, 1});
  CHECK_THAT(m.model.import(), !Contains("graph.loop"));
  checkClose(m.y({1, 1, 1}, {2}), three(&Unit::lstm, {}, {2}));
}

TEST_CASE("A state of another symbolic batch is taken, and the run looks") {
  Model m("RNN", 1, 1, {3, "batch", 1});
  m.model.input("state", {1, "other", 1});
  m.node().add_input("");
  m.node().add_input("state");
  CHECK_THAT(m.model.import(), Contains("input 5 is [1, other, 1]; it must be [1, batch, 1]"));
  CHECK_THAT(m.model.import(), !Contains("error: "));
  Unit unit;
  unit.hidden = 0.5;
  checkClose(m.model.runFloats({floatTensor({3, 1, 1}, kX), floatTensor({1, 1, 1}, {0.5})}),
             three(&Unit::rnn, unit, kX));
}

TEST_CASE("Weights of the wrong shape are refused") {
  Model m("LSTM", 3);
  CHECK_THAT(m.model.import(), Contains("input 1 is [1, 3, 1]; it must be [1, 4, 1]"));
}

TEST_CASE("An unknown activation or direction is refused") {
  Model m("RNN", 1);
  setString(m.node(), "direction", "sideways");
  CHECK_THAT(m.model.import(), Contains("attribute 'direction' is 'sideways'"));
}

namespace {

/// A node of large weights over two sequences of 3 and 2 steps.
struct Wide {
  std::string op;
  int64_t gates, hidden;
  bool wantsAll = true;
  std::vector<std::string> activations = {}; ///< of both directions

  OnnxModel model(const std::string &direction) const {
    bool isLstm = op == "LSTM", both = direction == "bidirectional";
    int first = direction == "reverse" ? 1 : 0, count = both ? 2 : 1;
    OnnxModel model{14};
    model.input("x", {3, 2, 4});
    std::vector<std::string> outputs{wantsAll ? "y" : "", "last"}, inputs{"x", "w", "r", "b", "lengths", "h"};
    if (isLstm) {
      outputs.push_back("cell");
      inputs.insert(inputs.end(), {"c", "p"});
    }
    for (const std::string &name : outputs)
      if (!name.empty())
        model.output(name);
    ::onnx::NodeProto &node = *model.graph().add_node();
    node.set_op_type(op);
    for (const std::string &name : inputs)
      node.add_input(name);
    for (const std::string &name : outputs)
      node.add_output(name);
    setString(node, "direction", direction);
    if (op == "GRU")
      setInt(node, "linear_before_reset", 1);
    if (!activations.empty()) {
      ::onnx::AttributeProto &names = *node.add_attribute();
      names.set_name("activations");
      names.set_type(::onnx::AttributeProto::STRINGS);
      size_t each = activations.size() / 2;
      for (size_t i = each * size_t(first); i < each * size_t(first + count); ++i)
        names.add_strings(activations[i]);
    }
    auto floats = [&](const std::string &name, int64_t rows, int64_t columns, double scale) {
      Floats values;
      for (int64_t i = rows * columns * first, end = rows * columns * (first + count); i < end; ++i)
        values.push_back(float(scale * std::sin(double(i) * double(name[0]))));
      using Shape = std::vector<int64_t>;
      model.floats(name, rows == 1 ? Shape{count, columns} : Shape{count, rows, columns}, values);
    };
    floats("w", gates * hidden, 4, 0.5);
    floats("r", gates * hidden, hidden, 0.1);
    floats("b", 1, 2 * gates * hidden, 0.2);
    floats("h", 2, hidden, 0.5);
    if (isLstm) {
      floats("c", 2, hidden, 0.5);
      floats("p", 1, 3 * hidden, 0.5);
    }
    ::onnx::TensorProto &lengths = *model.graph().add_initializer();
    lengths.set_name("lengths");
    lengths.set_data_type(::onnx::TensorProto::INT32);
    lengths.add_dims(2);
    lengths.add_int32_data(3);
    lengths.add_int32_data(2);
    return model;
  }

  /// The output as [time, 2, …], which is [2, …] for a last state, from those of a model of each direction.
  std::vector<Floats> outputs(const std::string &direction) const {
    Floats x;
    for (int i = 0; i < 3 * 2 * 4; ++i)
      x.push_back(float(std::cos(i)));
    std::vector<Floats> all;
    for (const HostTensor &tensor : model(direction).run({floatTensor({3, 2, 4}, x)}))
      all.emplace_back(tensor.elements<float>().begin(), tensor.elements<float>().end());
    return all;
  }
};

} // namespace

TEST_CASE("Two directions give the results of two nodes, with large weights by loops of their own") {
  for (const Wide &wide : {Wide{"RNN", 1, 520, true, {"Tanh", "Relu"}}, Wide{"GRU", 3, 300}, Wide{"LSTM", 4, 260},
                           Wide{"LSTM", 4, 260, false}, Wide{"RNN", 1, 500}}) {
    std::string text = wide.model("bidirectional").import();
    CHECK(llvm::StringRef(text).count("graph.loop") == (wide.hidden == 500 ? 1 : 2));
    std::vector<Floats> both = wide.outputs("bidirectional"), forward = wide.outputs("forward"),
                        reverse = wide.outputs("reverse");
    REQUIRE(both.size() == forward.size());
    for (size_t output = 0; output < both.size(); ++output) {
      // Outputs of a step, for both sequences, of one direction after the other.
      Floats wanted;
      for (size_t step = 0, size = size_t(2 * wide.hidden); step * size < forward[output].size(); ++step)
        for (const Floats *one : {&forward[output], &reverse[output]})
          wanted.insert(wanted.end(), one->begin() + step * size, one->begin() + (step + 1) * size);
      checkClose(both[output], wanted);
    }
  }
}
