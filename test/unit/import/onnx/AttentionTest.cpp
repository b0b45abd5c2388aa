// Attention and its relatives have a dozen optional inputs and attributes: masks, windows, a past, caps on scores. A
// mistake in one is hard to see, since weights sum up to 1 whatever they are. So most cases have one head of size 1 and
// queries of zero: all keys that a row sees then weigh the same, and the result is the mean of their values, which
// tells which keys those were.
#include "OnnxModel.h"

#include <catch2/catch.hpp>

using namespace kiln::test;
using Catch::Contains;
using Floats = std::vector<float>;
using Proto = ::onnx::TensorProto;

/// A node of some operator over initializers; the input x is added to the first, so that nothing is known at import.
class Parts {
public:
  Parts(const std::string &op, int64_t opset, const std::string &domain = "") : model_(opset) {
    model_.input("x", {1}).output("y");
    addNode(model_.graph(), "Add", {"i0", "x"}, {"first"});
    addNode(model_.graph(), op, {"first"}, {"y"});
    if (!domain.empty()) {
      node().set_domain(domain);
      auto *import = model_.proto.add_opset_import();
      import->set_domain(domain);
      import->set_version(1);
    }
  }
  Parts &input(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<float> values) {
    model_.floats(next(), dims, values);
    return *this;
  }
  Parts &ints(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> values) {
    setTensor(*model_.graph().add_initializer(), next(), dims, values);
    return *this;
  }
  Parts &bools(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> values) {
    std::string name = next();
    setTensor(*model_.graph().add_initializer(), name + ".numbers", dims, values);
    setInt(addNode(model_.graph(), "Cast", {name + ".numbers"}, {name}), "to", Proto::BOOL);
    return *this;
  }
  Parts &none() {
    ++count_;
    node().add_input("");
    return *this;
  }
  Parts &with(const std::string &name, std::integral auto value) { return setInt(node(), name, value), *this; }
  Parts &with(const std::string &name, float value) { return setFloat(node(), name, value), *this; }
  Parts &with(const std::string &name, const char *value) { return setString(node(), name, value), *this; }
  ::onnx::NodeProto &node() { return *model_.graph().mutable_node(1); }

  /// The elements of one output.
  Floats output(int index = 0) {
    model_.graph().clear_output();
    while (node().output_size() <= index)
      node().add_output("y" + std::to_string(node().output_size()));
    model_.output(node().output(index));
    return model_.runFloats({floatTensor({1}, {0})});
  }
  Floats rounded(int index = 0) {
    Floats values = output(index);
    for (float &value : values)
      value = std::round(value * 1000) / 1000;
    return values;
  }
  std::string import() { return model_.import(); }

private:
  std::string next() {
    std::string name = "i" + std::to_string(count_++);
    if (count_ > 1)
      node().add_input(name);
    return name;
  }

  OnnxModel model_;
  int count_ = 0;
};

static const float kInfinity = std::numeric_limits<float>::infinity();

/// One head of size 1; queries of zero weigh all keys alike.
static Parts evenAttention(int64_t rows, llvm::ArrayRef<float> values, int64_t opset = 25) {
  int64_t keys = values.size();
  Parts parts("Attention", opset);
  parts.input({1, 1, rows, 1}, Floats(rows)).input({1, 1, keys, 1}, Floats(keys)).input({1, 1, keys, 1}, values);
  return parts;
}

TEST_CASE("Attention weighs values by the softmax of scaled products") {
  Parts parts("Attention", 23);
  parts.input({1, 1, 1, 4}, {2, 0, 0, 0}).input({1, 1, 2, 4}, {1, 0, 0, 0, 0, 0, 0, 0}).input({1, 1, 2, 1}, {0, 1});
  CHECK(parts.rounded() == Floats{0.269f}); // scores 2·1/√4 and 0
}

TEST_CASE("Attention: causal, windows, a past and padded keys say which keys a row sees") {
  CHECK(evenAttention(3, {0, 2, 4}).with("is_causal", 1).output() == Floats{0, 1, 2});
  CHECK(evenAttention(3, {0, 2, 4}).with("left_window_size", 0).output() == Floats{2, 3, 4});
  CHECK(evenAttention(3, {0, 2, 4}).with("left_window_size", 0).with("right_window_size", 0).output() ==
        Floats{0, 2, 4});
  CHECK(evenAttention(3, {0, 2, 4}).with("left_window_size", 1).with("right_window_size", 0).output() ==
        Floats{0, 1, 3});
  CHECK(evenAttention(3, {0, 2, 4}).with("left_window_size", 1).with("is_causal", 1).output() == Floats{0, 1, 3});
  Parts past =
      evenAttention(1, {6}).with("is_causal", 1).none().input({1, 1, 2, 1}, {0, 0}).input({1, 1, 2, 1}, {0, 3});
  CHECK(past.output() == Floats{3});
  CHECK(past.output(2) == Floats{0, 3, 6});
  // Rows are counted after the past, and a window may reach further than there are keys.
  auto window = [](int64_t left, int64_t right) {
    Parts parts = evenAttention(2, {5, 9}).with("left_window_size", left).with("right_window_size", right);
    return parts.none().input({1, 1, 2, 1}, {0, 0}).input({1, 1, 2, 1}, {0, 4}).output();
  };
  CHECK(window(1, 0) == Floats{4.5f, 7});
  CHECK(window(1, 1) == Floats{6, 7});
  CHECK(window(3, 3) == Floats{4.5f, 4.5f});
  CHECK(window(int64_t(1) << 40, int64_t(1) << 40) == Floats{4.5f, 4.5f});
  CHECK(window(-1, 0) == Floats{3, 4.5f});
  CHECK(evenAttention(3, {1, 3}).with("left_window_size", 0).output() == Floats{2, 3, 0});
  CHECK(evenAttention(1, {0, 2, 7}).none().none().none().ints({1}, {2}).output() == Floats{1});
  // The rows are the last of the keys that there are.
  CHECK(evenAttention(2, {0, 2, 7}).none().none().none().ints({1}, {2}).with("is_causal", 1).output() == Floats{0, 1});
}

TEST_CASE("Attention: a row that sees no key gives zeros") {
  CHECK(evenAttention(2, {1, 3}).bools({2, 2}, {1, 1, 0, 0}).output() == Floats{2, 0});
  CHECK(evenAttention(2, {1, 3}).input({2, 2}, {0, 0, -kInfinity, -kInfinity}).output() == Floats{2, 0});
  Parts early = evenAttention(3, {1, 3}).none().none().none().ints({1}, {2}).with("is_causal", 1);
  CHECK(early.output() == Floats{0, 1, 2});
  CHECK(early.with("qk_matmul_output_mode", 3).output(3) == Floats{0, 0, 1, 0, 0.5, 0.5});
}

TEST_CASE("Attention: a mask of fewer keys hides the others") {
  CHECK(evenAttention(1, {1, 3, 8}).input({1, 2}, {0, 0}).output() == Floats{2});
  CHECK(evenAttention(1, {1, 3, 8}).bools({1, 2}, {0, 1}).output() == Floats{3});
}

TEST_CASE("Attention: heads share keys in groups, and lie in rows where tensors have rank 3") {
  Parts parts("Attention", 23);
  parts.input({1, 1, 4}, {0, 0, 0, 0}).input({1, 2, 2}, {0, 0, 0, 0}).input({1, 2, 2}, {1, 10, 3, 30});
  parts.with("q_num_heads", 4).with("kv_num_heads", 2);
  CHECK(parts.output() == Floats{2, 2, 20, 20});
}

TEST_CASE("Attention's scores: raw, capped, with the mask, as probabilities") {
  auto scores = [](int mode) {
    Parts parts("Attention", 23);
    parts.input({1, 1, 1, 1}, {3}).input({1, 1, 2, 1}, {1, 0}).input({1, 1, 2, 1}, {1, 2}).input({1, 2}, {0, 1});
    return parts.with("softcap", 2.0f).with("qk_matmul_output_mode", mode).rounded(3);
  };
  CHECK(scores(0) == Floats{3, 0});
  CHECK(scores(1) == Floats{1.81f, 0}); // 2·tanh(1.5)
  CHECK(scores(2) == Floats{1.81f, 1});
  CHECK(scores(3) == Floats{0.692f, 0.308f});
}

TEST_CASE("Attention says what does not fit") {
  CHECK_THAT(evenAttention(1, {1}).with("qk_matmul_output_mode", 4).import(), Contains("it is 0 to 3"));
  CHECK_THAT(evenAttention(1, {1}).none().input({1, 1, 1, 1}, {1}).import(),
             Contains("it has a past of keys or of values alone; give both"));
  Parts heads("Attention", 23);
  heads.input({1, 1, 4}, Floats(4)).input({1, 1, 4}, Floats(4)).input({1, 1, 4}, Floats(4));
  CHECK_THAT(heads.with("q_num_heads", 3).with("kv_num_heads", 1).import(),
             Contains("[1, 1, 4] does not divide into 3 heads"));
  Parts groups("Attention", 23);
  groups.input({1, 3, 1, 1}, Floats(3)).input({1, 2, 1, 1}, Floats(2)).input({1, 2, 1, 1}, Floats(2));
  CHECK_THAT(groups.import(), Contains("3 heads of queries, 2 of keys and 2 of values"));
}

TEST_CASE("FlexAttention's graphs change scores and probabilities") {
  Parts parts("FlexAttention", 26, "ai.onnx.preview");
  parts.input({1, 1, 1, 1}, {1}).input({1, 1, 2, 1}, {5, 9}).input({1, 1, 2, 1}, {1, 3});
  for (auto [name, op] : {std::pair("score_mod", "Sub"), std::pair("prob_mod", "Add")}) {
    ::onnx::GraphProto &graph = setGraph(parts.node(), name);
    graph.add_input()->set_name("scores");
    addNode(graph, op, {"scores", "scores"}, {"result"});
    graph.add_output()->set_name("result");
  }
  CHECK(parts.output() == Floats{4}); // scores of 0, so halves, so twice that
}

TEST_CASE("LinearAttention's update rules") {
  auto run = [](const char *rule, bool decays, bool corrects) {
    Parts parts("LinearAttention", 27);
    parts.input({1, 2, 1}, {1, 1}).input({1, 2, 1}, {1, 2}).input({1, 2, 1}, {3, 5}).input({1, 1, 1, 1}, {10});
    decays ? parts.input({1, 2, 1}, {std::log(0.5f), 0}) : parts.none();
    if (corrects)
      parts.input({1, 2, 1}, {0.5, 1});
    parts.with("q_num_heads", 1).with("kv_num_heads", 1).with("scale", 1.0f).with("update_rule", rule);
    CHECK(parts.rounded(1) == Floats{parts.rounded().back()}); // a query of 1 reads the state
    return parts.rounded();
  };
  CHECK(run("linear", false, false) == Floats{13, 23});
  CHECK(run("gated", true, false) == Floats{8, 18});
  CHECK(run("delta", false, true) == Floats{6.5, -9.5});  // 10 + ½·(3 − 10), then + 2·(5 − 2·6.5)
  CHECK(run("gated_delta", true, true) == Floats{4, -2}); // 5 + ½·(3 − 5), then + 2·(5 − 2·4)
  Parts none("LinearAttention", 27);
  none.input({1, 1, 1}, {1}).input({1, 1, 1}, {1}).input({1, 1, 1}, {1}).with("q_num_heads", 1).with("kv_num_heads", 1);
  CHECK_THAT(none.import(), Contains("update rule 'gated_delta' without 'decay' and without 'beta'"));
}

TEST_CASE("CausalConvWithState reads what came before and keeps the end") {
  Parts parts("CausalConvWithState", 27);
  parts.input({1, 1, 3}, {1, 2, 3}).input({1, 1, 2}, {10, 1}).input({1}, {0.5}).input({1, 1, 1}, {7});
  CHECK(parts.output() == Floats{71.5, 12.5, 23.5});
  CHECK(parts.output(1) == Floats{3});
  Parts first("CausalConvWithState", 27);
  first.input({1, 1, 1}, {1}).input({1, 1, 3}, {100, 10, 1}).with("activation", "silu");
  CHECK(first.rounded() == Floats{0.731f});
  CHECK(first.output(1) == Floats{0, 1});
}

TEST_CASE("RotaryEmbedding turns halves or neighbours, and leaves the rest") {
  auto rotate = [](bool interleaved) { // by a right angle, at the second of two positions
    Parts parts("RotaryEmbedding", 23);
    parts.input({1, 1, 1, 5}, {1, 2, 3, 4, 5}).input({2, 2}, {1, 1, 0, 0}).input({2, 2}, {0, 0, 1, 1});
    parts.with("interleaved", int(interleaved)).with("rotary_embedding_dim", 4);
    return parts;
  };
  for (const auto &[interleaved, turned] :
       {std::pair(false, Floats{-3, -4, 1, 2, 5}), {true, Floats{-2, 1, -4, 3, 5}}}) {
    CHECK(rotate(interleaved).ints({1, 1}, {1}).output() == turned);
  }
}

TEST_CASE("RotaryEmbedding along an open axis turns as many pairs as there are cosines") {
  OnnxModel model(23);
  model.input("x", {1, 1, 1, "n"}).input("cos", {1, 1, 2}).input("sin", {1, 1, 2}).output("y");
  model.node("RotaryEmbedding", {"x", "cos", "sin"}, {"y"});
  CHECK(model.runFloats({floatTensor({1, 1, 1, 4}, {1, 2, 3, 4}), floatTensor({1, 1, 2}, {0, 0}),
                         floatTensor({1, 1, 2}, {1, 1})}) == Floats{-3, -4, 1, 2});
  CHECK_THAT(model.import(), Contains("cannot rotate: the sizes n and 4 differ"));
}

TEST_CASE("SwiGLU gates by x·sigmoid(alpha·x)") {
  CHECK(Parts("SwiGLU", 28).input({2}, {0, 1}).input({2}, {5, 2}).rounded() == Floats{0, 1.462f});
  CHECK(Parts("SwiGLU", 28).input({2}, {0, 1}).input({2}, {5, 2}).with("alpha", 2.0f).rounded() == Floats{0, 1.762f});
}

TEST_CASE("com.microsoft's MultiHeadAttention takes queries, keys and values in one tensor, or the last two") {
  Parts all("MultiHeadAttention", 17, "com.microsoft");
  all.input({1, 2, 1, 3, 1}, {0, 0, 1, 0, 0, 3}).with("num_heads", 1);
  CHECK(all.output() == Floats{2, 2});
  Parts two("MultiHeadAttention", 17, "com.microsoft");
  two.input({1, 1, 1}, {0}).input({1, 2, 1, 2, 1}, {0, 1, 0, 3}).with("num_heads", 1);
  CHECK(two.output() == Floats{2});
}

TEST_CASE("com.microsoft's MultiHeadAttention refuses a mask of more lengths than there are in the batch") {
  Parts parts("MultiHeadAttention", 17, "com.microsoft");
  parts.input({1, 1, 1}, {0}).input({1, 2, 1}, {0, 0}).input({1, 2, 1}, {1, 3}).none().ints({2}, {1, 2});
  CHECK_THAT(parts.with("num_heads", 1).import(), Contains("of rank 1 it has a length for each of the batch"));
}

TEST_CASE("com.microsoft's GroupQueryAttention refuses what it would leave out") {
  auto refused = [](const char *name, int value) {
    Parts parts("GroupQueryAttention", 17, "com.microsoft");
    parts.input({1, 1, 3}, {0, 0, 1}).none().none().none().none().ints({1}, {0}).ints({}, {1});
    return parts.with("num_heads", 1).with("kv_num_heads", 1).with(name, value).import();
  };
  CHECK_THAT(refused("sliding_window_cache", 1), Contains("attribute 'sliding_window_cache' is not supported"));
  CHECK_THAT(refused("qk_output", 3), Contains("attribute 'qk_output' is 3; it is 0, 1 or 2"));
  CHECK_THAT(refused("kv_num_heads", 2), Contains("is given twice"));
}

TEST_CASE("com.microsoft's GroupQueryAttention lets a sink take its share") {
  auto attention = [] {
    Parts parts("GroupQueryAttention", 17, "com.microsoft");
    parts.input({1, 1, 3}, {0, 0, 1}).none().none().none().none().ints({1}, {0}).ints({}, {1});
    return parts.with("num_heads", 1).with("kv_num_heads", 1);
  };
  CHECK(attention().output() == Floats{1});
  CHECK(attention().with("smooth_softmax", 1).rounded() == Floats{0.5f});
  Parts given = attention();
  for (int i = 0; i < 4; ++i)
    given.none();
  CHECK(given.input({1}, {std::log(3.0f)}).rounded() == Floats{0.25f});
}
