//===- Strings.cpp - Operators of strings ------------------------------------===//
//
// A string has any length, so a kernel cannot hold it. Elements of a tensor of strings are 64-bit references, which
// kernels move as they do integers: a Gather or a Concat of strings needs nothing of its own. Operators that look into
// a string (Equal, StringSplit, RegexFullMatch) are calls of the host (kiln/call.h). An operator has to be named in
// takesStrings before it is given any. A model's own strings are a weight of bytes, each text ending with a 0; a call
// turns it into references at run time.
//
//===-------------------------------------------------------------------------===//
#include "import/onnx/text/Strings.h"

#include "import/Scatter.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Registry.h"
#include "import/onnx/text/Patterns.h"
#include "ir/base/ObjectType.h"

#include "llvm/ADT/StringSet.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::StringRef;
using llvm::Twine;
using mlir::Value;

bool kiln::import::onnx::takesStrings(StringRef op) {
  static const llvm::StringSet<> operators = {"ArrayFeatureExtractor",
                                              "CategoryMapper",
                                              "Compress",
                                              "Constant",
                                              "Concat",
                                              "Optional",
                                              "SequenceConstruct",
                                              "SequenceInsert",
                                              "SplitToSequence",
                                              "DepthToSpace",
                                              "Equal",
                                              "Expand",
                                              "ExpandDims",
                                              "Flatten",
                                              "Gather",
                                              "GatherND",
                                              "Identity",
                                              "GatherElements",
                                              "If",
                                              "LabelEncoder",
                                              "Loop",
                                              "MurmurHash3",
                                              "OneHotEncoder",
                                              "RegexFullMatch",
                                              "Reshape",
                                              "Scatter",
                                              "ScatterElements",
                                              "ScatterND",
                                              "SpaceToDepth",
                                              "OptionalGetElement",
                                              "OptionalHasElement",
                                              "ReverseSequence",
                                              "Shape",
                                              "Size",
                                              "Slice",
                                              "Split",
                                              "Squeeze",
                                              "StringConcat",
                                              "StringSplit",
                                              "StringNormalizer",
                                              "TensorScatter",
                                              "TfIdfVectorizer",
                                              "Tile",
                                              "Tokenizer",
                                              "Transpose",
                                              "UnfoldTensor",
                                              "Unsqueeze",
                                              "Where"};
  return operators.contains(op);
}

static mlir::Type stringType(TensorBuilder &b) { return StringType::get(b.builder().getContext()); }

static bool isString(Value x) { return llvm::isa<StringType>(TensorBuilder::element(x)); }

Value kiln::import::onnx::stringConstant(TensorBuilder &b, StringRef name, llvm::ArrayRef<StringRef> strings,
                                         TensorBuilder::Sizes shape) {
  if (strings.empty())
    return b.fromCodes(b.constant(0, b.int64(), shape), stringType(b));
  std::string bytes;
  for (StringRef text : strings)
    (bytes += text) += '\0';
  auto type = mlir::RankedTensorType::get({int64_t(bytes.size())}, b.builder().getIntegerType(8, /*isSigned=*/false));
  Value data =
      b.weight(name, mlir::DenseElementsAttr::getFromRawBuffer(type, llvm::ArrayRef(bytes.data(), bytes.size())));
  int64_t count = strings.size();
  return callHost(b, "string_constant", {tensorType(shape, stringType(b))}, {data}, {count})[0];
}

Value kiln::import::onnx::stringList(TensorBuilder &b, StringRef name, llvm::ArrayRef<std::string> strings) {
  llvm::SmallVector<StringRef> views(strings.begin(), strings.end());
  return stringConstant(b, name, views, {int64_t(strings.size())});
}

Value kiln::import::onnx::stringPlaces(TensorBuilder &b, Value x, Value keys) {
  if (!x || !keys)
    return {};
  Shape shape = b.shape(x);
  return callHost(b, "string_find", {tensorType(shape, b.int64())}, {x, keys},
                  {view::product(shape), view::product(b.shape(keys))})[0];
}

/// Two tensors of strings, broadcast, as a call of the host takes them.
static Value together(TensorBuilder &b, Value x, Value y, StringRef callee, mlir::Type element) {
  if (!x || !y)
    return {};
  if (!isString(x) || !isString(y))
    return b.fail("one input is of strings and the other is not", "both are of strings");
  Value both[] = {x, y};
  if (!b.broadcast(both))
    return {};
  Shape shape = b.shape(both[0]);
  return callHost(b, callee, {tensorType(shape, element)}, both, {view::product(shape)})[0];
}

Value kiln::import::onnx::stringEqual(TensorBuilder &b, Value x, Value y) {
  return together(b, x, y, "string_equal", b.boolType());
}

static Value stringConcat(Node &n, TensorBuilder &b) {
  return together(b, n.input(0), n.input(1), "string_concat", stringType(b));
}

static Value stringsInput(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  return !x || isString(x) ? x : b.fail("its input is not a tensor of strings", "give it one");
}

/// A node's symbol for a number that is data.
static Expr countOf(Node &n, TensorBuilder &b, Value count) {
  return n.importer().bind(n.scope().prefix() + n.proto().output(0) + ".count", count, b);
}

static Tensors stringSplit(Node &n, TensorBuilder &b) {
  Value x = stringsInput(n, b);
  std::string delimiter = n.string("delimiter", "");
  // Without the attribute there is no limit; with 0 nothing is split.
  int64_t most = n.hasAttr("maxsplit") ? n.integer("maxsplit") : -1;
  if (!x)
    return {};
  if (most < -1)
    return b.fail("attribute 'maxsplit' is " + Twine(most), "it is not negative"), Tensors();
  Value between = stringList(b, "delimiter", {delimiter});
  Shape shape = b.shape(x);
  Expr count = view::product(shape);
  llvm::SmallVector<Value> counted = callHost(
      b, "string_parts", {tensorType(shape, b.int64()), tensorType({}, b.int64())}, {x, between}, {count, Expr(most)});
  if (!b.ok())
    return {};
  Expr parts = countOf(n, b, counted[1]);
  shape.push_back(parts);
  return {callHost(b, "string_split", {tensorType(shape, stringType(b))}, {x, between}, {count, Expr(most), parts})[0],
          counted[0]};
}

static Value stringNormalizer(Node &n, TensorBuilder &b) {
  Value x = stringsInput(n, b);
  std::string action = n.string("case_change_action", "NONE");
  bool heedsCase = n.flag("is_case_sensitive", false);
  llvm::SmallVector<std::string> stopWords = n.strings("stopwords");
  n.ignore({"locale"});
  if (!x)
    return {};
  static constexpr llvm::StringLiteral kActions[] = {"NONE", "LOWER",
                                                     "UPPER"}; // in the order of the runtime's kiln_case
  int64_t to = llvm::find(kActions, action) - kActions;
  if (to == std::size(kActions))
    return b.fail("attribute 'case_change_action' is '" + action + "'", "it is NONE, LOWER or UPPER");
  bool isRow = b.rank(x) == 2 && b.dim(x, 0).isConst(1);
  if (!isRow && b.rank(x) != 1)
    return b.fail("an input " + describe(b.shape(x)), "it is a list, or one row");
  Expr count = view::product(b.shape(x));
  llvm::SmallVector<Value> left =
      callHost(b, "string_normalize", {tensorType({count + 1}, stringType(b)), tensorType({}, b.int64())},
               {x, stringList(b, "stopwords", stopWords)}, {count, int64_t(stopWords.size()), to, int64_t(heedsCase)});
  if (!b.ok())
    return {};
  Value words = b.narrow(left[0], 0, 0, countOf(n, b, left[1]));
  return isRow ? b.unsqueeze(words, {0}) : words;
}

static Value regexFullMatch(Node &n, TensorBuilder &b) {
  Value x = stringsInput(n, b);
  if (!n.hasAttr("pattern"))
    return b.fail("attribute 'pattern' is missing", "give it one");
  std::string pattern = n.string("pattern", "");
  if (!x)
    return {};
  if (std::string cause = patternError(kiln_call_regex_full_match, {pattern}, {0}); !cause.empty())
    return b.fail(cause);
  Shape shape = b.shape(x);
  return callHost(b, "regex_full_match", {tensorType(shape, b.boolType())}, {x, stringList(b, "pattern", {pattern})},
                  {view::product(shape)})[0];
}

void kiln::import::onnx::addStrings(Registry &r) {
  r.add("RegexFullMatch", 20, regexFullMatch);
  r.add("StringConcat", 20, stringConcat);
  r.add("StringNormalizer", 10, stringNormalizer);
  r.add("StringSplit", 20, stringSplit);
}
