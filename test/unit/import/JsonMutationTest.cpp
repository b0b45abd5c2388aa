// Whatever stands in a document, the importer gives a module that verifies or one line of error, and never ends in a
// crash. Graphs that are nearly right get furthest into it, so the samples, and a graph of one node for every operator,
// are changed in one to three places, by seeds that are fixed so that a failure comes again.
#include "JsonRun.h"

#include "import/json/Operators.h"

#include "llvm/Support/MemoryBuffer.h"

#include <random>

using kiln::import::json::Json;

namespace {
class Mutator {
public:
  explicit Mutator(unsigned seed) : random_(seed), operators_(kiln::import::json::operatorNames()) {}

  /// Changes one to three places of the document.
  void mutate(Json &document) {
    for (int times = 1 + pick(3); times > 0; --times)
      change(document);
  }

private:
  int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }

  /// Walks down at random and replaces, removes or doubles what it meets.
  void change(Json &value) {
    if (value.is_structured() && !value.empty() && pick(6)) {
      auto child = value.begin();
      std::advance(child, pick(int(value.size())));
      if (value.is_object() && child.key() == "op" && pick(2))
        *child = operators_[pick(int(operators_.size()))];
      else if (pick(12) == 0)
        value.erase(child);
      else if (value.is_array() && pick(12) == 0)
        value.push_back(Json(*child));
      else
        change(*child);
      return;
    }
    value = replacement();
  }

  Json replacement() {
    static const Json pool = {-1,
                              0,
                              1,
                              2,
                              3,
                              -2147483648LL,
                              4294967296LL,
                              9007199254740992LL,
                              0.5,
                              "x",
                              "batch",
                              "y",
                              "seq",
                              "past+seq-9",
                              "int8",
                              "bool",
                              "n*",
                              true,
                              nullptr,
                              "inf",
                              "-batch",
                              "batch//0",
                              "",
                              "float16",
                              {1},
                              {2, 3},
                              {-1, -1},
                              {{1, 1}, {0, 2}},
                              Json::array(),
                              Json::object(),
                              "uint64",
                              "batch*seq"};
    return pool[pick(int(pool.size()))];
  }

  std::mt19937 random_;
  std::vector<std::string> operators_;
};
} // namespace

/// One node of every operator that takes one to three tensors, all on a few inputs.
static Json manyOperators() {
  Json document = {{"inputs",
                    {{{"name", "x"}, {"dtype", "float32"}, {"shape", {"batch", 3, 4, 4}}},
                     {{"name", "w"}, {"dtype", "float32"}, {"shape", {6, 3, 2, 2}}},
                     {{"name", "i"}, {"dtype", "int64"}, {"shape", Json::array({2})}}}},
                   {"nodes", Json::array()},
                   {"outputs", Json::array({"x"})}};
  Json attributes = {{"axis", 1},
                     {"axes", Json::array({1})},
                     {"shape", {-1, 4}},
                     {"order", {0, 2, 1, 3}},
                     {"pads", Json::array({{0, 1}})},
                     {"kernel", {2, 2}},
                     {"strides", {2, 2}},
                     {"sizes", {1, 2}},
                     {"slices", Json::array({{1, nullptr, 2}})},
                     {"depth", 3},
                     {"dtype", "int32"},
                     {"size", "batch"}};
  int count = 0;
  for (const std::string &op : kiln::import::json::operatorNames())
    for (int inputs = 0; inputs <= 3; ++inputs) {
      Json node = {{"op", op}, {"inputs", Json::array()}, {"output", "t" + std::to_string(++count)}};
      for (int i = 0; i < inputs; ++i)
        node["inputs"].push_back(Json::array({"x", "w", "i"})[i]);
      document["nodes"].push_back(node);
    }
  document["attributes"] = attributes;
  return document;
}

TEST_CASE("graphs of one random node end in a module or in one line") {
  Folder folder;
  Context context;
  kiln::import::ImportOptions options;
  options.memoryLimit = 1 << 20;
  Json all = manyOperators(), attributes = all["attributes"];
  all.erase("attributes");
  Mutator mutator(1);
  int imported = 0;
  for (int round = 0; round < 10; ++round)
    for (const Json &plain : all["nodes"]) {
      Json document = all, node = plain;
      for (const std::string &key : kiln::import::json::attributesOf(node["op"].get<std::string>()))
        if (attributes.contains(key))
          node[key] = attributes[key];
      document["nodes"] = Json::array({node});
      document["outputs"] = Json::array({node["output"]});
      if (round > 0)
        mutator.mutate(document);
      INFO(document.dump());
      llvm::Expected<Module> module =
          kiln::import::importJson(context, folder.write("graph.json", document.dump()), options);
      if (module) {
        ++imported;
        CHECK(succeeded(mlir::verify(**module)));
        continue;
      }
      std::string error = llvm::toString(module.takeError());
      CHECK(llvm::StringRef(error).starts_with(folder.file("graph.json: ")));
      CHECK(!llvm::StringRef(error).contains('\n'));
    }
  CHECK(imported > 50);
}

TEST_CASE("mutated samples end in a module or in one line") {
  Folder folder;
  Context context;
  kiln::import::ImportOptions options;
  options.memoryLimit = 1 << 20;
  for (const char *name : {"dot", "var", "add", "batch", "cache"}) {
    auto text = llvm::MemoryBuffer::getFile(std::string(KILN_SAMPLES "/") + name + "/graph.json");
    REQUIRE(bool(text));
    Json sample = Json::parse((*text)->getBuffer().begin(), (*text)->getBuffer().end());
    for (unsigned seed = 0; seed < 300; ++seed) {
      Json document = sample;
      Mutator(seed).mutate(document);
      llvm::Expected<Module> module =
          kiln::import::importJson(context, folder.write("graph.json", document.dump()), options);
      if (module) {
        CHECK(succeeded(mlir::verify(**module)));
        continue;
      }
      std::string error = llvm::toString(module.takeError());
      CHECK(!llvm::StringRef(error).contains('\n'));
    }
  }
}
