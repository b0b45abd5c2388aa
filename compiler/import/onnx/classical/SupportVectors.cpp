//===- SupportVectors.cpp - Support vector machines: ai.onnx.ml --------------===//
//
// A row's likeness to each support vector (the kernel) is a matrix, and a weighted sum of it decides between two
// classes: a product with a table in which each pair of classes is a column. The row gets the class that wins most
// pairs. If the model has numbers for it (prob_a, prob_b) a pair's sum becomes the probability of the first class, and
// those of all pairs become the one distribution that fits them best, by an iteration (Wu, Lin, Weng 2004, as in
// libsvm).
//
//===----------------------------------------------------------------------===//
#include "import/onnx/Registry.h"
#include "import/onnx/classical/Scores.h"
#include "import/onnx/control/CountedLoop.h"
#include "import/onnx/file/ModelFile.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;
using Reals = std::vector<double>;

static constexpr llvm::StringLiteral kDomain = "ai.onnx.ml";

namespace {
struct Kernel {
  std::string type;
  double gamma = 0, offset = 0, degree = 0;

  explicit Kernel(Node &n);
  /// From rows [rows, features] and vectors [vectors, features]: [rows, vectors].
  Value apply(Node &n, TensorBuilder &b, Value x, Value vectors) const;
};
} // namespace

Kernel::Kernel(Node &n) : type(n.string("kernel_type", "LINEAR")) {
  Reals given = numbersOf(n, "kernel_params");
  if (given.size() >= 3) {
    gamma = given[0];
    offset = given[1];
    degree = given[2];
  }
}

Value Kernel::apply(Node &n, TensorBuilder &b, Value x, Value vectors) const {
  if (type == "RBF") {
    Value apart = b.sub(b.unsqueeze(x, {1}), b.unsqueeze(vectors, {0}));
    return b.exp(b.mul(b.sum(b.square(apart), {2}), -gamma));
  }
  Value product = b.matmul(x, b.transpose(vectors, 0, 1));
  if (type == "LINEAR")
    return product;
  product = b.add(b.mul(product, gamma), offset);
  if (type == "POLY")
    return b.pow(product, degree);
  if (type == "SIGMOID")
    return b.tanh(product);
  return n.fail("attribute 'kernel_type' is " + quoted(type), "it is LINEAR, POLY, RBF or SIGMOID"), Value();
}

/// Vectors of as many features as x has, from an attribute; null, and a failure noted, if their number is another.
static Value vectorsOf(Node &n, TensorBuilder &b, Value x, llvm::StringRef attribute, int64_t count) {
  Reals numbers = numbersOf(n, attribute);
  int64_t features = count > 0 ? int64_t(numbers.size()) / count : 0;
  if (!x)
    return {};
  if (features < 1 || features * count != int64_t(numbers.size()) ||
      !b.takeSize(x, 1, features, "compare with vectors"))
    return b.fail("attribute '" + attribute + "' has " + Twine(numbers.size()) + " numbers for " + Twine(count) +
                  " vectors of " + b.dim(x, 1).print() + " features");
  return realTable(b, attribute, numbers, {count, features}, x);
}

//===----------------------------------------------------------------------===//
// Regression
//===----------------------------------------------------------------------===//

static Value svmRegressor(Node &n, TensorBuilder &b) {
  Kernel kernel(n);
  postTransform(n); // is checked; a single score is as it is
  int64_t supports = n.integer("n_supports", 0);
  bool isOneClass = n.flag("one_class", false);
  Reals rho = numbersOf(n, "rho");
  Value x = featureRows(n, b), sum;
  n.ignore({"support_vectors"}); // unread where n_supports is 0
  if (supports > 0) {
    Value likeness = kernel.apply(n, b, x, vectorsOf(n, b, x, "support_vectors", supports));
    Reals weights = numbersOf(n, "coefficients");
    if (int64_t(weights.size()) != supports)
      return b.fail(Twine(weights.size()) + " coefficients for " + Twine(supports) + " support vectors");
    sum = b.matmul(likeness, x ? realTable(b, "coefficients", weights, {supports, 1}, x) : x);
  } else {
    sum = b.matmul(x, b.transpose(vectorsOf(n, b, x, "coefficients", 1), 0, 1));
  }
  if (rho.size() != 1)
    return b.fail(Twine(rho.size()) + " numbers in attribute 'rho'", "it has one");
  sum = b.add(sum, rho[0]);
  if (isOneClass)
    sum = b.where(b.greater(sum, 0), b.constantLike(sum, 1), -1);
  return b.cast(sum, b.float32());
}

//===----------------------------------------------------------------------===//
// Classification
//===----------------------------------------------------------------------===//

namespace {
/// Each pair of classes, the first before the second.
struct Pairs {
  int64_t classes;
  llvm::SmallVector<std::pair<int64_t, int64_t>> all;

  explicit Pairs(int64_t classes) : classes(classes) {
    for (int64_t first = 0; first < classes; ++first)
      for (int64_t second = first + 1; second < classes; ++second)
        all.push_back({first, second});
  }
  int64_t count() const { return int64_t(all.size()); }
  /// [pairs, classes]: 1 at the first class of each pair, or at the second.
  Reals members(bool second) const {
    Reals table(all.size() * classes);
    for (auto [row, pair] : llvm::enumerate(all))
      table[int64_t(row) * classes + (second ? pair.second : pair.first)] = 1;
    return table;
  }
};
} // namespace

/// By how much each pair is decided for its first class: [rows, pairs].
static Value decisions(Node &n, TensorBuilder &b, const Pairs &pairs, llvm::ArrayRef<int64_t> perClass,
                       Value likeness) {
  Reals coefficients = numbersOf(n, "coefficients"), rho = numbersOf(n, "rho");
  int64_t vectors = 0;
  llvm::SmallVector<int64_t> starts;
  for (int64_t count : perClass) {
    starts.push_back(vectors);
    vectors += count;
  }
  if (int64_t(coefficients.size()) != (pairs.classes - 1) * vectors || int64_t(rho.size()) != pairs.count() ||
      vectors * pairs.count() > kMostNumbers)
    return b.fail(Twine(coefficients.size()) + " coefficients and " + Twine(rho.size()) + " numbers in 'rho' for " +
                      Twine(vectors) + " support vectors of " + Twine(pairs.classes) + " classes",
                  "a vector has a coefficient for each class but its own, and a pair of classes one number");
  Reals table(vectors * pairs.count());
  for (auto [pair, both] : llvm::enumerate(pairs.all))
    for (auto [own, other] : {std::pair(both.first, both.second - 1), std::pair(both.second, both.first)})
      for (int64_t vector = starts[own]; vector < starts[own] + perClass[own]; ++vector)
        table[vector * pairs.count() + int64_t(pair)] = coefficients[other * vectors + vector];
  Value sums = b.matmul(likeness, realTable(b, "coefficients", table, {vectors, pairs.count()}, likeness));
  return b.add(sums, realTable(b, "rho", rho, {pairs.count()}, likeness));
}

/// The class that wins most pairs, the first of several: [rows].
static Value winner(TensorBuilder &b, const Pairs &pairs, Value decided) {
  auto table = [&](bool second) {
    return realTable(b, "pairs", pairs.members(second), {pairs.count(), pairs.classes}, decided);
  };
  Value wins = b.cast(b.greater(decided, 0), b.element(decided));
  Value votes = b.add(b.matmul(wins, table(false)), b.matmul(b.sub(1, wins), table(true)));
  return b.argMax(votes, 1, /*keepDims=*/false, b.int64());
}

/// The distribution over the classes that fits the pairs' probabilities best: [rows, classes].
static Value coupled(Node &n, TensorBuilder &b, const Pairs &pairs, Value probability) {
  int64_t k = pairs.classes;
  probability = b.clip(probability, 1e-7, 1 - 1e-7);
  // r [rows, classes, classes]: the probability of the first and not the second.
  auto spread = [&](Value values, bool isTurned) {
    Reals table(pairs.count() * k * k);
    for (auto [row, pair] : llvm::enumerate(pairs.all))
      table[(int64_t(row) * k + (isTurned ? pair.second : pair.first)) * k + (isTurned ? pair.first : pair.second)] = 1;
    return b.reshape(b.matmul(values, realTable(b, "pairs", table, {pairs.count(), k * k}, values)),
                     {b.dim(values, 0), k, k});
  };
  Value r = b.add(spread(probability, false), spread(b.sub(1, probability), true));
  Value turned = b.transpose(r, 1, 2);
  Value own = b.reshape(b.cast(b.equal(b.unsqueeze(b.arange(k, b.int64()), {1}), b.arange(k, b.int64())), b.element(r)),
                        {1, k, k});
  // q: on the diagonal the sum of squares down a column of r, elsewhere -r(i, j)·r(j, i).
  Value q = b.sub(b.mul(own, b.unsqueeze(b.sumSquares(r, {1}), {1})), b.mul(r, turned));
  Value diagonal = b.sum(b.mul(q, own), {2});
  Value start = b.div(b.constant(1, b.element(r), {b.dim(r, 0), k}), double(k));
  auto product = [&](Value p) { return b.sum(b.mul(q, b.unsqueeze(p, {1})), {2}); };
  int64_t rounds = std::max<int64_t>(100, k);
  auto round = [&](const Iteration &iteration) {
    Value p = iteration.carried[0], qp = product(p), pqp = b.sum(b.mul(p, qp), {1}, /*keepDims=*/true);
    Value isOver = b.less(b.max(b.abs(b.sub(qp, pqp)), {1}, /*keepDims=*/true), 0.005 / double(k));
    Value next = p;
    for (int64_t t = 0; t < k; ++t) {
      Value qpOfT = b.narrow(qp, 1, t, t + 1), qOfT = b.narrow(diagonal, 1, t, t + 1);
      Value step = b.div(b.sub(pqp, qpOfT), qOfT), whole = b.add(step, 1);
      Value column = b.squeeze(b.narrow(own, 1, t, t + 1), {1});
      next = b.div(b.add(next, b.mul(step, column)), whole);
      pqp = b.div(b.add(pqp, b.mul(step, b.add(b.mul(step, qOfT), b.mul(qpOfT, 2)))), b.square(whole));
      qp = b.div(b.add(qp, b.mul(step, b.squeeze(b.narrow(q, 1, t, t + 1), {1}))), whole);
    }
    return IterationResult{{b.where(isOver, p, next)}, {}, b.reshape(b.max(b.logicalNot(isOver), {0, 1}), {})};
  };
  llvm::SmallVector<Value> results = countedLoop(n, rounds, {start}, round);
  return results.empty() ? Value() : results[0];
}

static Tensors svmClassifier(Node &n, TensorBuilder &b) {
  Kernel kernel(n);
  PostTransform transform = postTransform(n);
  Value labels = classLabels(n, b, "classlabels_ints");
  llvm::SmallVector<int64_t> perClass = n.integers("vectors_per_class");
  Reals a = numbersOf(n, "prob_a"), offsets = numbersOf(n, "prob_b");
  Value x = featureRows(n, b);
  if (!labels && b.ok())
    return n.fail("it has no class labels", "give classlabels_ints or classlabels_strings"), Tensors();
  if (!x || !b.ok())
    return {};
  int64_t classes = b.dim(labels, 0).constant(), vectors = 0;
  for (int64_t count : perClass) {
    if (count < 0 || count > kMostNumbers)
      return n.fail("attribute 'vectors_per_class' has " + Twine(count)), Tensors();
    vectors += count;
  }
  if (vectors == 0) { // a plain linear model
    n.ignore({"support_vectors"});
    Reals rho = numbersOf(n, "rho");
    if (rho.empty())
      return n.fail("attribute 'rho' is missing"), Tensors();
    Value scores = b.matmul(x, b.transpose(vectorsOf(n, b, x, "coefficients", classes), 0, 1));
    scores = b.cast(b.add(scores, rho[0]), b.float32());
    Value label = b.argMax(scores, 1, false, b.int64());
    // Of two classes ONNX Runtime takes the second wherever a score is large enough.
    bool isPositive = llvm::all_of(numbersOf(n, "coefficients"), [](double each) { return each >= 0; });
    Value largest = b.max(scores, {1});
    if (classes == 2)
      label =
          b.where(isPositive ? b.greaterEqual(largest, 0.5) : b.greater(largest, 0), b.constantLike(label, 1), label);
    return {b.gather(labels, label, 0), transformed(b, scores, transform)};
  }
  if (int64_t(perClass.size()) != classes || classes < 2 || classes > 1000)
    return n.fail("attribute 'vectors_per_class' has " + Twine(perClass.size()) + " numbers for " + Twine(classes) +
                      " classes",
                  "it has one a class"),
           Tensors();
  Pairs pairs(classes);
  Value likeness = kernel.apply(n, b, x, vectorsOf(n, b, x, "support_vectors", vectors));
  Value decided = likeness ? decisions(n, b, pairs, perClass, likeness) : likeness;
  if (!decided)
    return {};
  Value label = b.gather(labels, winner(b, pairs, decided), 0);
  if (a.empty()) {
    decided = b.cast(decided, b.float32());
    return {label, classes == 2 ? ofTwoClasses(b, decided, transform != PostTransform::None, transform)
                                : transformed(b, decided, transform)};
  }
  if (int64_t(a.size()) != pairs.count() || a.size() != offsets.size())
    return n.fail("attribute 'prob_a' has " + Twine(a.size()) + " numbers for " + Twine(pairs.count()) +
                  " pairs of classes"),
           Tensors();
  Value scaled = b.add(b.mul(decided, realTable(b, "prob_a", a, {pairs.count()}, decided)),
                       realTable(b, "prob_b", offsets, {pairs.count()}, decided));
  Value probabilities = coupled(n, b, pairs, b.sigmoid(b.neg(scaled)));
  return {label, transformed(b, b.cast(probabilities, b.float32()), transform)};
}

void kiln::import::onnx::addSupportVectors(Registry &r) {
  r.add(kDomain, "SVMClassifier", 1, svmClassifier);
  r.add(kDomain, "SVMRegressor", 1, svmRegressor);
}
