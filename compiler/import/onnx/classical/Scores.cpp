#include "import/onnx/classical/Scores.h"

#include "import/DType.h"
#include "import/onnx/file/ModelFile.h"
#include "import/onnx/text/Strings.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

PostTransform kiln::import::onnx::postTransform(Node &n) {
  std::string name = n.string("post_transform", "NONE");
  std::pair<llvm::StringRef, PostTransform> known[] = {{"NONE", PostTransform::None},
                                                       {"SOFTMAX", PostTransform::Softmax},
                                                       {"LOGISTIC", PostTransform::Logistic},
                                                       {"SOFTMAX_ZERO", PostTransform::SoftmaxZero},
                                                       {"PROBIT", PostTransform::Probit}};
  for (auto [text, transform] : known)
    if (text == name)
      return transform;
  n.fail("attribute 'post_transform' is " + quoted(name), "it is NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT");
  return PostTransform::None;
}

/// A softmax that keeps zeros before the division: a class without a score has no probability.
static Value softmaxZero(TensorBuilder &b, Value scores) {
  Value largest = b.max(scores, {-1}, /*keepDims=*/true);
  Value isZero = b.lessEqual(b.abs(scores), 1e-7);
  Value weights = b.where(isZero, b.mul(scores, b.exp(b.neg(largest))), b.exp(b.sub(scores, largest)));
  return b.div(weights, b.sum(weights, {-1}, /*keepDims=*/true));
}

/// The inverse of a normal distribution's function, by Winitzki's approximation of the inverse of erf, which runtimes
/// of this operator use.
static Value probit(TensorBuilder &b, Value scores) {
  constexpr double a = 0.147, pi = 3.14159;
  Value x = b.sub(b.mul(scores, 2), 1);
  Value log = b.log(b.mul(b.sub(1, x), b.add(x, 1)));
  Value v = b.add(b.mul(log, 0.5), 2 / (pi * a));
  Value inner = b.sub(b.sqrt(b.sub(b.square(v), b.mul(log, 1 / a))), v);
  Value root = b.sqrt(inner);
  return b.mul(b.where(b.less(x, 0), b.neg(root), root), 1.41421356);
}

Value kiln::import::onnx::transformed(TensorBuilder &b, Value scores, PostTransform transform) {
  if (b.dim(scores, -1).isConst(1) && transform != PostTransform::Probit)
    return scores;
  switch (transform) {
  case PostTransform::None:
    return scores;
  case PostTransform::Softmax:
    return b.softmax(scores, -1);
  case PostTransform::Logistic:
    return b.sigmoid(scores);
  case PostTransform::SoftmaxZero:
    return softmaxZero(b, scores);
  case PostTransform::Probit:
    return probit(b, scores);
  }
  llvm_unreachable("every transform is in the switch");
}

Value kiln::import::onnx::ofTwoClasses(TensorBuilder &b, Value score, bool isProbability, PostTransform transform) {
  if (transform == PostTransform::Probit)
    return b.concat({probit(b, score), score}, 1);
  if (transform == PostTransform::Logistic)
    return b.sigmoid(b.concat({b.neg(score), score}, 1));
  return b.concat({isProbability ? b.sub(1, score) : b.neg(score), score}, 1);
}

Tensors kiln::import::onnx::classified(TensorBuilder &b, Value labels, Value sums, PostTransform transform) {
  sums = b.cast(sums, b.float32());
  return {b.gather(labels, b.argMax(sums, 1, /*keepDims=*/false, b.int64()), 0), transformed(b, sums, transform)};
}

Tensors kiln::import::onnx::classifiedByOne(TensorBuilder &b, Value labels, Value sum, double threshold,
                                            bool isProbability, PostTransform transform) {
  sum = b.cast(sum, b.float32());
  Value isSecond = b.cast(b.greater(b.squeeze(sum, {1}), threshold), b.int64());
  return {b.gather(labels, isSecond, 0), ofTwoClasses(b, sum, isProbability, transform)};
}

Value kiln::import::onnx::classLabels(Node &n, TensorBuilder &b, llvm::StringRef integers) {
  llvm::SmallVector<std::string> strings = n.strings("classlabels_strings");
  llvm::SmallVector<int64_t> numbers = n.integers(integers);
  if (!strings.empty())
    return stringList(b, "labels", strings);
  return numbers.empty() ? Value() : intTable(b, "labels", numbers);
}

std::vector<double> kiln::import::onnx::numbersOf(Node &n, llvm::StringRef name) {
  std::optional<llvm::SmallVector<double>> given = n.reals(name);
  return given ? std::vector<double>(given->begin(), given->end()) : std::vector<double>();
}

Value kiln::import::onnx::intTable(TensorBuilder &b, llvm::StringRef name, llvm::ArrayRef<int64_t> numbers) {
  auto type = mlir::RankedTensorType::get({int64_t(numbers.size())}, b.int64());
  return b.weight(name, mlir::DenseElementsAttr::get(type, numbers));
}

Value kiln::import::onnx::realTable(TensorBuilder &b, llvm::StringRef name, llvm::ArrayRef<double> numbers,
                                    llvm::ArrayRef<int64_t> shape, Value like) {
  auto type = mlir::RankedTensorType::get(shape, b.builder().getF64Type());
  return b.cast(b.weight(name, mlir::DenseElementsAttr::get(type, numbers)), like ? b.element(like) : b.float32());
}

Value kiln::import::onnx::featureRows(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  if (!x)
    return {};
  if (b.rank(x) == 1)
    x = b.unsqueeze(x, {0});
  if (b.rank(x) != 2)
    return b.fail("an input " + describe(b.shape(x)), "it is [rows, features]");
  return b.element(x).isF64() ? x : b.cast(x, b.float32());
}
