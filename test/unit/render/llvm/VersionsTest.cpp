// Which weights of one version are those of another.
#include "render/llvm/Versions.h"
#include "TextModel.h"

#include <catch2/catch.hpp>

using namespace kiln;
using namespace kiln::test;

namespace {

std::string weights(llvm::StringRef list) {
  return ("host.program @main attributes {inputs = [], outputs = [], weights = [" + list +
          "], symbols = []} {\n  host.done\n}\n")
      .str();
}

/// A recipe whose output is a weight of its own.
std::string recipe(llvm::StringRef name, llvm::StringRef data) {
  return ("module @" + name + R"( {
  host.program @main attributes {inputs = [], outputs = [#host.port<"made", tensor<2xf32>>],
      weights = [#host.weight<"a", tensor<2xf32>, )" +
          data + R"(>], symbols = []} {
    %a = host.weight 0
    %two = arith.constant 2 : i64
    %bytes = arith.constant 8 : i64
    %made = host.output 0 dims(%two)
    host.copy %made, %a, %bytes
    host.done
  }
})")
      .str();
}

constexpr char kOnes[] = "dense<[1.0, 1.0]> : tensor<2xf32>", kTwos[] = "dense<[2.0, 2.0]> : tensor<2xf32>";

std::string weight(llvm::StringRef name, llvm::StringRef data) {
  return ("#host.weight<\"" + name + "\", tensor<2xf32>, " + data + ">").str();
}

/// The versions of two texts, their weights shared.
struct Pair {
  Pair(const std::string &first, const std::string &second) : texts{TextModel(first), TextModel(second)} {
    for (TextModel &text : texts)
      versions.push_back({text.tables(), {}});
    versions[1].cpu.name = "old";
    render::shareWeights(versions);
  }
  const render::WeightEntry &of(size_t version, size_t index) const { return versions[version].tables.weights[index]; }

  TextModel texts[2];
  std::vector<render::Version> versions;
};

} // namespace

TEST_CASE("equal weights lie in one place, whatever they are called and in which order they come") {
  Pair pair(weights(weight("a", kOnes) + ", " + weight("b", kTwos)),
            weights(weight("two", kTwos) + ", " + weight("one", kOnes)));
  CHECK(pair.of(1, 0).offset == pair.of(0, 1).offset);
  CHECK(pair.of(1, 1).offset == pair.of(0, 0).offset);
  CHECK(pair.of(1, 1).name == "a");
  CHECK(render::sharedWeights(pair.versions).size() == 2);
}

TEST_CASE("a weight that differs comes after, under a name that no other has") {
  Pair pair(weights(weight("a", kOnes) + ", " + weight("a.old", kOnes)), weights(weight("a", kTwos)));
  CHECK(pair.of(1, 0).name == "a.old_");
  CHECK(pair.of(0, 1).offset == 128);
  CHECK(pair.of(1, 0).offset == 256);
  CHECK(pair.versions[0].tables.weightBytes == 264);
  CHECK(pair.versions[1].tables.weightBytes == 264);
  CHECK(render::sharedWeights(pair.versions).size() == 3);
}

TEST_CASE("weights of one name in one version are all there") {
  std::vector<render::Version> versions;
  TextModel text(weights(weight("a", kOnes) + ", " + weight("a", kTwos)));
  versions.push_back({text.tables(), {}});
  CHECK(render::sharedWeights(versions).size() == 2);
}

TEST_CASE("equal bytes of another shape or dtype are another weight") {
  Pair pair(weights(R"(#host.weight<"a", tensor<2xi32>, dense<[1, 1]> : tensor<2xi32>>)"),
            weights(R"(#host.weight<"a", tensor<1x2xi32>, dense<[[1, 1]]> : tensor<1x2xi32>>)"));
  CHECK(pair.of(1, 0).name == "a.old");
}

TEST_CASE("a recipe is known by what it computes, not by its name") {
  Pair pair(weights(weight("a", "#graph.recipe<\"first\", 0>")) + recipe("first", kOnes),
            weights(weight("a", "#graph.recipe<\"second\", 0>")) + recipe("second", kOnes));
  CHECK(pair.of(1, 0).offset == 0);
  CHECK(render::sharedWeights(pair.versions).size() == 1);
}

TEST_CASE("a recipe that takes another's result is known by that, too") {
  auto text = [](llvm::StringRef data) {
    return weights(weight("a", "#graph.recipe<\"outer\", 0>")) + recipe("outer", "#graph.recipe<\"inner\", 0>") +
           recipe("inner", data);
  };
  CHECK(render::sharedWeights(Pair(text(kOnes), text(kTwos)).versions).size() == 2);
  CHECK(render::sharedWeights(Pair(text(kOnes), text(kOnes)).versions).size() == 1);
}
