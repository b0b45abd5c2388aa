//===- Classical.cpp - Features: ai.onnx.ml ----------------------------------===//
//
// Models of classical machine learning come with their preprocessing, as operators of the domain ai.onnx.ml on rows of
// features: scaling, filling in missing values, encoding categories. Most are a line of tensor functions with a table
// in the attributes, which has one number for all features or one for each. Two things do not fit tensors of numbers:
// categories may be strings, whose places the host finds (Strings.h), and ZipMap gives a map from label to score for
// each row, which the tensor of scores replaces here.
//
//===-------------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"
#include "import/onnx/classical/Scores.h"
#include "import/onnx/file/ModelFile.h"
#include "import/onnx/text/Strings.h"
#include "ir/base/ObjectType.h"

#include <cmath>

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;
using Reals = std::vector<double>;

static constexpr llvm::StringLiteral kDomain = "ai.onnx.ml";

static Value binarizer(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  double threshold = n.real("threshold", 0);
  return x ? b.cast(b.greater(x, threshold), b.element(x)) : x;
}

/// Elements of the last axis; for a list, those of one row.
static Value arrayFeatureExtractor(Node &n, TensorBuilder &b) {
  Value x = n.input(0), places = n.input(1);
  if (!x || !places)
    return {};
  if (b.rank(x) == 1)
    x = b.unsqueeze(x, {0});
  return b.gather(x, b.reshape(places, {view::product(b.shape(places))}), -1);
}

/// Whether an attribute has a number for each feature, or one for all; notes a failure if not. If the model leaves the
/// number of features open, the run checks it.
static bool hasFeatures(TensorBuilder &b, llvm::StringRef name, int64_t count, Value x) {
  if (!x || count == 1 || (b.rank(x) > 0 && b.takeSize(x, -1, count, "take a number for each feature")))
    return bool(x);
  b.fail("attribute '" + name + "' has " + Twine(count) + " numbers for an input " + describe(b.shape(x)),
         "it has one, or one a feature");
  return false;
}

/// A weight with a number for each feature, or one for all; null if their number is another.
static Value perFeature(TensorBuilder &b, llvm::StringRef name, const Reals &numbers, Value x) {
  int64_t count = numbers.size();
  return hasFeatures(b, name, count, x) ? realTable(b, name, numbers, {count}, x) : Value();
}

static Value scaler(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  Reals offset = numbersOf(n, "offset"), scale = numbersOf(n, "scale");
  if (!x)
    return {};
  if (!b.element(x).isF64())
    x = b.cast(x, b.float32());
  if (!offset.empty())
    x = b.sub(x, perFeature(b, "offset", offset, x));
  if (x && !scale.empty())
    x = b.mul(x, perFeature(b, "scale", scale, x));
  return x ? b.cast(x, b.float32()) : x;
}

/// Missing elements, a NaN or another number, become the model's number for their feature.
static Value imputer(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  Reals imputed = numbersOf(n, "imputed_value_floats");
  llvm::SmallVector<int64_t> integers = n.integers("imputed_value_int64s");
  double missing = n.real("replaced_value_float", 0);
  int64_t missingInteger = n.integer("replaced_value_int64", 0);
  if (!x)
    return {};
  if (!b.isFloat(x)) {
    if (!hasFeatures(b, "imputed_value_int64s", integers.size(), x))
      return {};
    Value values = b.cast(intTable(b, "imputed_value_int64s", integers), b.element(x));
    return b.where(b.equal(x, missingInteger), values, x);
  }
  Value values = perFeature(b, "imputed_value_floats", imputed, x);
  return b.where(std::isnan(missing) ? b.isNaN(x) : b.equal(x, missing), values, x);
}

/// Each row divided by its largest element, its sum of amounts or its length; not by 0.
static Value normalizer(Node &n, TensorBuilder &b) {
  std::string norm = n.string("norm", "MAX");
  Value x = n.input(0);
  if (!x)
    return {};
  if (b.rank(x) < 1 || b.rank(x) > 2)
    return b.fail("an input " + describe(b.shape(x)), "it is [rows, features], or one row");
  x = b.cast(x, b.float32());
  Value divisor;
  if (norm == "MAX")
    divisor = b.max(x, {-1}, /*keepDims=*/true);
  else if (norm == "L1")
    divisor = b.l1(x, {-1}, /*keepDims=*/true);
  else if (norm == "L2")
    divisor = b.l2(x, {-1}, /*keepDims=*/true);
  else
    return n.fail("attribute 'norm' is " + quoted(norm), "it is MAX, L1 or L2"), Value();
  return b.div(x, b.where(b.equal(divisor, 0), 1, divisor));
}

/// A new last axis with 1 at an element's category. Without `zeros` the run ends if an element has none.
static Value oneHotEncoder(Node &n, TensorBuilder &b) {
  llvm::SmallVector<std::string> strings = n.strings("cats_strings");
  llvm::SmallVector<int64_t> integers = n.integers("cats_int64s");
  bool mayBeNone = n.flag("zeros", true);
  Value x = n.input(0), isMine;
  if (!x)
    return {};
  int64_t count = isObject(b.element(x)) ? strings.size() : integers.size();
  if (count == 0)
    return b.fail("it has no categories for an input of " + dtypeName(b.element(x)),
                  "give cats_strings for strings, cats_int64s for numbers");
  if (isObject(b.element(x))) {
    Value place = stringPlaces(b, x, stringList(b, "categories", strings));
    isMine = b.equal(b.unsqueeze(place, {-1}), b.arange(count, b.int64()));
  } else {
    isMine = b.equal(b.unsqueeze(b.cast(x, b.int64()), {-1}), intTable(b, "categories", integers));
  }
  if (!mayBeNone && isMine) {
    Value all = b.cast(b.min(b.max(isMine, {-1}), b.allAxes(x)), b.int64());
    Expr known = n.importer().bind(n.scope().prefix() + n.proto().output(0) + ".known", all, b, {0, 1, 1});
    if (!b.check(known, "an element has none of the categories of " + quoted(n.proto().output(0))))
      return {};
  }
  return b.cast(isMine, b.float32());
}

/// Inputs joined, each cut or filled with zeros to as many features as the attribute says.
static Value featureVectorizer(Node &n, TensorBuilder &b) {
  llvm::SmallVector<int64_t> sizes = n.integers("inputdimensions");
  llvm::SmallVector<Value> parts;
  for (auto [index, part] : llvm::enumerate(n.inputs())) {
    if (!part)
      return {};
    if (b.rank(part) == 1)
      part = b.unsqueeze(part, {1});
    if (b.rank(part) != 2)
      return b.fail("an input " + describe(b.shape(part)), "it is [rows, features]");
    std::optional<int64_t> own = b.dim(part, 1).asConst();
    if (index < sizes.size() && own != sizes[index]) {
      if (sizes[index] < 0 || sizes[index] > view::kMaxDim)
        return b.fail("an input " + describe(b.shape(part)) + " for " + Twine(sizes[index]) + " features");
      Expr missing = own ? Expr(std::max<int64_t>(sizes[index] - *own, 0)) : Expr(sizes[index]);
      part = b.narrow(b.pad(part, {Expr(0), Expr(0)}, {Expr(0), missing}), 1, 0, sizes[index]);
    }
    parts.push_back(b.cast(part, b.float32()));
  }
  return b.concat(parts, 1);
}

/// A map from label to score for each row, which ONNX has for this operator alone. Here it is the tensor of scores: a
/// column belongs to the label at its place.
static Value zipMap(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  size_t strings = n.strings("classlabels_strings").size(), integers = n.integers("classlabels_int64s").size();
  if (!x)
    return {};
  int64_t labels = strings + integers;
  bool isOneList = (strings == 0) != (integers == 0) && b.rank(x) >= 1;
  if (Value labelled = isOneList ? b.takeSize(x, -1, labels, "label scores") : Value())
    return labelled;
  return b.fail(Twine(labels) + " labels for scores " + describe(b.shape(x)),
                "classlabels_strings or classlabels_int64s has one per column");
}

void kiln::import::onnx::addClassical(Registry &r) {
  r.add(kDomain, "ArrayFeatureExtractor", 1, arrayFeatureExtractor);
  r.add(kDomain, "Binarizer", 1, binarizer);
  r.add(kDomain, "FeatureVectorizer", 1, featureVectorizer);
  r.add(kDomain, "Imputer", 1, imputer);
  r.add(kDomain, "Normalizer", 1, normalizer);
  r.add(kDomain, "OneHotEncoder", 1, oneHotEncoder);
  r.add(kDomain, "Scaler", 1, scaler);
  r.add(kDomain, "ZipMap", 1, zipMap);
}
