//===- Stats.cpp - A compiled model in numbers --------------------------===//
//
// Sizes may be open, so that a number is an expression until the sizes are chosen: each symbol counts as its default. A
// kernel may be one of several for different sizes. Those that are launched at the defaults count.
// Everything is counted first, into one structure, which is then printed for people or for scripts.
//
//===--------------------------------------------------------------------===//
#include "Stats.h"

#include "DefaultSizes.h"
#include "Growth.h"
#include "Json.h"
#include "SizeVariants.h"
#include "ir/graph/Graph.h"
#include "ir/host/Host.h"
#include "ir/uop/LaunchCost.h"
#include "support/Quote.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace kiln;
using namespace kiln::driver;
using view::Expr;

static constexpr double kKilo = 1e3, kMega = 1e6;

namespace {
struct WeightCount {
  int64_t weights = 0, bytes = 0, recipeWeights = 0, recipeBytes = 0;
};
} // namespace

static WeightCount countWeights(host::ProgramOp program) {
  WeightCount count;
  for (auto weight : program.getWeights().getAsRange<host::WeightAttr>()) {
    int64_t bytes = weight.getType().getNumElements() * byteSize(weight.getType().getElementType());
    bool isRecipe = llvm::isa<graph::RecipeAttr>(weight.getData());
    ++count.weights;
    count.bytes += bytes;
    count.recipeWeights += isRecipe;
    count.recipeBytes += isRecipe ? bytes : 0;
  }
  return count;
}

namespace {
/// A launch of a kernel, at the defaults of the symbols.
struct LaunchRow {
  std::string kernel, nodes;
  std::string forSizes;  ///< "step of 2 to 8" if there are others for other sizes
  double operations = 0; ///< those that the model asks for, of one sample
  double others = 0;     ///< index and mask arithmetic, and recomputation
  double bytes = 0;
  double microseconds = 0; ///< expected
  double scratch = 0;      ///< bytes per thread
  int64_t samples = 1;     ///< of a batch that is walked sample by sample
  bool isLaunched = true;  ///< false: the kernel is for other sizes
};

struct Statistics {
  std::vector<LaunchRow> rows;
  std::string at;                         ///< " at batch = 1"
  Json sizes;                             ///< the same
  double peak = 0, live = 0, scratch = 0; ///< bytes of temporaries, of these live at once, and per thread
  WeightCount weights;
  int64_t twiceBytes = 0; ///< of weights that are there in another order as well
  size_t recipes = 0;
};
} // namespace

static double scratchOf(host::LaunchOp launch) {
  double scratch = 0;
  for (mlir::Value buffer : launch.getBuffers())
    if (auto own = buffer.getDefiningOp<host::ScratchOp>())
      if (auto planned = own->getAttrOfType<mlir::IntegerAttr>("peak"))
        scratch += double(planned.getInt());
  return scratch;
}

static std::vector<LaunchRow> countLaunches(host::ProgramOp program, mlir::ModuleOp module, DefaultSizes &defaults) {
  std::vector<LaunchRow> rows;
  program.walk([&](host::LaunchOp launch) {
    auto kernel = module.lookupSymbol<uop::FuncOp>(launch.getKernel());
    LaunchRow row{
        .kernel = launch.getKernel().str(), .nodes = plainText(launch.getOrigin()), .forSizes = forSizes(launch)};
    if (auto batch = launch->getParentOfType<host::BatchOp>())
      row.samples = int64_t(batch.getSamples());
    row.isLaunched = defaults.reaches(launch, kernel);
    auto number = [&](Expr expr) { return row.isLaunched ? defaults.evaluate(launch, kernel, expr) : 0; };
    row.operations = number(uop::modelOperationsOf(kernel));
    row.bytes = number(kernel.getBytes().getValue());
    row.others = std::max(0.0, number(kernel.getOperations().getValue()) - row.operations);
    row.microseconds = number(uop::expectedPicosecondsOf(kernel)) / kMega;
    row.scratch = row.isLaunched ? scratchOf(launch) : 0;
    rows.push_back(std::move(row));
  });
  return rows;
}

static void countMemory(host::ProgramOp program, Statistics &all) {
  for (const LaunchRow &row : all.rows)
    all.scratch = std::max(all.scratch, row.scratch);
  program.walk([&](mlir::Operation *arena) {
    if (!llvm::isa<host::ArenaOp, host::ZerosOp, host::PlanOp>(arena))
      return;
    if (auto planned = arena->getAttrOfType<mlir::IntegerAttr>("peak"))
      all.peak += planned.getInt();
    if (auto bound = arena->getAttrOfType<mlir::IntegerAttr>("live"))
      all.live += bound.getInt();
  });
}

static Statistics count(host::ProgramOp program, mlir::ModuleOp module) {
  DefaultSizes defaults(program);
  Statistics all;
  all.rows = countLaunches(program, module, defaults);
  all.at = defaults.text();
  all.sizes = defaults.json();
  countMemory(program, all);
  all.weights = countWeights(program);
  all.twiceBytes = growthOf(module).twiceBytes;
  all.recipes = llvm::range_size(module.getOps<mlir::ModuleOp>());
  return all;
}

static std::string counted(size_t count, llvm::StringRef one, llvm::StringRef several) {
  return (llvm::Twine(count) + " " + (count == 1 ? one : several)).str();
}

/// The kernels that are not launched at these sizes, each with those that it is for.
static void printOthers(const Statistics &all, llvm::raw_ostream &out) {
  size_t launches = 0;
  llvm::MapVector<llvm::StringRef, llvm::StringRef> kernels;
  for (const LaunchRow &row : all.rows)
    if (!row.isLaunched) {
      ++launches;
      kernels.try_emplace(row.kernel, row.forSizes);
    }
  if (!launches)
    return;
  out << llvm::formatv("{0} for other sizes:\n", counted(launches, "more launch is", "more launches are"));
  for (const auto &[kernel, sizes] : kernels)
    out << "  " << kernel << (sizes.empty() ? "" : ": for ") << sizes << "\n";
}

/// A line for each launch at these sizes, those for other sizes, and a line for all.
static void printLaunches(const Statistics &all, llvm::raw_ostream &out) {
  double operations = 0, bytes = 0;
  size_t launches = 0;
  llvm::StringSet<> kernels;
  out << llvm::formatv("{0,-32}{1,14}{2,14}{3,14}{4,14}  {5}\n", "kernel", "kFLOP", "others, k", "kB", "expected, us",
                       "from");
  for (const LaunchRow &row : all.rows) {
    if (!row.isLaunched)
      continue;
    out << llvm::formatv("{0,-32}{1,14:F3}{2,14:F3}{3,14:F3}{4,14:F2}  {5}\n", row.kernel, row.operations / kKilo,
                         row.others / kKilo, row.bytes / kKilo, row.microseconds,
                         row.nodes + (row.samples > 1 ? " x " + std::to_string(row.samples) : "") +
                             (row.forSizes.empty() ? "" : ", for " + row.forSizes));
    operations += double(row.samples) * row.operations;
    bytes += double(row.samples) * row.bytes;
    launches += row.samples;
    kernels.insert(row.kernel);
  }
  printOthers(all, out);
  out << llvm::formatv("{0} of {1}, {2:F3} MFLOP, {3:F3} MB moved{4}\n", counted(launches, "launch", "launches"),
                       counted(kernels.size(), "kernel", "kernels"), operations / kMega, bytes / kMega, all.at);
}

void driver::printStats(mlir::ModuleOp module, llvm::raw_ostream &out) {
  for (auto program : module.getOps<host::ProgramOp>()) {
    Statistics all = count(program, module);
    printLaunches(all, out);
    std::string scratch =
        all.scratch > 0 ? llvm::formatv("; scratch {0:F3} kB per thread", all.scratch / kKilo).str() : "";
    std::string twice =
        all.twiceBytes > 0 ? llvm::formatv(", {0:F3} kB of them in a second order", all.twiceBytes / kKilo).str() : "";
    out << llvm::formatv("temporaries {0:F3} kB, at most {1:F3} kB live at once{3}; weights {2:F3} kB{4}\n",
                         all.peak / kKilo, all.live / kKilo, all.weights.bytes / kKilo, scratch, twice);
    if (all.weights.weights)
      out << llvm::formatv("{0}, {1} of them computed at compile time: {2:F3} kB by {3}\n",
                           counted(all.weights.weights, "weight", "weights"), all.weights.recipeWeights,
                           all.weights.recipeBytes / kKilo, counted(all.recipes, "recipe", "recipes"));
  }
}

void driver::printStatsJson(mlir::ModuleOp module, llvm::StringRef model, llvm::raw_ostream &out) {
  Statistics all = count(*module.getOps<host::ProgramOp>().begin(), module);
  Json document = jsonDocument();
  document["model"] = model.str();
  document["sizes"] = all.sizes;
  Json &launches = document["launches"] = Json::array();
  for (const LaunchRow &row : all.rows) {
    launches.push_back({{"kernel", row.kernel},
                        {"nodes", nodesOf(row.nodes)},
                        {"at_these_sizes", row.isLaunched},
                        {"times", row.samples},
                        {"operations", int64_t(row.operations)},
                        {"other_operations", int64_t(row.others)},
                        {"bytes", int64_t(row.bytes)},
                        {"expected_us", row.microseconds}});
    if (!row.forSizes.empty())
      launches.back()["for_sizes"] = row.forSizes;
  }
  document["temporary_bytes"] = int64_t(all.peak);
  document["live_bytes"] = int64_t(all.live);
  document["scratch_bytes_per_thread"] = int64_t(all.scratch);
  document["weight_bytes"] = all.weights.bytes;
  document["weight_bytes_twice"] = all.twiceBytes;
  document["weights"] = all.weights.weights;
  document["weights_computed"] = all.weights.recipeWeights;
  document["recipes"] = all.recipes;
  printJson(document, out);
}
