// Strings are references that kernels move but cannot look into; what looks into them is a call of the runtime. So a
// model of strings is cut into both kinds, and an operator that would compute with the references has to be refused.
// The tests run nodes of strings by the interpreter and compare texts, empty ones among them; patterns are also tried
// for time, since some match in exponentially many ways.
#include "OnnxModel.h"

#include "import/onnx/file/TensorFile.h"

#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

using namespace kiln::test;
using Catch::Contains;
using Texts = std::vector<std::string>;
using Strings = std::initializer_list<const char *>;

static HostTensor stringTensor(llvm::ArrayRef<int64_t> dims, Strings strings) {
  return HostTensor::of(kiln::DType::I64, dims, llvm::ArrayRef<const char *>(strings));
}

static Texts texts(const HostTensor &tensor) {
  Texts result;
  for (const char *text : tensor.elements<const char *>())
    result.push_back(text ? text : "");
  return result;
}

/// A node of inputs x and y and an output, all but the last of strings.
static OnnxModel twoStrings(const std::string &op, OnnxModel::Dims x, OnnxModel::Dims y) {
  OnnxModel model;
  model.input("x", x, ::onnx::TensorProto::STRING).input("y", y, ::onnx::TensorProto::STRING).output("z");
  model.node(op, {"x", "y"}, {"z"});
  return model;
}

static OnnxModel oneString(const std::string &op, OnnxModel::Dims dims) {
  OnnxModel model;
  model.input("x", dims, ::onnx::TensorProto::STRING).output("y");
  model.node(op, {"x"}, {"y"});
  return model;
}

static void setStrings(::onnx::NodeProto &node, const std::string &name, const Texts &values) {
  ::onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::STRINGS);
  for (const std::string &value : values)
    attribute.add_strings(value);
}

TEST_CASE("a port of strings is stored as references") {
  CHECK_THAT(oneString("Identity", {2}).import(), Contains("tensor<2xi64> {graph.dtype = !object.string"));
}

TEST_CASE("strings are concatenated, one of them with each of a list") {
  HostTensor x = stringTensor({3}, {"cat", "", nullptr}), y = stringTensor({1}, {"s"});
  CHECK(texts(twoStrings("StringConcat", {3}, {1}).run({x, y})[0]) == Texts{"cats", "s", "s"});
}

TEST_CASE("strings are equal by what they hold") {
  std::string apart = "ab";
  HostTensor x = stringTensor({3}, {"ab", "abc", ""}), y = stringTensor({3}, {apart.c_str(), "ab", nullptr});
  CHECK(twoStrings("Equal", {3}, {3}).run({x, y})[0].bytes == std::vector<char>{1, 0, 1});
}

TEST_CASE("what moves elements moves strings") {
  OnnxModel model;
  model.input("x", {2}, ::onnx::TensorProto::STRING).output("y");
  model.ints("last", {-1});
  model.node("Gather", {"x", "last"}, {"g"});
  model.node("Concat", {"g", "x"}, {"y"});
  setInt(*model.graph().mutable_node(1), "axis", 0);
  CHECK(texts(model.run({stringTensor({2}, {"a", "b"})})[0]) == Texts{"b", "a", "b"});
}

TEST_CASE("strings are scattered, and moved between depth and space") {
  OnnxModel rows(18);
  rows.input("x", {3}, ::onnx::TensorProto::STRING).input("u", {2}, ::onnx::TensorProto::STRING).output("y");
  rows.ints("i", {2, 0}).ints("axis", {1}).node("Unsqueeze", {"i", "axis"}, {"places"});
  rows.node("ScatterND", {"x", "places", "u"}, {"y"});
  HostTensor x = stringTensor({3}, {"a", "b", "c"}), u = stringTensor({2}, {"new", ""});
  CHECK(texts(rows.run({x, u})[0]) == Texts{"", "b", "new"});
  OnnxModel elements(18);
  elements.input("x", {3}, ::onnx::TensorProto::STRING).input("u", {2}, ::onnx::TensorProto::STRING).output("y");
  elements.ints("i", {2, 0}).node("ScatterElements", {"x", "i", "u"}, {"y"});
  CHECK(texts(elements.run({x, u})[0]) == Texts{"", "b", "new"});
  setString(*elements.graph().mutable_node(0), "reduction", "add");
  CHECK_THAT(elements.import(), Contains("attribute 'reduction' is 'add'") && Contains("strings"));
  OnnxModel blocks = oneString("DepthToSpace", {1, 4, 1, 1});
  setInt(*blocks.graph().mutable_node(0), "blocksize", 2);
  CHECK(texts(blocks.run({stringTensor({1, 4, 1, 1}, {"a", "b", "c", "d"})})[0]) == Texts{"a", "b", "c", "d"});
}

TEST_CASE("strings of the model's own") {
  OnnxModel model;
  model.input("x", {2}, ::onnx::TensorProto::STRING).output("y");
  ::onnx::TensorProto &stored = *model.graph().add_initializer();
  stored.set_name("stored");
  stored.set_data_type(::onnx::TensorProto::STRING);
  stored.add_dims(2);
  stored.add_string_data("-");
  stored.add_string_data("");
  setString(model.node("Constant", {}, {"dot"}), "value_string", ".");
  model.node("StringConcat", {"x", "stored"}, {"s"});
  model.node("StringConcat", {"s", "dot"}, {"y"});
  CHECK(texts(model.run({stringTensor({2}, {"a", "b"})})[0]) == Texts{"a-.", "b."});
  stored.add_string_data("more");
  CHECK_THAT(model.import(), Contains("its data has 3 strings where its shape needs 2"));
  stored.mutable_string_data()->RemoveLast();
  *stored.mutable_string_data(0) = std::string("a\0b", 3);
  CHECK_THAT(model.import(), Contains("a string holds a 0"));
}

TEST_CASE("a tensor's file may hold strings") {
  ::onnx::TensorProto tensor;
  tensor.set_data_type(::onnx::TensorProto::STRING);
  tensor.add_dims(2);
  tensor.add_string_data("a");
  std::string file = makeFolder() + "/input_0.pb";
  mlir::MLIRContext context;
  auto read = [&] {
    writeFile(file, tensor.SerializeAsString());
    return kiln::import::readTensorFile(&context, file, 1 << 20);
  };
  CHECK_THAT(llvm::toString(read().takeError()), Contains("its data has 1 strings where its shape needs 2"));
  tensor.add_string_data("");
  llvm::Expected<mlir::DenseElementsAttr> whole = read();
  REQUIRE(bool(whole));
  CHECK(llvm::equal(whole->getValues<llvm::StringRef>(), std::vector<llvm::StringRef>{"a", ""}));
}

TEST_CASE("strings are split as Python splits them") {
  auto split = [](const char *delimiter, int most, Strings strings, Texts wanted, std::vector<int64_t> counts) {
    OnnxModel model = oneString("StringSplit", {"n"});
    ::onnx::NodeProto &node = *model.graph().mutable_node(0);
    node.add_output("counts");
    model.output("counts");
    if (delimiter)
      setString(node, "delimiter", delimiter);
    if (most >= 0)
      setInt(node, "maxsplit", most);
    std::vector<HostTensor> results = model.run({stringTensor({int64_t(strings.size())}, strings)});
    CHECK(texts(results[0]) == wanted);
    CHECK(results[1].elements<int64_t>() == llvm::ArrayRef(counts));
  };
  split(".", -1, {"a.b", "c"}, {"a", "b", "c", ""}, {2, 1});
  split("--", -1, {"a----b"}, {"a", "", "b"}, {3});
  split(nullptr, -1, {"  a  b ", ""}, {"a", "b", "", ""}, {2, 0});
  split("", 1, {" a  b c"}, {"a", "b c"}, {2});
  split(".", 0, {"a.b"}, {"a.b"}, {1});
  split(".", -1, {}, {}, {});
}

TEST_CASE("stop words are left out, the rest changes case") {
  auto normalize = [](Texts stopWords, const char *action, bool heedsCase, Strings strings) {
    OnnxModel model = oneString("StringNormalizer", {"n"});
    ::onnx::NodeProto &node = *model.graph().mutable_node(0);
    setStrings(node, "stopwords", stopWords);
    setString(node, "case_change_action", action);
    setInt(node, "is_case_sensitive", heedsCase);
    return texts(model.run({stringTensor({int64_t(strings.size())}, strings)})[0]);
  };
  CHECK(normalize({}, "NONE", true, {"a", "B"}) == Texts{"a", "B"});
  CHECK(normalize({"monday"}, "UPPER", true, {"monday", "Monday", "x"}) == Texts{"MONDAY", "X"});
  CHECK(normalize({"Monday"}, "LOWER", false, {"mONDAY", "Y"}) == Texts{"y"});
  CHECK(normalize({"a"}, "NONE", true, {"a", "a"}) == Texts{""});
}

static OnnxModel fullMatch(const char *pattern) {
  OnnxModel model = oneString("RegexFullMatch", {"n"});
  setString(*model.graph().mutable_node(0), "pattern", pattern);
  return model;
}

TEST_CASE("a pattern matches a string as a whole") {
  auto match = [](const char *pattern, Strings strings) {
    return fullMatch(pattern).run({stringTensor({int64_t(strings.size())}, strings)})[0].bytes;
  };
  using Bools = std::vector<char>;
  CHECK(match("a|ab", {"a", "ab", "abc", "xa"}) == Bools{1, 1, 0, 0});
  CHECK(match("", {"", nullptr, "a"}) == Bools{1, 1, 0});
  CHECK(match("a", {}) == Bools{});
  // A line end is a letter like others to what is not `.`.
  CHECK(match("a$", {"a", "a\n"}) == Bools{1, 0});
  CHECK(match("a.b", {"a\nb", "a\rb"}) == Bools{0, 1});
  // Letters of UTF-8; what is none is matched by nothing.
  CHECK(match(".", {"\xc3\xa4", "\xc3"}) == Bools{1, 0});
  CHECK(match("\\d", {"7", "\xd9\xa3"}) == Bools{1, 0});
}

TEST_CASE("a pattern with many ways to match takes no longer for it") {
  std::string many(3000, 'a'), other = many + "b";
  CHECK(fullMatch("(a|aa|a*)*").run({stringTensor({2}, {many.c_str(), other.c_str()})})[0].bytes ==
        std::vector<char>{1, 0});
  // More states at once than there is room for at first.
  CHECK(fullMatch("(.{0,400}a){1,4}").run({stringTensor({1}, {many.c_str()})})[0].bytes == std::vector<char>{0});
}

TEST_CASE("a pattern that is none is the importer's error") {
  CHECK_THAT(oneString("RegexFullMatch", {1}).import(), Contains("attribute 'pattern' is missing"));
  CHECK_THAT(fullMatch("a[b").import(), Contains("at byte 3 of its pattern: missing terminating ]"));
  CHECK_THAT(fullMatch("(a)\\1").import(), Contains("its pattern refers back to a group"));
  CHECK_THAT(fullMatch("(*UCP)a").import(), Contains("at byte 1 of its pattern: nothing to repeat"));
}

/// A Tokenizer of the domain com.microsoft.
static OnnxModel tokenizer(OnnxModel::Dims dims, int least = 1) {
  OnnxModel model = oneString("Tokenizer", dims);
  model.graph().mutable_node(0)->set_domain("com.microsoft");
  model.proto.add_opset_import()->set_domain("com.microsoft");
  model.proto.mutable_opset_import(1)->set_version(1);
  setString(*model.graph().mutable_node(0), "pad_value", "#");
  setInt(*model.graph().mutable_node(0), "mincharnum", least);
  return model;
}

TEST_CASE("tokens are the longest matches of a pattern, or what separators leave") {
  auto tokens = [](OnnxModel model, Strings strings) {
    return texts(model.run({stringTensor({int64_t(strings.size())}, strings)})[0]);
  };
  auto matched = [](const char *pattern, int least = 1) {
    OnnxModel model = tokenizer({"n"}, least);
    setString(*model.graph().mutable_node(0), "tokenexp", pattern);
    return model;
  };
  auto separated = [](Texts separators, int least = 1) {
    OnnxModel model = tokenizer({"n"}, least);
    setStrings(*model.graph().mutable_node(0), "separators", separators);
    return model;
  };
  CHECK(tokens(matched("[a-z]+"), {"one two", "3 four"}) == Texts{"one", "two", "four", "#"});
  CHECK(tokens(matched("[a-z]+", 4), {"one two", "3 four"}) == Texts{"#", "four"});
  CHECK(tokens(matched("a|ab"), {"ab a"}) == Texts{"ab", "a"});
  CHECK(tokens(matched("\\bb"), {"ab b"}) == Texts{"b"}); // a later search still sees the letter before
  CHECK(tokens(matched("x*"), {"axb"}) == Texts{"x"});
  CHECK(tokens(separated({" "}), {"one  two ", "x"}) == Texts{"one", "two", "x", "#"});
  CHECK(tokens(separated({",", "[ .]"}), {"a.b,c d"}) == Texts{"a", "b", "c", "d"});
  CHECK(tokens(separated({" "}, 2), {"\xc3\xa4 \xc3\xa4\xc3\xa4"}) == Texts{"\xc3\xa4\xc3\xa4"});
  CHECK(tokens(separated({""}), {"a\xc3\xa4", ""}) == Texts{"a", "\xc3\xa4", "#", "#"});
  CHECK(tokens(matched("."), {"a\nb"}) == Texts{"a", "\n", "b"});
  CHECK(tokens(matched("q"), {"a", "b"}).empty());
  for (OnnxModel model : {matched("a+"), separated({"-"}), separated({""})}) {
    setInt(*model.graph().mutable_node(0), "mark", 1);
    CHECK(tokens(model, {"aa", ""}).front() == "\x02");
    CHECK(tokens(model, {"aa", ""})[tokens(model, {"aa", ""}).size() / 2 + 1] == "\x03");
    CHECK(tokens(model, {""}).empty());
  }
}

TEST_CASE("a tokenizer that cannot be is the importer's error") {
  CHECK_THAT(tokenizer({1}).import(), Contains("attributes 'tokenexp' and 'separators' are not there"));
  OnnxModel model = tokenizer({1}, 0);
  setString(*model.graph().mutable_node(0), "tokenexp", "a");
  CHECK_THAT(model.import(), Contains("attribute 'mincharnum' is 0; it is 1 or more"));
  OnnxModel wrong = tokenizer({1});
  setStrings(*wrong.graph().mutable_node(0), "separators", {" ", "a[b"});
  CHECK_THAT(wrong.import(), Contains("at byte 3 of its pattern: missing terminating ]"));
}

TEST_CASE("words of a text are counted by the pool's n-grams") {
  OnnxModel model = oneString("TfIdfVectorizer", {2, 4});
  ::onnx::NodeProto &node = *model.graph().mutable_node(0);
  for (auto [name, value] : {std::pair("min_gram_length", 1), {"max_gram_length", 2}, {"max_skip_count", 0}})
    setInt(node, name, value);
  setInts(node, "ngram_counts", {0, 2});
  setInts(node, "ngram_indexes", {0, 1, 2});
  setStrings(node, "pool_strings", {"a", "b", "a", "b"});
  setString(node, "mode", "TF");
  CHECK(model.runFloats({stringTensor({2, 4}, {"a", "b", "c", "a", "b", "b", "", "x"})}) ==
        std::vector<float>{2, 1, 1, 0, 2, 0});
}

TEST_CASE("MurmurHash3 of strings") {
  OnnxModel model = oneString("MurmurHash3", {4});
  model.graph().mutable_node(0)->set_domain("com.microsoft");
  model.proto.add_opset_import()->set_domain("com.microsoft");
  model.proto.mutable_opset_import(1)->set_version(1);
  // As its reference has them, of seed 0.
  HostTensor hashes = model.run({stringTensor({4}, {"", "test", "Hello, world!", "aaaaa"})})[0];
  CHECK(hashes.elements<uint32_t>() == llvm::ArrayRef<uint32_t>({0, 0xba6bd213, 0xc0363e43, 0xe9ca302b}));
}

TEST_CASE("what computes takes no strings") {
  CHECK_THAT(twoStrings("Add", {1}, {1}).import(), Contains("input 'x' is of strings; the operator takes numbers"));
  OnnxModel cast = oneString("Identity", {1});
  setInt(cast.node("Cast", {"y"}, {"z"}), "to", 1);
  CHECK_THAT(cast.import(), Contains("is of strings"));
}
