//===- LinearModels.cpp - Weighted sums of features: ai.onnx.ml --------------===//
#include "import/onnx/Registry.h"
#include "import/onnx/classical/Scores.h"
#include "import/onnx/file/ModelFile.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

static constexpr llvm::StringLiteral kDomain = "ai.onnx.ml";

/// x · coefficientsᵀ + intercepts: [rows, targets]; null, and a failure noted, where the lists are not of these sizes.
static Value weightedSums(Node &n, TensorBuilder &b, Value x, int64_t targets) {
  std::vector<double> coefficients = numbersOf(n, "coefficients"), intercepts = numbersOf(n, "intercepts");
  if (!x)
    return {};
  int64_t features = targets > 0 ? int64_t(coefficients.size()) / targets : 0;
  Expr given = b.dim(x, 1);
  bool fits = features > 0 && features * targets == int64_t(coefficients.size()) &&
              (intercepts.empty() || int64_t(intercepts.size()) == targets);
  x = fits ? b.takeSize(x, 1, features, "weigh features") : Value();
  if (!x)
    return b.fail(Twine(coefficients.size()) + " coefficients and " + Twine(intercepts.size()) + " intercepts for " +
                      Twine(targets) + " targets of " + given.print() + " features",
                  "each target has a coefficient a feature, and one intercept or none");
  Value sums = b.matmul(x, b.transpose(realTable(b, "coefficients", coefficients, {targets, features}, x), 0, 1));
  return intercepts.empty() ? sums : b.add(sums, realTable(b, "intercepts", intercepts, {targets}, x));
}

static Value linearRegressor(Node &n, TensorBuilder &b) {
  PostTransform transform = postTransform(n);
  Value sums = weightedSums(n, b, featureRows(n, b), n.integer("targets", 1));
  return sums ? b.cast(transformed(b, sums, transform), b.float32()) : Value();
}

/// The label of the largest score; with a single score, whether it is above 0 decides.
static Tensors linearClassifier(Node &n, TensorBuilder &b) {
  n.ignore({"multi_class"});
  PostTransform transform = postTransform(n);
  Value labels = classLabels(n, b, "classlabels_ints");
  if (!labels && b.ok())
    return n.fail("it has no class labels", "give classlabels_ints or classlabels_strings"), Tensors();
  std::optional<int64_t> classes = b.dim(labels, 0).asConst();
  std::optional<llvm::SmallVector<double>> intercepts = n.reals("intercepts");
  int64_t targets = intercepts ? int64_t(intercepts->size()) : classes.value_or(0);
  Value x = featureRows(n, b), sums = weightedSums(n, b, x, targets);
  if (!sums)
    return {};
  if (targets != *classes && !(targets == 1 && *classes == 2))
    return n.fail(Twine(targets) + " scores for " + Twine(*classes) + " classes", "each class has one"), Tensors();
  if (targets == 1 && *classes == 1)
    return n.fail("one class label for one score", "give two"), Tensors();
  return targets > 1 ? classified(b, labels, sums, transform)
                     : classifiedByOne(b, labels, sums, 0, /*isProbability=*/true, transform);
}

void kiln::import::onnx::addLinearModels(Registry &r) {
  r.add(kDomain, "LinearClassifier", 1, linearClassifier);
  r.add(kDomain, "LinearRegressor", 1, linearRegressor);
}
