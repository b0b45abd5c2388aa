//===- DeadOps.cpp - Ops that nothing reads -------------------------------------------------===//
//
// A result of an If or a loop may have a size that is known only after it: a symbol of its own. Types and sizes of
// later ops name it, and that is no use of a value. So such an op stays as long as the symbol is named.
//
//===----------------------------------------------------------------------------------------===//
#include "ir/graph/DeadOps.h"

#include "ir/graph/Graph.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

using namespace kiln;
using namespace mlir;
using view::Expr;

/// The symbols in the types that an op gives, to its regions as well, and in its attributes.
static llvm::DenseSet<Expr> symbolsIn(Operation *op) {
  llvm::DenseSet<Expr> symbols;
  auto add = [&](Expr expr) { expr.forEachVariable([&](Expr symbol) { symbols.insert(symbol); }); };
  AttrTypeWalker walker;
  walker.addWalk([&](ExprAttr expr) { add(expr.getValue()); });
  walker.addWalk([&](DimsAttr dims) { llvm::for_each(dims.getSizes(), add); });
  walker.addWalk([&](TrackerAttr tracker) {
    view::Index at = tracker.getValue().at();
    for (Expr part : {at.index, at.valid, tracker.getValue().size()})
      add(part);
  });
  walker.addWalk(
      [&](SymbolAttr symbol) { symbols.insert(Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax())); });
  for (Type type : op->getResultTypes())
    walker.walk(type);
  for (Region &region : op->getRegions())
    for (Type type : region.getArgumentTypes())
      walker.walk(type);
  // Those of a function and of its module list all symbols.
  if (!isa<FunctionOpInterface, ModuleOp>(op))
    walker.walk(op->getAttrDictionary());
  return symbols;
}

/// Whether an op after this one names a symbol that it is the first to name.
static bool isFirstToNameSize(Operation *op, Operation *root) {
  llvm::DenseSet<Expr> own = symbolsIn(op);
  bool isAfter = false;
  return root->walk<WalkOrder::PreOrder>([&](Operation *other) {
               if (other == op) {
                 isAfter = true;
                 return WalkResult::skip();
               }
               for (Expr symbol : symbolsIn(other))
                 if (isAfter ? own.contains(symbol) : own.erase(symbol) && own.empty())
                   return WalkResult::interrupt();
               return WalkResult::advance();
             })
             .wasInterrupted() &&
         !own.empty();
}

bool graph::isDead(Operation *op, Operation *root) {
  return isOpTriviallyDead(op) && !(isa<IfOp, LoopOp>(op) && isFirstToNameSize(op, root));
}

void graph::eraseDeadOps(Operation *root) {
  root->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (isDead(op, root))
      op->erase();
  });
}
