//===- RaiseDefaults.cpp - Defaults of sizes with which a model runs ---------------===//
//
// Goes through the symbols in their order. Of each it tries the values with which a check that fails just holds, for a
// size that must be equal to another; then its default times 2, 4, 8 …. It takes the first with which fewer checks fail
// than before; then the least below it with which no more fail.
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
    for (int64_t tried : boundsOf(symbol)) {
      value = tried;
      if (size_t left = countFailing(); left < failing) {
        failing = left;
        best = tried;
      }
    }
    value = best;
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

  /// The values above the symbol's own with which a part a < b of a check that fails begins, or ceases, to hold.
  SmallVector<int64_t> boundsOf(SymbolAttr symbol) {
    int64_t &value = values_[variableOf(symbol)], own = value;
    SmallVector<int64_t> bounds;
    for (Expr condition : conditions_) {
      if (holds(condition))
        continue;
      bool isBoth = condition.kind() == Expr::Kind::And;
      for (Expr part : isBoth ? condition.operands() : ArrayRef(condition)) {
        if (part.kind() != Expr::Kind::Less)
          continue;
        Expr slack = part.operands()[1] - part.operands()[0] - 1;
        std::optional<int64_t> here = slack.evaluate(values_);
        value = own + 1;
        std::optional<int64_t> next = slack.evaluate(values_);
        value = own;
        if (!here || !next || *here == *next)
          continue;
        int64_t step = *next - *here, bound = own - (step > 0 ? llvm::divideFloorSigned(*here, step) : *here / step);
        if (bound > own && bound <= std::min(symbol.getMax(), kMostDefault))
          bounds.push_back(bound);
      }
    }
    return bounds;
  }

  bool holds(Expr condition) const { return condition.evaluate(values_).value_or(1) != 0; }

  /// Those that name a size of data cannot be known, and count as held.
  size_t countFailing() const {
    return llvm::count_if(conditions_, [&](Expr condition) { return !holds(condition); });
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
