//===- ScheduleBench.cpp - How the compiler's passes grow with the graph ------------------===//
// `ScheduleBench [LARGEST [MOST [classic]]]` takes graphs of 100, 1,000 … LARGEST nodes (10,000) through the stages and
// prints the processor seconds of each, and what a node times the logarithm of the nodes costs compared with a graph of
// a tenth: 1 where the cost grows as n log n, 10 where it grows as n². Fails where the schedule stage's exceeds MOST.
//===------------------------------------------------------------------------------------===//
#include "import/CommonSizes.h"
#include "import/Import.h"
#include "import/Symbols.h"
#include "import/TensorBuilder.h"
#include "passes/Pipeline.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <ctime>

using namespace kiln;
using import::TensorBuilder;
using mlir::Value;

namespace {

constexpr int64_t kRows = 32, kColumns = 48;

/// A graph that grows until it has so many nodes.
class Growth {
public:
  Growth(mlir::MLIRContext &context, size_t nodes) : builder_(&context), t(builder_, builder_.getUnknownLoc(), sizes_) {
    module_ = mlir::ModuleOp::create(builder_.getUnknownLoc());
    builder_.setInsertionPointToEnd(module_->getBody());
    x = t.constant(0.0, builder_.getF32Type(), {kRows, kColumns});
    mlir::Type type = x.getType();
    x.getDefiningOp()->erase();
    main_ = mlir::func::FuncOp::create(builder_, builder_.getUnknownLoc(), "main",
                                       builder_.getFunctionType({type}, {type}));
    x = main_.addEntryBlock()->getArgument(0);
    builder_.setInsertionPointToEnd(&main_.getBody().front());
    sizes_.bindIn(main_.getBody().front());
    wanted_ = nodes;
  }

  /// Whether there is room for more nodes, operators of a model: each becomes a few primitives.
  bool grows(size_t nodes) { return (nodes_ += nodes) <= wanted_; }
  Value weight(std::initializer_list<int64_t> shape) {
    auto type = mlir::RankedTensorType::get(shape, builder_.getF32Type());
    return t.weight("w" + std::to_string(weights_++), mlir::DenseElementsAttr::get(type, 0.5f));
  }
  mlir::OwningOpRef<mlir::ModuleOp> finish(mlir::ValueRange results) {
    mlir::func::ReturnOp::create(builder_, t.location(), results);
    main_.setFunctionType(builder_.getFunctionType({x.getType()}, results.getTypes()));
    return std::move(module_);
  }

private:
  mlir::OpBuilder builder_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::func::FuncOp main_;
  import::ImportOptions options_;
  import::Symbols symbols_{options_};
  import::CommonSizes sizes_{symbols_};
  size_t wanted_, nodes_ = 0, weights_ = 0;

public:
  TensorBuilder t;
  Value x;
};

using Module = mlir::OwningOpRef<mlir::ModuleOp>;

/// Element-wise ops one after another.
Module chain(Growth &g) {
  Value y = g.x;
  while (g.grows(3))
    y = g.t.tanh(g.t.add(g.t.mul(y, 1.5), g.x));
  return g.finish(y);
}

/// Product, bias and activation, one after another.
Module layers(Growth &g) {
  Value y = g.x;
  while (g.grows(3))
    y = g.t.relu(g.t.add(g.t.matmul(y, g.weight({kColumns, kColumns})), g.weight({kColumns})));
  return g.finish(y);
}

/// Branches that meet in one sum.
Module wide(Growth &g) {
  Value total;
  while (g.grows(4)) {
    Value branch = g.t.sum(g.t.relu(g.t.mul(g.x, g.weight({kColumns}))), {1}, /*keepDims=*/true);
    total = total ? g.t.add(total, branch) : branch;
  }
  return g.finish(total);
}

/// Blocks of norm and product around which the input is added again.
Module residual(Growth &g) {
  Value y = g.x;
  while (g.grows(4)) {
    Value norm = g.t.layerNorm(y, {1}, 1e-5, Value(), Value());
    y = g.t.add(y, g.t.gelu(g.t.matmul(norm, g.weight({kColumns, kColumns}))));
  }
  return g.finish(y);
}

/// Products of the same tensor, and their sum.
Module shared(Growth &g) {
  Value total = g.x;
  while (g.grows(2))
    total = g.t.add(total, g.t.matmul(g.x, g.weight({kColumns, kColumns})));
  return g.finish(total);
}

/// Reduces of the same tensor, which several can share a kernel; each is a result.
Module sums(Growth &g) {
  llvm::SmallVector<Value> results;
  while (g.grows(2))
    results.push_back(g.t.sum(g.t.mul(g.x, double(results.size() + 2)), {1}));
  return g.finish(results);
}

struct Shape {
  const char *name;
  Module (*build)(Growth &);
};
constexpr Shape kShapes[] = {{"chain", chain},       {"layers", layers}, {"wide", wide},
                             {"residual", residual}, {"shared", shared}, {"sums", sums}};

/// Processor time, so that a busy machine does not count.
double seconds(mlir::ModuleOp module, Stage stage, bool isClassic) {
  mlir::PassManager passes(module.getContext());
  PipelineOptions options;
  options.noOpt = true;
  options.classic = isClassic;
  addStage(passes, stage, options);
  std::clock_t begin = std::clock();
  if (mlir::failed(passes.run(module)))
    exit(1);
  return double(std::clock() - begin) / CLOCKS_PER_SEC;
}

} // namespace

int main(int count, char **arguments) {
  double largest = count > 1 ? atof(arguments[1]) : 10'000, most = count > 2 ? atof(arguments[2]) : HUGE_VAL;
  mlir::DialectRegistry registry;
  registerDialects(registry);
  constexpr Stage stages[] = {Stage::View, Stage::Schedule, Stage::Optimize};
  bool isSlow = false;
  llvm::outs() << "graph        nodes      view  schedule  optimize   schedule against n log n\n";
  for (const Shape &shape : kShapes) {
    double before = 0;
    for (double nodes = 100; nodes <= largest; nodes *= 10) {
      mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
      context.loadAllAvailableDialects();
      Growth growing(context, nodes);
      Module module = shape.build(growing);
      double times[3];
      for (auto [time, stage] : llvm::zip(times, stages))
        time = seconds(*module, stage, count > 3);
      double each = times[1] / (nodes * std::log(nodes)), growth = before > 0 ? each / before : 1;
      llvm::outs() << llvm::formatv("{0,-9}{1,9:F0}{2,10:F3}{3,10:F3}{4,10:F3}{5,14:F2}\n", shape.name, nodes, times[0],
                                    times[1], times[2], growth);
      llvm::outs().flush();
      isSlow |= growth > most;
      before = each;
    }
  }
  return isSlow;
}
