// Weights that are made by models of their own, from text. Some run ahead of their turn, on other threads, so that what
// counts is that each weight gets its own bytes whatever the order: asked for in another one, several of one recipe,
// a recipe that takes another's result, and one that fails before anyone has asked for it.
#include "render/llvm/Jit.h"
#include "render/model/RecipeRunner.h"

#include "ir/graph/Graph.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace kiln;

namespace {

/// A recipe of two outputs, the second by way of a temporary: a + b, and a + b + b.
std::string recipe(llvm::StringRef name, llvm::StringRef a) {
  return ("module @" + name + R"( {
  uop.func @E_2(%out: !uop.ptr<f32, global>, %a: !uop.ptr<f32, global>, %b: !uop.ptr<f32, global>)
      attributes {sizes = #kiln.dims<[]>, grid = #kiln.dims<[2]>, local = array<i64: 1>,
                  operations = #kiln.expr<2>, bytes = #kiln.expr<24>} {
    %i = uop.special chunk 0 <2> : i32
    %x = uop.load %a[%i : i32] : !uop.ptr<f32, global> -> f32
    %y = uop.load %b[%i : i32] : !uop.ptr<f32, global> -> f32
    %z = uop.alu add %x, %y : (f32, f32) -> f32
    uop.store %z, %out[%i : i32] : f32, !uop.ptr<f32, global>
    uop.yield
  }
  host.program @main attributes {inputs = [], outputs = [#host.port<"once", tensor<2xf32>>, #host.port<"twice", tensor<2xf32>>],
      weights = [#host.weight<"a", tensor<2xf32>, )" +
          a + R"(>, #host.weight<"b", tensor<2xf32>, dense<[0.5, 0.25]> : tensor<2xf32>>], symbols = []} {
    %a = host.weight 0
    %b = host.weight 1
    %two = arith.constant 2 : i64
    %none = arith.constant 0 : i64
    %room = arith.constant 192 : i64
    %at = arith.constant 64 : i64
    %arena = host.arena %room
    %held = host.offset %arena, %at
    %once = host.output 0 dims(%two)
    %twice = host.output 1 dims(%two)
    host.launch @E_2(%once, %a, %b) sizes() grid(%two) estimates(%none, %none) from "['add']"
    host.launch @E_2(%held, %a, %b) sizes() grid(%two) estimates(%none, %none) from "['add']"
    host.launch @E_2(%twice, %held, %b) sizes() grid(%two) estimates(%none, %none) from "['add']"
    host.done
  }
})")
      .str();
}

std::string model(llvm::StringRef a = "dense<[1.0, 2.0]> : tensor<2xf32>") {
  return R"(host.program @main attributes {inputs = [], outputs = [],
      weights = [#host.weight<"p", tensor<2xf32>, #graph.recipe<"first", 1>>,
                 #host.weight<"q", tensor<2xf32>, #graph.recipe<"second", 0>>,
                 #host.weight<"r", tensor<2xf32>, #graph.recipe<"first", 0>>], symbols = []} {
    host.done
  })" + recipe("first", a) +
         recipe("second", "dense<[10.0, 20.0]> : tensor<2xf32>");
}

/// Weights m0, m1 and so on, each by a recipe of its own that adds 0.5 and 0.25 to what `a` says for it.
std::string modelOfMany(llvm::function_ref<std::string(int)> a, int count) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "host.program @main attributes {inputs = [], outputs = [], weights = [";
  for (int i = 0; i < count; ++i)
    out << (i ? ", " : "") << "#host.weight<\"m" << i << "\", tensor<2xf32>, #graph.recipe<\"m" << i << "\", 0>>";
  out << "], symbols = []} { host.done }";
  for (int i = 0; i < count; ++i)
    out << recipe("m" + std::to_string(i), a(i));
  return text;
}

/// Counts what it compiles.
class CountingRunner final : public target::KernelRunner {
public:
  explicit CountingRunner(int &count) : count_(count) {
    jit_ = llvm::cantFail(render::Jit::create(llvm::cantFail(target::describeCpu(target::baselineCpu())), 1));
  }
  llvm::Expected<std::unique_ptr<target::LoadedKernel>> load(uop::FuncOp kernel) override {
    ++count_;
    return jit_->load(kernel);
  }

private:
  int &count_;
  std::unique_ptr<render::Jit> jit_;
};

class Recipes {
public:
  explicit Recipes(const std::string &text) {
    context_
        .loadDialect<uop::UOpDialect, host::HostDialect, KilnDialect, graph::GraphDialect, mlir::arith::ArithDialect>();
    module_ = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    REQUIRE(module_);
    tables = render::modelTables(*module_);
  }

  llvm::Expected<std::vector<float>> make(size_t weight) {
    std::vector<float> values(2);
    llvm::MutableArrayRef<char> bytes(reinterpret_cast<char *>(values.data()), 8);
    if (llvm::Error error = render::readWeight(tables.weights[weight], {"", &runner_}, bytes))
      return error;
    return values;
  }

  render::ModelTables tables;
  int compiled = 0;

private:
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  render::RecipeRunner runner_{std::make_unique<CountingRunner>(compiled)};
};

} // namespace

TEST_CASE("a weight is made by its recipe, in any order, and equal kernels are compiled once") {
  Recipes recipes(model());
  CHECK(llvm::cantFail(recipes.make(1)) == std::vector<float>{10.5, 20.25});
  CHECK(llvm::cantFail(recipes.make(0)) == std::vector<float>{2, 2.5});
  CHECK(llvm::cantFail(recipes.make(2)) == std::vector<float>{1.5, 2.25});
  CHECK(llvm::cantFail(recipes.make(1)) == std::vector<float>{10.5, 20.25});
  CHECK(recipes.compiled == 1);
}

TEST_CASE("all of a model's weights, recipes and gaps included") {
  Recipes recipes(model());
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  int count = 0;
  render::RecipeRunner runner(std::make_unique<CountingRunner>(count));
  llvm::cantFail(render::writeWeights(recipes.tables.weights, {"", &runner}, stream));
  REQUIRE(bytes.size() == size_t(recipes.tables.weightBytes));
  float second;
  memcpy(&second, bytes.data() + recipes.tables.weights[2].offset + 4, 4);
  CHECK(second == 2.25);
}

TEST_CASE("recipes that are expected run ahead, with equal results, and may take another's") {
  constexpr int kCount = 40;
  Recipes recipes(modelOfMany(
      [](int i) -> std::string {
        if (i == kCount - 1)
          return "#graph.recipe<\"m3\", 1>"; // 3 + 2 * 0.5
        return "dense<" + std::to_string(i) + ".0> : tensor<2xf32>";
      },
      kCount));
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  int count = 0;
  render::RecipeRunner runner(std::make_unique<CountingRunner>(count));
  llvm::cantFail(render::writeWeights(recipes.tables.weights, {"", &runner}, stream));
  for (int i = 0; i < kCount; ++i) {
    float first;
    memcpy(&first, bytes.data() + recipes.tables.weights[i].offset, 4);
    CHECK(first == (i < kCount - 1 ? i + 0.5F : 4.5F));
  }
  CHECK(count == 1);
}

TEST_CASE("recipes that are expected may be asked for in another order") {
  constexpr int kCount = 20;
  Recipes recipes(modelOfMany([](int i) { return "dense<" + std::to_string(i) + ".0> : tensor<2xf32>"; }, kCount));
  int count = 0;
  render::RecipeRunner runner(std::make_unique<CountingRunner>(count));
  runner.expect(recipes.tables.weights);
  for (int step = 0; step < kCount; ++step) {
    int i = step * 7 % kCount;
    llvm::ArrayRef<char> bytes = llvm::cantFail(runner.make(recipes.tables.weights[i], ""));
    float first;
    memcpy(&first, bytes.data(), 4);
    CHECK(first == i + 0.5F);
  }
}

TEST_CASE("a recipe that fails ahead of its turn fails in its turn") {
  std::string hash(64, '0');
  Recipes recipes(modelOfMany(
      [&](int i) -> std::string {
        return i == 2 ? "#graph.file<\"nowhere.bin\", 0, 8, \"" + hash + "\">" : "dense<1.0> : tensor<2xf32>";
      },
      20));
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  int count = 0;
  render::RecipeRunner runner(std::make_unique<CountingRunner>(count));
  CHECK(llvm::toString(render::writeWeights(recipes.tables.weights, {"", &runner}, stream)).find("nowhere.bin") == 0);
  CHECK(bytes.size() == size_t(recipes.tables.weights[2].offset));
}

TEST_CASE("what a recipe reads can be missing; the next recipe runs all the same") {
  std::string hash(64, '0');
  Recipes recipes(model("#graph.file<\"nowhere.bin\", 0, 8, \"" + hash + "\">"));
  llvm::Expected<std::vector<float>> made = recipes.make(0);
  REQUIRE_FALSE(static_cast<bool>(made));
  CHECK(llvm::toString(made.takeError()) ==
        "nowhere.bin: weight 'a': cannot be read: No such file or directory; it has to lie in the model's folder");
  CHECK(llvm::cantFail(recipes.make(1)) == std::vector<float>{10.5, 20.25});
}
