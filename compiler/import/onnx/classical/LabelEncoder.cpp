//===- LabelEncoder.cpp - Keys to values: ai.onnx.ml --------------------------===//
//
// An element's key gives a place; the value at that place is gathered, and the default follows the values.
//
//===----------------------------------------------------------------------===//
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"
#include "import/onnx/file/ModelFile.h"
#include "import/onnx/text/Strings.h"
#include "ir/base/ObjectType.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::StringRef;
using llvm::Twine;
using mlir::Value;

static mlir::RankedTensorType listOf(mlir::Type element, size_t count) {
  return mlir::RankedTensorType::get({int64_t(count)}, element);
}

/// An attribute that is a tensor, as a list; null after a failure.
static Value tensorList(Node &n, TensorBuilder &b, StringRef name) {
  const ::onnx::TensorProto *proto = n.tensorAttr(name);
  if (!proto)
    return {};
  llvm::Expected<Constant> given = n.importer().file().constant(b.builder().getContext(), *proto);
  if (!given)
    return b.fail(given.takeError());
  Value value = n.asValue(Tensor(given->type, given->data, name));
  return b.reshape(value, {view::product(b.shape(value))});
}

/// The list in one of the attributes KIND_tensor, KIND_strings, KIND_int64s and KIND_floats.
static Value list(Node &n, TensorBuilder &b, const std::string &kind) {
  if (n.hasAttr(kind + "_tensor"))
    return tensorList(n, b, kind + "_tensor");
  if (n.hasAttr(kind + "_strings"))
    return stringList(b, kind, n.strings(kind + "_strings"));
  if (n.hasAttr(kind + "_int64s")) {
    llvm::SmallVector<int64_t> numbers = n.integers(kind + "_int64s");
    return b.weight(kind, mlir::DenseElementsAttr::get(listOf(b.int64(), numbers.size()), llvm::ArrayRef(numbers)));
  }
  std::optional<llvm::SmallVector<double>> given = n.reals(kind + "_floats");
  if (!given)
    return b.fail("attribute '" + kind + "_tensor' is missing", "the operator needs " + kind);
  llvm::SmallVector<float> numbers(given->begin(), given->end());
  return b.weight(kind, mlir::DenseElementsAttr::get(listOf(b.float32(), numbers.size()), llvm::ArrayRef(numbers)));
}

/// The value for an element that is not a key, as a list of one.
static Value defaultOf(Node &n, TensorBuilder &b, mlir::Type element) {
  std::string text = n.string("default_string", "_Unused");
  int64_t integer = n.integer("default_int64", -1);
  double real = n.real("default_float", -0.0);
  if (n.hasAttr("default_tensor"))
    return tensorList(n, b, "default_tensor");
  if (isObject(element))
    return stringList(b, "default", {text});
  return llvm::isa<mlir::FloatType>(element) ? b.constant(real, element, {1}) : b.constant(integer, element, {1});
}

/// For each element the first key that equals it, or -1.
static Value placesOf(TensorBuilder &b, Value x, Value keys) {
  if (isObject(b.element(x)))
    return stringPlaces(b, x, keys);
  Expr count = b.dim(keys, 0);
  Value each = b.unsqueeze(x, {b.rank(x)}), isKey = b.equal(each, keys);
  if (b.isFloat(x)) // a NaN may be a key
    isKey = b.bitOr(isKey, b.bitAnd(b.isNaN(each), b.isNaN(keys)));
  Value place = b.min(b.where(isKey, b.arange(count, b.int64()), b.size(count)), {-1});
  return b.where(b.equal(place, b.size(count)), -1, place);
}

/// The value of each element's key, or `otherwise`.
static Value mapped(TensorBuilder &b, Value x, Value keys, Value values, Value otherwise) {
  if (!x || !keys || !values || !otherwise)
    return {};
  if (b.element(keys) != b.element(x) || b.element(otherwise) != b.element(values) ||
      !view::provablyEqual(b.dim(keys, 0), b.dim(values, 0)))
    return b.fail("its keys, values and default do not fit together",
                  "keys are as many as values and of the input's dtype, the default is of that of the values");
  Value places = placesOf(b, x, keys);
  places = b.where(b.less(places, 0), b.size(b.dim(keys, 0)), places);
  return b.gather(b.concat({values, otherwise}, 0), places, 0);
}

/// Strings to the corresponding integers, and integers to strings.
static Value mapStrings(Node &n, TensorBuilder &b, llvm::ArrayRef<std::string> strings,
                        llvm::ArrayRef<int64_t> integers) {
  std::string defaultString = n.string("default_string", "_Unused");
  int64_t defaultInteger = n.integer("default_int64", -1);
  Value x = n.input(0);
  if (!x || strings.empty() || integers.empty())
    return x ? b.fail("it has no keys") : x;
  Value texts = stringList(b, "strings", strings);
  Value numbers = b.weight("integers", mlir::DenseElementsAttr::get(listOf(b.int64(), integers.size()), integers));
  if (isObject(b.element(x)))
    return mapped(b, x, texts, numbers, b.constant(defaultInteger, b.int64(), {1}));
  return mapped(b, x, numbers, texts, stringList(b, "default", {defaultString}));
}

static Value categoryMapper(Node &n, TensorBuilder &b) {
  return mapStrings(n, b, n.strings("cats_strings"), n.integers("cats_int64s"));
}

static Value labelEncoder(Node &n, TensorBuilder &b) {
  if (n.opset() < 2) { // a string's number is its place
    llvm::SmallVector<std::string> classes = n.strings("classes_strings");
    return mapStrings(n, b, classes, llvm::to_vector(llvm::seq<int64_t>(0, classes.size())));
  }
  Value x = n.input(0), keys = list(n, b, "keys"), values = list(n, b, "values");
  return values ? mapped(b, x, keys, values, defaultOf(n, b, b.element(values))) : values;
}

void kiln::import::onnx::addLabelEncoder(Registry &r) {
  r.add("ai.onnx.ml", "CategoryMapper", 1, categoryMapper);
  r.add("ai.onnx.ml", "LabelEncoder", 1, labelEncoder);
}
