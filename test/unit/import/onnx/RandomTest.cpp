#include "OnnxModel.h"

#include <catch2/catch.hpp>

#include <numeric>

using namespace kiln::test;
using Floats = std::vector<float>;

/// A node without inputs and its attributes: `count` numbers.
static Floats random(const char *op, int count, std::initializer_list<std::pair<const char *, float>> settings) {
  OnnxModel model(22);
  model.output("y");
  ::onnx::NodeProto &node = model.node(op, {}, {"y"});
  setInts(node, "shape", {count});
  for (auto [name, value] : settings)
    setFloat(node, name, value);
  return model.runFloats({});
}

static double mean(const Floats &values) { return std::accumulate(values.begin(), values.end(), 0.0) / values.size(); }

static double deviation(const Floats &values) {
  double sum = 0, middle = mean(values);
  for (float value : values)
    sum += (value - middle) * (value - middle);
  return std::sqrt(sum / values.size());
}

TEST_CASE("RandomUniform lies between its bounds, evenly") {
  Floats numbers = random("RandomUniform", 4000, {{"low", 2}, {"high", 6}, {"seed", 1}});
  CHECK(*llvm::min_element(numbers) >= 2);
  CHECK(*llvm::max_element(numbers) < 6);
  CHECK(std::abs(mean(numbers) - 4) < 0.1);
  CHECK(std::abs(deviation(numbers) - 4 / std::sqrt(12.0)) < 0.05);
}

TEST_CASE("RandomNormal has its mean and deviation") {
  Floats numbers = random("RandomNormal", 4000, {{"mean", 3}, {"scale", 2}, {"seed", 1}});
  CHECK(std::abs(mean(numbers) - 3) < 0.15);
  CHECK(std::abs(deviation(numbers) - 2) < 0.1);
}

TEST_CASE("A seed gives its numbers again, and another one others") {
  Floats first = random("RandomUniform", 4, {{"seed", 1}});
  CHECK(random("RandomUniform", 4, {{"seed", 1}}) == first);
  CHECK(random("RandomUniform", 4, {{"seed", 2}}) != first);
}

TEST_CASE("Bernoulli is 1 as often as its input says") {
  OnnxModel model(22);
  model.input("p", {3, 2000}).output("y").node("Bernoulli", {"p"}, {"y"});
  Floats p(6000, 0.25f);
  std::fill(p.begin(), p.begin() + 2000, 0.0f);
  std::fill(p.begin() + 4000, p.end(), 1.0f);
  Floats y = model.runFloats({floatTensor({3, 2000}, p)});
  CHECK(mean(Floats(y.begin(), y.begin() + 2000)) == 0);
  CHECK(std::abs(mean(Floats(y.begin() + 2000, y.begin() + 4000)) - 0.25) < 0.04);
  CHECK(mean(Floats(y.begin() + 4000, y.end())) == 1);
}

TEST_CASE("Multinomial draws classes by their odds") {
  OnnxModel model(22);
  model.input("x", {1, 3}).output("y");
  ::onnx::NodeProto &node = model.node("Multinomial", {"x"}, {"y"});
  setInt(node, "sample_size", 4000);
  setInt(node, "dtype", ::onnx::TensorProto::INT64);
  // Odds of 1 to 3 to nothing.
  std::vector<int64_t> drawn = model.runInts({floatTensor({1, 3}, {0, std::log(3.0f), -INFINITY})});
  CHECK(std::abs(double(llvm::count(drawn, 1)) / 4000 - 0.75) < 0.03);
  CHECK(llvm::count(drawn, 2) == 0);
}

TEST_CASE("Dropout in training drops what NumPy's numbers for the seed say, and scales the rest") {
  OnnxModel model(22);
  model.input("x", {5}).input("training", {}, ::onnx::TensorProto::BOOL).floats("ratio", {}, {0.5f});
  model.output("y").output("mask");
  setInt(model.node("Dropout", {"x", "ratio", "training"}, {"y", "mask"}), "seed", 0);
  HostTensor x = floatTensor({5}, {1, 2, 3, 4, 5});
  // RandomState(0) begins with 0.549, 0.715, 0.603, 0.545 and 0.424.
  std::vector<HostTensor> dropped = model.run({x, boolTensor({}, {1})}), kept = model.run({x, boolTensor({}, {0})});
  CHECK(Floats(dropped[0].elements<float>().begin(), dropped[0].elements<float>().end()) == Floats{2, 4, 6, 8, 0});
  CHECK(Floats(kept[0].elements<float>().begin(), kept[0].elements<float>().end()) == Floats{1, 2, 3, 4, 5});
  CHECK(dropped[1].bytes == decltype(dropped[1].bytes){1, 1, 1, 1, 0});
  CHECK(kept[1].bytes == decltype(kept[1].bytes){1, 1, 1, 1, 1});
}

/// TfIdfVectorizer of unigrams 5 and 6 and the bigrams 5 6 and 7 5.
static Floats vectorize(const char *mode, int shortest, int longest, int skips, std::initializer_list<int64_t> text) {
  OnnxModel model(9);
  model.input("x", {int(text.size())}, ::onnx::TensorProto::INT64).output("y");
  ::onnx::NodeProto &node = model.node("TfIdfVectorizer", {"x"}, {"y"});
  setString(node, "mode", mode);
  setInt(node, "min_gram_length", shortest);
  setInt(node, "max_gram_length", longest);
  setInt(node, "max_skip_count", skips);
  setInts(node, "ngram_counts", {0, 2});
  setInts(node, "ngram_indexes", {0, 1, 3, 2});
  setInts(node, "pool_int64s", {5, 6, 5, 6, 7, 5});
  ::onnx::AttributeProto &weights = *node.add_attribute();
  weights.set_name("weights");
  weights.set_type(::onnx::AttributeProto::FLOATS);
  for (float weight : {1.0f, 2.0f, 3.0f, 4.0f})
    weights.add_floats(weight);
  return model.runFloats({intTensor({int64_t(text.size())}, text)});
}

TEST_CASE("TfIdfVectorizer counts n-grams, with words between them where it may skip some") {
  CHECK(vectorize("TF", 1, 2, 0, {5, 6, 7, 5, 5}) == Floats{3, 1, 1, 1});
  CHECK(vectorize("TF", 1, 2, 1, {5, 6, 7, 5, 5}) == Floats{3, 1, 2, 1});
  CHECK(vectorize("TF", 2, 2, 0, {5, 6, 7, 5, 5}) == Floats{0, 0, 1, 1});
  CHECK(vectorize("TF", 1, 1, 1, {5, 6, 7, 5, 5}) == Floats{3, 1, 0, 0});
}

TEST_CASE("TfIdfVectorizer weighs") {
  CHECK(vectorize("IDF", 1, 2, 0, {5, 6, 7, 5, 5}) == Floats{1, 2, 3, 4});
  CHECK(vectorize("TFIDF", 1, 2, 0, {5, 6, 7, 5, 5}) == Floats{3, 2, 3, 4});
}
