// The operators of ai.onnx.ml hold whole models in their attributes: trees, support vectors, vocabularies. The importer
// makes tensors and arithmetic of these, after which nothing checks the lists against each other any more. Each
// operator has a model that is small enough to be computed by hand, and lists that contradict each other have to be
// errors.
#include "OnnxModel.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace kiln::test;
using Catch::Contains;
using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

/// A node of ai.onnx.ml with the input x; its results are all outputs.
struct ClassicalCase {
  OnnxModel model{20};
  ::onnx::NodeProto *node;

  ClassicalCase(const std::string &op, OnnxModel::Dims dims, int results = 1, int dtype = ::onnx::TensorProto::FLOAT) {
    auto &imported = *model.proto.add_opset_import();
    imported.set_domain("ai.onnx.ml");
    imported.set_version(3);
    model.input("x", dims, dtype);
    node = &model.node(op, {"x"}, {});
    node->set_domain("ai.onnx.ml");
    for (int i = 0; i < results; ++i) {
      node->add_output("y" + std::to_string(i));
      model.output("y" + std::to_string(i));
    }
  }
  ClassicalCase &floats(const std::string &name, Floats values) {
    ::onnx::AttributeProto &attribute = *node->add_attribute();
    attribute.set_name(name);
    attribute.set_type(::onnx::AttributeProto::FLOATS);
    for (float value : values)
      attribute.add_floats(value);
    return *this;
  }
  ClassicalCase &ints(const std::string &name, std::initializer_list<int64_t> values) {
    setInts(*node, name, values);
    return *this;
  }
  ClassicalCase &integer(const std::string &name, int64_t value) {
    setInt(*node, name, value);
    return *this;
  }
  ClassicalCase &text(const std::string &name, const std::string &value) {
    setString(*node, name, value);
    return *this;
  }
  ClassicalCase &texts(const std::string &name, std::initializer_list<std::string> values) {
    ::onnx::AttributeProto &attribute = *node->add_attribute();
    attribute.set_name(name);
    attribute.set_type(::onnx::AttributeProto::STRINGS);
    for (const std::string &value : values)
      attribute.add_strings(value);
    return *this;
  }

  /// The elements of a result, rounded to thousandths.
  Floats on(const HostTensor &x, int result = 0) const {
    HostTensor found = model.run({x})[result];
    Floats values(found.bytes.size() / sizeof(float));
    memcpy(values.data(), found.bytes.data(), found.bytes.size());
    for (float &value : values)
      value = std::round(value * 1000) / 1000;
    return values;
  }
  Ints labels(const HostTensor &x) const {
    HostTensor found = model.run({x})[0];
    Ints values(found.bytes.size() / sizeof(int64_t));
    memcpy(values.data(), found.bytes.data(), found.bytes.size());
    return values;
  }
};

static const HostTensor kRow = floatTensor({1, 2}, {1, 2});

TEST_CASE("LinearRegressor is a weighted sum for each target") {
  ClassicalCase two("LinearRegressor", {1, 2});
  two.floats("coefficients", {1, 10, 2, -1}).floats("intercepts", {0.5f, 0}).integer("targets", 2);
  CHECK(two.on(kRow) == Floats{21.5f, 0});
  CHECK(two.text("post_transform", "LOGISTIC").on(kRow) == Floats{1, 0.5f});
  ClassicalCase one("LinearRegressor", {1, 2});
  one.floats("coefficients", {1, 10}).text("post_transform", "LOGISTIC");
  CHECK(one.on(kRow) == Floats{21}); // of one target it is not applied
}

TEST_CASE("LinearClassifier gives the label of the largest score") {
  ClassicalCase three("LinearClassifier", {1, 2}, 2);
  three.floats("coefficients", {1, 0, 0, 1, 1, 1})
      .floats("intercepts", {0, 0.5f, -1})
      .ints("classlabels_ints", {7, 8, 9});
  CHECK(three.labels(kRow) == Ints{8});
  CHECK(three.on(kRow, 1) == Floats{1, 2.5f, 2});
  three.text("post_transform", "SOFTMAX");
  CHECK(three.on(kRow, 1) == Floats{0.122f, 0.547f, 0.331f});
}

TEST_CASE("LinearClassifier makes two scores of one") {
  auto classifier = [](const std::string &transform) {
    ClassicalCase two("LinearClassifier", {1, 2}, 2);
    two.floats("coefficients", {1, -1}).floats("intercepts", {0.5f}).ints("classlabels_ints", {3, 4});
    return two.text("post_transform", transform);
  };
  CHECK(classifier("NONE").labels(kRow) == Ints{3});
  CHECK(classifier("NONE").labels(floatTensor({1, 2}, {2, 1})) == Ints{4});
  CHECK(classifier("NONE").on(kRow, 1) == Floats{1.5f, -0.5f});
  CHECK(classifier("LOGISTIC").on(kRow, 1) == Floats{0.622f, 0.378f});
  CHECK(classifier("SOFTMAX").on(kRow, 1) == Floats{1.5f, -0.5f}); // ONNX Runtime has no softmax of a single score
}

TEST_CASE("coefficients that do not fit a linear model are an error") {
  ClassicalCase three("LinearClassifier", {1, 2}, 2);
  three.floats("coefficients", {1, 0, 0}).ints("classlabels_ints", {7, 8, 9});
  CHECK_THAT(three.model.import(), Contains("3 coefficients and 0 intercepts for 3 targets of 2 features"));
}

/// Feature 0 at most 1 leads to one leaf, else to another, of tree 5; tree 6 is a leaf alone.
static ClassicalCase trees(const std::string &kind, int results, std::initializer_list<int64_t> ids, Floats weights) {
  ClassicalCase made(kind == "class" ? "TreeEnsembleClassifier" : "TreeEnsembleRegressor", {1, 2}, results);
  made.ints("nodes_treeids", {5, 5, 5, 6}).ints("nodes_nodeids", {0, 3, 1, 0}).ints("nodes_featureids", {0, 0, 0, 0});
  made.texts("nodes_modes", {"BRANCH_LEQ", "LEAF", "LEAF", "LEAF"}).floats("nodes_values", {1, 0, 0, 0});
  made.ints("nodes_truenodeids", {3, 0, 0, 0}).ints("nodes_falsenodeids", {1, 0, 0, 0});
  made.ints(kind + "_treeids", {5, 5, 6}).ints(kind + "_nodeids", {3, 1, 0}).ints(kind + "_ids", ids);
  made.floats(kind + "_weights", weights);
  return made;
}

static const HostTensor kOther = floatTensor({1, 2}, {2, 2});

TEST_CASE("TreeEnsembleRegressor adds the leaves of its trees to the base values") {
  ClassicalCase sum = trees("target", 1, {0, 0, 0}, {10, 20, 3});
  CHECK(sum.on(kRow) == Floats{13});
  CHECK(sum.on(kOther) == Floats{23});
  sum.floats("base_values", {100});
  CHECK(sum.on(kRow) == Floats{113});
  sum.text("aggregate_function", "AVERAGE");
  CHECK(sum.on(kRow) == Floats{106.5f});
  ClassicalCase two = trees("target", 1, {0, 1, 1}, {10, 20, 3});
  two.integer("n_targets", 2);
  CHECK(two.on(kRow) == Floats{10, 3});
}

TEST_CASE("TreeEnsembleClassifier gives the class of the most weight") {
  ClassicalCase three = trees("class", 2, {0, 2, 1}, {0.5f, 0.7f, 0.6f});
  three.ints("classlabels_int64s", {7, 8, 9});
  CHECK(three.labels(kRow) == Ints{8});
  CHECK(three.labels(kOther) == Ints{9});
  CHECK(three.on(kRow, 1) == Floats{0.5f, 0.6f, 0});
}

TEST_CASE("weights of the first of two classes are the second's probability, or a score where some are negative") {
  ClassicalCase probability = trees("class", 2, {0, 0, 0}, {0.1f, 0.6f, 0.2f});
  probability.ints("classlabels_int64s", {7, 8});
  CHECK(probability.labels(kRow) == Ints{7});
  CHECK(probability.labels(kOther) == Ints{8});
  CHECK(probability.on(kRow, 1) == Floats{0.7f, 0.3f});
  probability.text("post_transform", "LOGISTIC");
  CHECK(probability.labels(kOther) == Ints{8});
  CHECK(probability.on(kRow, 1) == Floats{0.426f, 0.574f});
  ClassicalCase score = trees("class", 2, {0, 0, 0}, {-1, 1, 0.5f});
  score.ints("classlabels_int64s", {7, 8}).text("post_transform", "LOGISTIC");
  CHECK(score.labels(kRow) == Ints{7});
  CHECK(score.labels(kOther) == Ints{8});
  CHECK(score.on(kRow, 1) == Floats{0.622f, 0.378f});
}

// The expected numbers are ONNX Runtime's: the standard does not say them.
TEST_CASE("weights of the second of two classes leave the first's score 0") {
  ClassicalCase second = trees("class", 2, {1, 1, 1}, {0.1f, 0.6f, 0.2f});
  second.ints("classlabels_int64s", {7, 8});
  CHECK(second.labels(kRow) == Ints{7});
  CHECK(second.labels(kOther) == Ints{8});
  CHECK(second.on(kRow, 1) == Floats{0, 0.3f});
  CHECK(second.text("post_transform", "SOFTMAX").on(kRow, 1) == Floats{0.426f, 0.574f});
}

TEST_CASE("where both of two classes have weights, integer labels are 0 and 1") {
  ClassicalCase both = trees("class", 2, {0, 1, 0}, {0.5f, 0.7f, -0.75f});
  both.ints("classlabels_int64s", {7, 8});
  CHECK(both.labels(kRow) == Ints{0});
  CHECK(both.labels(kOther) == Ints{1});
  CHECK(both.on(kRow, 1) == Floats{0.25f, -0.25f}); // no weight of the second: the first's sum is the only score
  CHECK(both.on(kOther, 1) == Floats{-0.75f, 0.7f});
  both.floats("base_values", {10, 20});
  CHECK(both.labels(kRow) == Ints{1});
  CHECK(both.on(kRow, 1) == Floats{9.75f, 0});
  CHECK(both.on(kOther, 1) == Floats{-19.25f, 19.25f});
}

TEST_CASE("a class without a weight is not the label of a row whose other scores are negative") {
  ClassicalCase three = trees("class", 2, {0, 2, 0}, {-0.5f, -0.25f, -0.5f});
  three.ints("classlabels_int64s", {7, 8, 9});
  CHECK(three.labels(kRow) == Ints{7});
  CHECK(three.labels(kOther) == Ints{9});
  CHECK(three.on(kRow, 1) == Floats{-1, 0, 0});
}

TEST_CASE("trees whose nodes lead nowhere are an error") {
  ClassicalCase made = trees("target", 1, {0, 0, 0}, {10, 20, 3});
  made.node->mutable_attribute(5)->set_ints(0, 9);
  CHECK_THAT(made.model.import(), Contains("node 0 of tree 5 leads to none"));
  made.node->mutable_attribute(5)->set_ints(0, 0);
  CHECK_THAT(made.model.import(), Contains("a node of a tree leads back to itself"));
}

TEST_CASE("SVMRegressor weighs how like its vectors a row is") {
  ClassicalCase rbf("SVMRegressor", {1, 2});
  rbf.floats("support_vectors", {1, 2, 1, 3}).floats("coefficients", {2, 1}).floats("rho", {0.5f});
  rbf.integer("n_supports", 2).text("kernel_type", "RBF").floats("kernel_params", {1, 0, 3});
  CHECK(rbf.on(kRow) == Floats{2.868f});
  rbf.integer("one_class", 1);
  CHECK(rbf.on(kRow) == Floats{1});
  ClassicalCase poly("SVMRegressor", {1, 2});
  poly.floats("support_vectors", {1, 1}).floats("coefficients", {2}).floats("rho", {0});
  poly.integer("n_supports", 1).text("kernel_type", "POLY").floats("kernel_params", {1, 1, 2});
  CHECK(poly.on(kRow) == Floats{32});
}

TEST_CASE("SVMClassifier lets each pair of classes vote") {
  ClassicalCase two("SVMClassifier", {1, 2}, 2);
  two.floats("support_vectors", {1, 0, 0, 1}).floats("coefficients", {1, -1}).floats("rho", {0.25f});
  two.ints("vectors_per_class", {1, 1}).ints("classlabels_ints", {7, 8});
  CHECK(two.labels(kRow) == Ints{8});
  CHECK(two.labels(floatTensor({1, 2}, {2, 1})) == Ints{7});
  CHECK(two.on(kRow, 1) == Floats{0.75f, -0.75f});
  CHECK(two.text("post_transform", "SOFTMAX").on(kRow, 1) == Floats{1.75f, -0.75f});
}

TEST_CASE("SVMClassifier without vectors takes the second of two classes where a score is large") {
  auto linear = [](Floats coefficients) {
    ClassicalCase made("SVMClassifier", {1, 2}, 2);
    made.floats("coefficients", coefficients).floats("rho", {0}).ints("classlabels_ints", {7, 8});
    return made;
  };
  CHECK(linear({1, 0, -1, 0}).labels(kRow) == Ints{8});
  CHECK(linear({-1, 0, -2, 0}).labels(kRow) == Ints{7});
  CHECK(linear({0.4f, 0, 0.1f, 0}).labels(kRow) == Ints{7});
  CHECK(linear({0.6f, 0, 0.1f, 0}).labels(kRow) == Ints{8});
}

TEST_CASE("probabilities of pairs become those of classes") {
  ClassicalCase three("SVMClassifier", {1, 2}, 2);
  three.floats("support_vectors", {0, 0, 0, 0, 0, 0}).floats("coefficients", {0, 0, 0, 0, 0, 0});
  three.ints("vectors_per_class", {1, 1, 1}).ints("classlabels_ints", {7, 8, 9});
  // Of classes with the probabilities 0.5, 0.3 and 0.2.
  three.floats("rho", {std::log(5 / 3.0f), std::log(5 / 2.0f), std::log(3 / 2.0f)});
  three.floats("prob_a", {-1, -1, -1}).floats("prob_b", {0, 0, 0});
  CHECK(three.labels(kRow) == Ints{7});
  Floats found = three.on(kRow, 1);
  CHECK(found[0] == Approx(0.5).margin(0.002));
  CHECK(found[1] == Approx(0.3).margin(0.002));
  CHECK(found[2] == Approx(0.2).margin(0.002));
}

TEST_CASE("Scaler, Imputer and Normalizer change features") {
  ClassicalCase scaler("Scaler", {1, 2});
  scaler.floats("offset", {1, 4}).floats("scale", {3});
  CHECK(scaler.on(kRow) == Floats{0, -6});
  ClassicalCase imputer("Imputer", {1, 2});
  imputer.floats("imputed_value_floats", {5, 6});
  setFloat(*imputer.node, "replaced_value_float", NAN);
  CHECK(imputer.on(floatTensor({1, 2}, {NAN, 3})) == Floats{5, 3});
  ClassicalCase normalizer("Normalizer", {2, 2});
  normalizer.text("norm", "L1");
  CHECK(normalizer.on(floatTensor({2, 2}, {-1, 3, 0, 0})) == Floats{-0.25f, 0.75f, 0, 0});
}

TEST_CASE("an open number of features is what the attributes need") {
  ClassicalCase linear("LinearRegressor", {"n", "m"});
  linear.floats("coefficients", {1, 10});
  CHECK(linear.on(kRow) == Floats{21});
  CHECK_THAT(linear.model.import(), Contains("cannot weigh features: the sizes m and 2 differ"));
  ClassicalCase scaler("Scaler", {"n", "m"});
  scaler.floats("offset", {1, 4});
  CHECK(scaler.on(kRow) == Floats{0, -2});
  ClassicalCase imputer("Imputer", {"n", "m"}, 1, ::onnx::TensorProto::INT64);
  imputer.ints("imputed_value_int64s", {5, 6}).integer("replaced_value_int64", 0);
  CHECK(imputer.labels(intTensor({1, 2}, {0, 3})) == Ints{5, 3});
  ClassicalCase zip("ZipMap", {"n", "m"});
  zip.ints("classlabels_int64s", {4, 5});
  zip.model.graph().mutable_output(0)->mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_map_type();
  CHECK(zip.on(kRow) == Floats{1, 2});
  ClassicalCase joined("FeatureVectorizer", {"n", "m"});
  joined.node->add_input("x");
  joined.ints("inputdimensions", {1, 3});
  CHECK(joined.on(kRow) == Floats{1, 1, 2, 0});
}

TEST_CASE("OneHotEncoder has a place for each category") {
  ClassicalCase encoder("OneHotEncoder", {2}, 1, ::onnx::TensorProto::INT64);
  encoder.ints("cats_int64s", {4, 5, 6});
  CHECK(encoder.on(intTensor({2}, {6, 9})) == Floats{0, 0, 1, 0, 0, 0});
  CHECK_THAT(encoder.model.import(), !Contains("none of the categories"));
  encoder.integer("zeros", 0);
  CHECK_THAT(encoder.model.import(), Contains("none of the categories"));
}

TEST_CASE("FeatureVectorizer joins features, cut or filled") {
  ClassicalCase joined("FeatureVectorizer", {1, 2});
  joined.node->add_input("x");
  joined.ints("inputdimensions", {1, 3});
  CHECK(joined.on(kRow) == Floats{1, 1, 2, 0});
}

static std::vector<std::string> texts(const HostTensor &tensor) {
  std::vector<std::string> result;
  for (const char *text : tensor.elements<const char *>())
    result.push_back(text);
  return result;
}

static const HostTensor kWords = HostTensor::of(kiln::DType::I64, {2}, llvm::ArrayRef<const char *>({"b", "z"}));

TEST_CASE("CategoryMapper maps strings to integers, and integers to strings") {
  auto mapper = [](int dtype) {
    ClassicalCase made("CategoryMapper", {2}, 1, dtype);
    made.texts("cats_strings", {"a", "b"}).ints("cats_int64s", {7, 9}).integer("default_int64", 3);
    made.text("default_string", "none");
    return made;
  };
  CHECK(mapper(::onnx::TensorProto::STRING).labels(kWords) == Ints{9, 3});
  HostTensor numbers = intTensor({2}, {7, 8});
  CHECK(texts(mapper(::onnx::TensorProto::INT64).model.run({numbers})[0]) == std::vector<std::string>{"a", "none"});
}

TEST_CASE("in the first opset LabelEncoder gives a string's place") {
  ClassicalCase encoder("LabelEncoder", {2}, 1, ::onnx::TensorProto::STRING);
  encoder.model.proto.mutable_opset_import(1)->set_version(1);
  encoder.texts("classes_strings", {"a", "b"});
  CHECK(encoder.labels(kWords) == Ints{1, -1});
}

TEST_CASE("ZipMap gives the scores that it was given") {
  ClassicalCase zip("ZipMap", {1, 2});
  zip.texts("classlabels_strings", {"no", "yes"});
  zip.model.graph().mutable_output(0)->mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_map_type();
  CHECK(zip.on(kRow) == Floats{1, 2});
  ClassicalCase three("ZipMap", {1, 2});
  three.ints("classlabels_int64s", {4, 5, 6});
  CHECK_THAT(three.model.import(), Contains("(ai.onnx.ml:ZipMap): 3 labels for scores [1, 2]; "));
}

TEST_CASE("TreeEnsemble transforms its scores") {
  auto ensemble = [](int64_t transform) {
    ClassicalCase made("TreeEnsemble", {1, 2});
    made.model.proto.mutable_opset_import(1)->set_version(5);
    auto tensor = [&](const std::string &name, int dtype) -> ::onnx::TensorProto & {
      ::onnx::AttributeProto &attribute = *made.node->add_attribute();
      attribute.set_name(name);
      attribute.set_type(::onnx::AttributeProto::TENSOR);
      attribute.mutable_t()->set_data_type(dtype);
      return *attribute.mutable_t();
    };
    // x[0] <= 0.5: 1 for target 0, else 2 for target 1.
    ::onnx::TensorProto &splits = tensor("nodes_splits", ::onnx::TensorProto::FLOAT);
    splits.add_dims(1);
    splits.add_float_data(0.5f);
    ::onnx::TensorProto &modes = tensor("nodes_modes", ::onnx::TensorProto::UINT8);
    modes.add_dims(1);
    modes.add_int32_data(0);
    ::onnx::TensorProto &weights = tensor("leaf_weights", ::onnx::TensorProto::FLOAT);
    weights.add_dims(2);
    weights.add_float_data(1);
    weights.add_float_data(2);
    made.ints("tree_roots", {0}).ints("nodes_featureids", {0}).ints("leaf_targetids", {0, 1});
    made.ints("nodes_truenodeids", {0}).ints("nodes_trueleafs", {1});
    made.ints("nodes_falsenodeids", {1}).ints("nodes_falseleafs", {1});
    made.integer("n_targets", 2).integer("post_transform", transform);
    return made;
  };
  CHECK(ensemble(0).on(kRow) == Floats{0, 2});
  CHECK(ensemble(1).on(kRow) == Floats{0.119f, 0.881f});
  CHECK_THAT(ensemble(5).model.import(), Contains("attribute 'post_transform' is 5; it is 0 to 4"));
}
