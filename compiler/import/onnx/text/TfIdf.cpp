//===- TfIdf.cpp - How often a text has each of a list of n-grams -----------===//
//
// A text is a list of words: integers, or strings, which become their numbers in the list of the pool's words. Each
// n-gram of the pool is compared with every place of the text and every distance between its words at once, and the
// places where all words are equal are counted.
//
//===----------------------------------------------------------------------===//
#include "import/Scatter.h"
#include "import/onnx/Registry.h"
#include "import/onnx/file/ModelFile.h"
#include "import/onnx/text/Strings.h"
#include "ir/base/ObjectType.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

/// How often each of the n-grams (the pool's words, `length` a gram) is in the texts x [rows, words], with `skips`
/// distances between words: [rows, grams], int64.
static Value countGrams(TensorBuilder &b, Value x, llvm::ArrayRef<int64_t> words, int64_t length, int64_t skips) {
  auto type = mlir::RankedTensorType::get({int64_t(words.size()) / length, length}, b.int64());
  Value grams = b.weight("grams", mlir::DenseElementsAttr::get(type, words)), isFound;
  Value distance = b.reshape(b.add(b.arange(skips, b.int64()), 1), {skips, 1});
  Expr size = b.dim(x, 1);
  Value begin = b.unsqueeze(b.arange(size, b.int64()), {0});
  for (int64_t i = 0; i < length; ++i) {
    Value place = b.add(b.mul(distance, i), begin), fits = b.less(place, b.size(size)); // [skips, words]
    Value word = b.unsqueeze(b.gather(x, b.where(fits, place, 0), 1), {1});             // [rows, 1, skips, words]
    Value wanted = b.reshape(b.narrow(grams, 1, i, i + 1), {1, type.getDimSize(0), 1, 1});
    Value isSame = b.bitAnd(b.equal(word, wanted), fits);
    isFound = isFound ? b.bitAnd(isFound, isSame) : isSame;
  }
  return b.sum(b.cast(isFound, b.int64()), {2, 3});
}

/// The pool's words as numbers, and x in the same; -1 is a word that the pool does not have.
static Value numberWords(Node &n, TensorBuilder &b, Value x, llvm::SmallVectorImpl<int64_t> &pool) {
  llvm::SmallVector<std::string> words;
  llvm::StringMap<int64_t> numbers;
  for (const std::string &word : n.strings("pool_strings")) {
    auto [found, isNew] = numbers.try_emplace(word, words.size());
    if (isNew)
      words.push_back(word);
    pool.push_back(found->second);
  }
  return stringPlaces(b, x, stringList(b, "words", words));
}

static Value tfIdf(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  std::string mode = n.string("mode", "");
  int64_t shortest = n.integer("min_gram_length"), longest = n.integer("max_gram_length"),
          skips = n.integer("max_skip_count");
  llvm::SmallVector<int64_t> begins = n.integers("ngram_counts"), targets = n.integers("ngram_indexes"),
                             pool = n.integers("pool_int64s");
  std::optional<llvm::SmallVector<double>> weights = n.reals("weights");
  if (!x)
    return {};
  bool isText = llvm::isa<StringType>(b.element(x));
  if (isText != n.hasAttr("pool_strings") || (isText && !pool.empty()))
    return b.fail(Twine("its words are ") + (isText ? "" : "not ") + "strings, those of the pool are others",
                  "give 'pool_strings' for strings, 'pool_int64s' for integers");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return b.fail("attribute 'mode' is " + quoted(mode), "it is TF, IDF or TFIDF");
  bool isList = b.rank(x) < 2;
  if (isText)
    x = numberWords(n, b, x, pool);
  if (b.rank(x) > 2 || !b.isInteger(x) || shortest < 1 || skips < 0 || targets.empty() ||
      *llvm::min_element(targets) < 0)
    return b.fail("an input " + describe(b.shape(x)) + " for n-grams from length " + Twine(shortest),
                  "it is a text or a list of texts");
  int64_t width = *llvm::max_element(targets) + 1;
  if (weights && int64_t(weights->size()) != width)
    return b.fail(Twine(weights->size()) + " weights for " + Twine(width) + " numbers", "give one a number");
  x = b.cast(isList ? b.reshape(x, {1, view::product(b.shape(x))}) : x, b.int64());
  // The pool has the n-grams of length 1, then those of length 2 …; each has a number in the result, which they may
  // share.
  llvm::SmallVector<Value> counts;
  llvm::SmallVector<int64_t> kept;
  begins.push_back(pool.size());
  int64_t gram = 0;
  for (int64_t length = 1; length < int64_t(begins.size()); ++length) {
    int64_t begin = begins[length - 1], end = begins[length], count = (end - begin) / length;
    if (begin < 0 || begin > end || end > int64_t(pool.size()) || gram + count > int64_t(targets.size()))
      return b.fail("attributes 'ngram_counts', 'ngram_indexes' and 'pool_int64s' do not fit together");
    if (count > 0 && length >= shortest && length <= longest) {
      llvm::ArrayRef<int64_t> words = llvm::ArrayRef(pool).slice(begin, count * length);
      counts.push_back(countGrams(b, x, words, length, length == 1 ? 1 : skips + 1));
      kept.append(targets.begin() + gram, targets.begin() + gram + count);
    }
    gram += count;
  }
  Value result = b.constant(0, b.int64(), {width, b.dim(x, 0)});
  if (!counts.empty()) {
    auto type = mlir::RankedTensorType::get({int64_t(kept.size())}, b.int64());
    Value places = b.weight("targets", mlir::DenseElementsAttr::get(type, llvm::ArrayRef<int64_t>(kept)));
    result = scatter(b, result, places, b.transpose(b.concat(counts, 1), 0, 1), Combine::Add);
  }
  result = b.cast(b.transpose(result, 0, 1), b.float32());
  if (mode == "IDF")
    result = b.cast(b.greater(result, 0), b.float32());
  if (mode != "TF" && weights) {
    llvm::SmallVector<float> factors(weights->begin(), weights->end());
    auto type = mlir::RankedTensorType::get({width}, b.float32());
    result = b.mul(result, b.weight("weights", mlir::DenseElementsAttr::get(type, llvm::ArrayRef<float>(factors))));
  }
  return isList ? b.reshape(result, {width}) : result;
}

void kiln::import::onnx::addText(Registry &r) { r.add("TfIdfVectorizer", 9, tfIdf); }
