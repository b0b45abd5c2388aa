//===- RaiseDefaults.cpp - Defaults of sizes with which a model runs ---------------===//
//
// Goes through the symbols in their order. Of each it tries its default times 2, 4, 8 …, and takes the first with which
// fewer checks fail than before; then the least below it with which no more fail.
//
//===-----------------------------------------------------------------------------===//
#include "import/RaiseDefaults.h"

#include "ir/graph/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace kiln;
using namespace mlir;
using view::Expr;

/// A default above this would make --random and --bench slow.
static constexpr int64_t kMostDefault = int64_t(1) << 20;

namespace {
class Defaults {
public:
  Defaults(ModuleOp module, ArrayRef<SymbolAttr> symbols) {
    for (SymbolAttr symbol : symbols)
      values_[variableOf(symbol)] = symbol.getValue();
    for (auto check : module.lookupSymbol<func::FuncOp>("main").getBody().front().getOps<graph::CheckOp>())
      conditions_.push_back(check.getCondition().getValue());
  }

  /// The least default of a symbol, its own or above, with which the fewest checks fail.
  int64_t raise(SymbolAttr symbol) {
    int64_t &value = values_[variableOf(symbol)], best = value;
    size_t failing = countFailing();
    for (int64_t tried = 2 * std::max<int64_t>(value, 1);
         failing > 0 && tried <= std::min(symbol.getMax(), kMostDefault); tried *= 2) {
      value = tried;
      size_t left = countFailing();
      if (left >= failing)
        continue;
      failing = left;
      int64_t tooSmall = tried / 2;
      for (best = tried; best - tooSmall > 1;) {
        value = (tooSmall + best) / 2;
        (countFailing() > failing ? tooSmall : best) = value;
      }
    }
    return value = best;
  }

private:
  static Expr variableOf(SymbolAttr symbol) {
    return Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax());
  }

  /// Those that name a size of data cannot be known, and count as held.
  size_t countFailing() const {
    return llvm::count_if(conditions_, [&](Expr condition) { return condition.evaluate(values_).value_or(1) == 0; });
  }

  llvm::DenseMap<Expr, int64_t> values_;
  SmallVector<Expr> conditions_;
};
} // namespace

void import::raiseDefaults(ModuleOp module) {
  auto list = module->getAttrOfType<ArrayAttr>(graph::kSymbolsAttr);
  SmallVector<SymbolAttr> symbols(list.getAsRange<SymbolAttr>());
  Defaults defaults(module, symbols);
  SmallVector<Attribute> raised;
  for (SymbolAttr symbol : symbols)
    raised.push_back(SymbolAttr::get(symbol.getContext(), symbol.getName(), symbol.getMin(), symbol.getMax(),
                                     defaults.raise(symbol)));
  module->setAttr(graph::kSymbolsAttr, ArrayAttr::get(module.getContext(), raised));
}
