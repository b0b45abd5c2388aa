//===- ForcedRealizes.cpp - Tensors that a program keeps in memory on purpose -===//
// The primitives do not say which node made them. So a node's value is taken to be the first primitive with the node's
// last op, its shape and its dtype that is computed from the values of all its inputs.
//===----------------------------------------------------------------------===//
#include "tools/kiln-golden/ForcedRealizes.h"

#include <algorithm>
#include <map>

using namespace kiln::golden;

/// The ops that may give a node's value, for nodes that use one of them once. A `maximum` is a WHERE in a WHERE.
static std::set<std::string> lastOps(const std::string &node) {
  static const std::map<std::string, std::set<std::string>> kLastOps = {
      {"add", {"ADD"}},
      {"sub", {"ADD"}},
      {"linear", {"ADD"}},
      {"mul", {"MUL"}},
      {"div", {"MUL"}},
      {"square", {"MUL"}},
      {"mean", {"MUL"}},
      {"log", {"MUL"}},
      {"neg", {"NEG"}},
      {"sqrt", {"SQRT"}},
      {"rsqrt", {"SQRT"}},
      {"recip", {"RECIP"}},
      {"sigmoid", {"RECIP"}},
      {"exp", {"EXP2"}},
      {"sin", {"SIN"}},
      {"relu", {"MAX"}},
      {"where", {"WHERE"}},
      {"maximum", {"WHERE"}},
      {"cast", {"CAST"}},
      {"sum", {"REDUCE_SUM", "RESHAPE"}},
      {"max", {"REDUCE_MAX", "RESHAPE"}},
      {"transpose", {"PERMUTE"}},
      {"permute", {"PERMUTE"}},
      {"reshape", {"RESHAPE"}},
      {"expand", {"EXPAND"}},
      {"shrink", {"SHRINK"}},
      {"pad", {"PAD"}},
      {"flip", {"STRIDE"}},
      {"contiguous", {"CONTIGUOUS"}},
  };
  auto found = kLastOps.find(node);
  return found != kLastOps.end() ? found->second : std::set<std::string>();
}

namespace {
class NodeValues {
public:
  explicit NodeValues(const Json &program) : program_(program) {
    for (const Json &primitive : program.at("primitives")) {
      byId_[primitive.at("id")] = &primitive;
      if (primitive.at("op") == "INPUT")
        known_[primitive.at("name")] = primitive.at("id");
    }
  }

  std::optional<int64_t> valueOf(const Json &name) const {
    auto found = name.is_string() ? known_.find(name) : known_.end();
    return found != known_.end() ? std::optional(found->second) : std::nullopt;
  }

  /// The value of a node; nullopt if it is not found.
  std::optional<int64_t> follow(const Json &node) {
    std::set<std::string> ops = lastOps(node.at("op"));
    const Json &type = program_.at("shapes").at(node.at("output").get<std::string>());
    for (const auto &[id, primitive] : byId_) {
      if (!ops.count(primitive->at("op")) || primitive->at("shape") != type.at("shape") ||
          primitive->at("dtype") != type.at("dtype"))
        continue;
      if (node.at("op") == "maximum" && byId_.at(primitive->at("src").at(2))->at("op") != "WHERE")
        continue;
      bool readsAll = true;
      for (const Json &input : node.at("inputs"))
        if (input.is_string()) {
          std::optional<int64_t> value = valueOf(input);
          readsAll &= value && isComputedFrom(id, *value);
        }
      if (readsAll)
        return known_[node.at("output")] = id;
    }
    return std::nullopt;
  }

  bool isInput(int64_t id) const { return byId_.at(id)->at("op") == "INPUT"; }
  void note(const Json &node, int64_t id) { known_[node.at("output")] = id; }

private:
  bool isComputedFrom(int64_t id, int64_t source) const {
    std::vector<int64_t> open{id};
    std::set<int64_t> seen;
    while (!open.empty()) {
      int64_t at = open.back();
      open.pop_back();
      if (at == source && at != id)
        return true;
      if (!seen.insert(at).second)
        continue;
      for (const Json &from : byId_.at(at)->value("src", Json::array()))
        open.push_back(from);
    }
    return false;
  }

  const Json &program_;
  std::map<int64_t, const Json *> byId_;
  std::map<std::string, int64_t> known_; // tensor → primitive
};
} // namespace

std::optional<std::set<int64_t>> kiln::golden::findForcedRealizes(const Json &program, Report &report) {
  std::set<int64_t> forced;
  NodeValues values(program);
  auto count = [&](const char *list, const char *op) {
    const Json &all = program.at(list);
    return std::count_if(all.begin(), all.end(), [&](const Json &entry) { return entry.at("op") == op; });
  };
  auto calls = count("primitives", "CONTIGUOUS"), marks = count("nodes", "contiguous");
  for (const Json &node : program.at("nodes")) {
    std::optional<int64_t> value = values.follow(node);
    bool isMarked = node.at("op") == "contiguous" && calls < marks; // one of them has no call
    if (!isMarked || value)
      continue;
    std::optional<int64_t> input = values.valueOf(node.at("inputs").at(0));
    if (!input) {
      report.mismatch("the primitive of " + node.at("inputs").at(0).dump() +
                      ", which is made contiguous, is not found");
      return std::nullopt;
    }
    values.note(node, *input);
    if (!values.isInput(*input)) // an input is memory already
      forced.insert(*input);
  }
  return forced;
}
