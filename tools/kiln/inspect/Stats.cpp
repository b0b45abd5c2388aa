#include "Stats.h"

#include "ir/graph/Graph.h"
#include "ir/host/Host.h"
#include "ir/uop/LaunchCost.h"
#include "support/PlainText.h"

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

/// The sizes that --stats counts at: each symbol's default.
class Defaults {
public:
  explicit Defaults(host::ProgramOp program) {
    for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>())
      values_[symbol.getName()] = symbol.getValue();
  }

  double evaluate(Expr expr) const {
    llvm::DenseMap<Expr, int64_t> values;
    expr.forEachVariable([&](Expr symbol) { values[symbol] = valueOf(symbol); });
    return expr.evaluate(values).value_or(0);
  }

  /// Whether a kernel is one for these sizes: the bounds of its symbols include them.
  bool suit(uop::FuncOp kernel) const {
    return llvm::all_of(kernel.getSizes().getSizes(), [&](Expr size) {
      bool isWithin = true;
      size.forEachVariable(
          [&](Expr symbol) { isWithin &= symbol.min() <= valueOf(symbol) && valueOf(symbol) <= symbol.max(); });
      return isWithin;
    });
  }

  std::string text() const {
    std::string text;
    for (const auto &[name, value] : values_)
      text += (text.empty() ? " at " : ", ") + name.str() + " = " + std::to_string(value);
    return text;
  }

private:
  int64_t valueOf(Expr symbol) const {
    auto known = values_.find(symbol.name());
    return known == values_.end() ? std::max<int64_t>(symbol.min(), 1) : known->second;
  }

  llvm::MapVector<llvm::StringRef, int64_t> values_;
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

/// A line for each launch, zeros for one of a kernel for other sizes, and one for all, which counts those of a batch
/// for each sample.
static void printLaunches(host::ProgramOp program, mlir::ModuleOp module, llvm::raw_ostream &out) {
  Defaults defaults(program);
  double operations = 0, bytes = 0;
  size_t launches = 0;
  llvm::StringSet<> kernels;
  out << llvm::formatv("{0,-32}{1,14}{2,14}{3,14}{4,14}  {5}\n", "kernel", "kFLOP", "others, k", "kB", "expected, us",
                       "from");
  program.walk([&](host::LaunchOp launch) {
    auto kernel = module.lookupSymbol<uop::FuncOp>(launch.getKernel());
    bool isLaunched = defaults.suit(kernel);
    auto batch = launch->getParentOfType<host::BatchOp>();
    int64_t samples = batch ? int64_t(batch.getSamples()) : 1;
    auto number = [&](Expr expr) { return isLaunched ? defaults.evaluate(expr) : 0; };
    double ops = number(uop::modelOperationsOf(kernel)), moved = number(kernel.getBytes().getValue());
    // Index and mask arithmetic, and what is computed more than once.
    double others = std::max(0.0, number(kernel.getOperations().getValue()) - ops);
    double expected = number(uop::expectedPicosecondsOf(kernel)) / kMega;
    out << llvm::formatv("{0,-32}{1,14:F3}{2,14:F3}{3,14:F3}{4,14:F2}  {5}\n", launch.getKernel(), ops / kKilo,
                         others / kKilo, moved / kKilo, expected,
                         plainText(launch.getOrigin()) + (batch ? " x " + std::to_string(samples) : ""));
    operations += double(samples) * ops;
    bytes += double(samples) * moved;
    if (isLaunched) {
      launches += samples;
      kernels.insert(launch.getKernel());
    }
  });
  out << llvm::formatv("{0} launches of {1} kernels, {2:F3} MFLOP, {3:F3} MB moved{4}\n", launches, kernels.size(),
                       operations / kMega, bytes / kMega, defaults.text());
}

void driver::printStats(mlir::ModuleOp module, llvm::raw_ostream &out) {
  for (auto program : module.getOps<host::ProgramOp>()) {
    printLaunches(program, module, out);
    double peak = 0, live = 0, most = 0;
    program.walk([&](host::LaunchOp launch) {
      double scratch = 0;
      for (mlir::Value buffer : launch.getBuffers())
        if (auto own = buffer.getDefiningOp<host::ScratchOp>())
          if (auto planned = own->getAttrOfType<mlir::IntegerAttr>("peak"))
            scratch += planned.getInt();
      most = std::max(most, scratch);
    });
    std::string scratch = most > 0 ? llvm::formatv("; scratch {0:F3} kB per thread", most / kKilo).str() : "";
    program.walk([&](mlir::Operation *arena) {
      if (!llvm::isa<host::ArenaOp, host::ZerosOp, host::PlanOp>(arena))
        return;
      if (auto planned = arena->getAttrOfType<mlir::IntegerAttr>("peak"))
        peak += planned.getInt();
      if (auto bound = arena->getAttrOfType<mlir::IntegerAttr>("live"))
        live += bound.getInt();
    });
    WeightCount count = countWeights(program);
    out << llvm::formatv("temporaries {0:F3} kB, of which at most {1:F3} kB live at once{3}; weights {2:F3} kB\n",
                         peak / kKilo, live / kKilo, count.bytes / kKilo, scratch);
    out << llvm::formatv("{0} weights, {1} of them computed at compile time: {2:F3} kB by {3} recipes\n", count.weights,
                         count.recipeWeights, count.recipeBytes / kKilo,
                         llvm::range_size(module.getOps<mlir::ModuleOp>()));
  }
}
