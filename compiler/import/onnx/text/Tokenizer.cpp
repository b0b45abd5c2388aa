//===- Tokenizer.cpp - ONNX Runtime's tokens and hashes of strings ------------===//
//
// Converters of text pipelines put a Tokenizer of the domain com.microsoft before a TfIdfVectorizer. The number of
// tokens of the longest string is data: one call of the host counts, the number becomes the size of a new last axis,
// and a second call makes the tokens (kiln/call.h).
//
//===--------------------------------------------------------------------------===//
#include "import/DType.h"
#include "import/Scatter.h"
#include "import/onnx/Importer.h"
#include "import/onnx/Microsoft.h"
#include "import/onnx/text/Patterns.h"
#include "import/onnx/text/Strings.h"
#include "ir/base/ObjectType.h"

using namespace kiln;
using namespace kiln::import;
using namespace kiln::import::onnx;
using llvm::Twine;
using mlir::Value;

/// A row of tokens for each string: `count` says how long, `make` fills them.
static Value tokenRows(Node &n, TensorBuilder &b, Value x, llvm::ArrayRef<Value> patterns, Value padding,
                       llvm::StringRef count, llvm::StringRef make, llvm::ArrayRef<Expr> numbers) {
  llvm::SmallVector<Value> operands{x};
  operands.append(patterns.begin(), patterns.end());
  Value length = callHost(b, count, {tensorType({}, b.int64())}, operands, numbers)[0];
  if (!length)
    return {};
  Shape shape = b.shape(x);
  Expr tokens = n.importer().bind(n.scope().prefix() + n.proto().output(0) + ".tokens", length, b);
  shape.push_back(tokens);
  operands.push_back(padding);
  llvm::SmallVector<Expr> more(numbers);
  more.push_back(tokens);
  return callHost(b, make, {tensorType(shape, b.element(x))}, operands, more)[0];
}

static Value tokenizer(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  bool isMarked = n.flag("mark", false), hasExpression = n.hasAttr("tokenexp");
  int64_t least = n.integer("mincharnum");
  std::string padding = n.string("pad_value", ""), expression = n.string("tokenexp", "");
  llvm::SmallVector<std::string> patterns = n.strings("separators");
  if (!x || !b.ok())
    return {};
  if (!llvm::isa<StringType>(b.element(x)))
    return b.fail("its input is not a tensor of strings", "give it one");
  if (hasExpression == !patterns.empty())
    return b.fail(Twine("attributes 'tokenexp' and 'separators' are ") + (hasExpression ? "both" : "not") + " there",
                  "give one of them");
  if (least < 1)
    return b.fail("attribute 'mincharnum' is " + Twine(least), "it is 1 or more");
  Expr count = view::product(b.shape(x));
  Value pad = stringList(b, "padding", {padding});
  // Both mean each character, line ends too.
  bool takesCharacters = expression == "." || (patterns.size() == 1 && patterns.front().empty());
  if (takesCharacters && least > 1)
    return b.fail("attribute 'mincharnum' is " + Twine(least) + " for tokens of one character", "it is 1");
  if (takesCharacters)
    return tokenRows(n, b, x, {}, pad, "string_character_count", "string_characters", {count, int64_t(isMarked)});
  if (hasExpression)
    patterns = {expression};
  int64_t number = patterns.size();
  std::string cause = patternError(kiln_call_string_token_count, patterns,
                                   {0, number, int64_t(!hasExpression), least, int64_t(isMarked)});
  if (!cause.empty())
    return b.fail(cause);
  return tokenRows(n, b, x, {stringList(b, "patterns", patterns)}, pad, "string_token_count", "string_tokenize",
                   {count, number, int64_t(!hasExpression), least, int64_t(isMarked)});
}

//===----------------------------------------------------------------------===//
// MurmurHash3
//===----------------------------------------------------------------------===//

static Value rotateLeft(TensorBuilder &b, Value x, int bits) {
  return b.bitOr(b.shiftLeft(x, bits), b.shiftRight(x, 32 - bits));
}

/// MurmurHash3_x86_32 of the memory of numbers of 32 or 64 bits.
static Value murmurOfNumbers(TensorBuilder &b, Value x, uint32_t seed) {
  mlir::Type word = b.builder().getIntegerType(32, /*isSigned=*/false);
  mlir::Type wide = b.builder().getIntegerType(64, /*isSigned=*/false);
  unsigned width = b.element(x).getIntOrFloatBitWidth();
  llvm::SmallVector<Value> blocks; // the lowest first
  if (width == 32) {
    blocks = {b.bitcast(x, word)};
  } else {
    Value bits = b.bitcast(x, wide);
    blocks = {b.cast(b.bitAnd(bits, int64_t(0xffffffff)), word), b.cast(b.shiftRight(bits, 32), word)};
  }
  auto times = [&](Value value, uint32_t factor) { return b.mul(value, int64_t(factor)); };
  Value hash = b.constantLike(blocks[0], int64_t(seed));
  for (Value block : blocks) {
    hash = b.bitXor(hash, times(rotateLeft(b, times(block, 0xcc9e2d51u), 15), 0x1b873593u));
    hash = b.add(times(rotateLeft(b, hash, 13), 5), int64_t(0xe6546b64u));
  }
  hash = b.bitXor(hash, int64_t(width / 8));
  hash = times(b.bitXor(hash, b.shiftRight(hash, 16)), 0x85ebca6bu);
  hash = times(b.bitXor(hash, b.shiftRight(hash, 13)), 0xc2b2ae35u);
  return b.bitXor(hash, b.shiftRight(hash, 16));
}

static Value murmurHash3(Node &n, TensorBuilder &b) {
  Value x = n.input(0);
  int64_t seed = n.integer("seed", 0);
  bool isUnsigned = n.flag("positive", true);
  if (!x)
    return {};
  mlir::Type element = b.element(x), word = b.builder().getIntegerType(32, /*isSigned=*/false);
  Value hash;
  if (llvm::isa<StringType>(element)) {
    Shape shape = b.shape(x);
    hash = callHost(b, "string_hash", {tensorType(shape, word)}, {x}, {view::product(shape), seed & 0xffffffff})[0];
  } else if (unsigned width = element.getIntOrFloatBitWidth(); width == 32 || width == 64) {
    hash = murmurOfNumbers(b, x, uint32_t(seed));
  } else {
    return b.fail("a hash of " + dtypeName(element), "it is of strings, or of numbers of 32 or 64 bits");
  }
  return isUnsigned ? hash : b.bitcast(hash, b.int32());
}

void kiln::import::onnx::addTokens(Registry &r) {
  r.add("com.microsoft", "MurmurHash3", 1, murmurHash3);
  r.add("com.microsoft", "Tokenizer", 1, tokenizer);
}
