#include "passes/schedule/Dependence.h"

#include "ir/graph/Call.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;

Dependence::Dependence(Block &block) : block_(block) {
  for (auto bind : block.getOps<graph::BindOp>()) {
    SymbolAttr symbol = bind.getSymbol();
    bound_[view::Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax())] = bind.getValue();
  }
}

SmallVector<Edge> Dependence::of(Value value) const {
  if (value.getParentBlock() != &block_)
    return {};
  Operation *op = value.getDefiningOp();
  SmallVector<Edge> edges;
  if (auto size = dyn_cast_or_null<graph::SizeOp>(op)) {
    size.getSize().getValue().forEachVariable([&](view::Expr symbol) {
      if (Value given = bound_.lookup(symbol))
        edges.push_back(edgeOf(given));
    });
  } else if (isa_and_nonnull<graph::IfOp, graph::LoopOp, graph::CallOp>(op)) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == &block_)
          edges.push_back(edgeOf(operand));
    });
  } else {
    edges = sourcesOf(value);
  }
  return edges;
}
