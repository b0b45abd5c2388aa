//===- CheckSizes.cpp - Check sizes inside a model that are known at run time -===//
//
// An axis of n - 2 elements makes no sense for n = 1, and code that takes it for a size reads memory before its tensor.
// There are three cases. Bounds prove the size possible; or it can never be right, which is an error at import; or the
// run has to check it. This pass makes sure of that for all tensors, whatever an importer assumed. A condition that was
// checked before, or that follows from one, is not checked again.
//
//===------------------------------------------------------------------------===//
#include "import/CheckSizes.h"

#include "import/TensorBuilder.h"
#include "ir/graph/Source.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace kiln;
using namespace kiln::import;
using namespace mlir;
using llvm::Twine;

namespace {
/// Facts at a place of the graph, whatever its sizes are.
struct Known {
  llvm::DenseSet<Expr> conditions;
  SmallVector<Expr> notNegative;
  llvm::DenseMap<Expr, Expr> raised; ///< symbols, with the least value that a condition leaves them

  void add(Expr condition) {
    conditions.insert(condition);
    if (condition.kind() == Expr::Kind::And)
      for (Expr part : condition.operands())
        add(part);
    else if (condition.kind() == Expr::Kind::Less)
      addNotNegative(condition.operands()[1] - condition.operands()[0] - 1);
  }

  void addNotNegative(Expr expr) {
    notNegative.push_back(expr);
    SmallVector<Expr> symbols;
    expr.forEachVariable([&](Expr symbol) { symbols.push_back(symbol); });
    if (symbols.size() != 1)
      return;
    Expr symbol = symbols.front(), offset = expr - symbol;
    Expr known = raised.lookup_or(symbol, symbol);
    if (offset.isConst() && -offset.constant() > known.min() && -offset.constant() <= symbol.max())
      raised[symbol] = Expr::variable(symbol.name(), -offset.constant(), symbol.max());
  }

  /// Whether something is not negative because a multiple of it is not.
  bool proves(Expr size) const {
    return size.substitute(raised).min() >= 0 || conditions.contains(view::greaterEqual(size, 0)) ||
           llvm::any_of(notNegative, [&](Expr known) {
             std::optional<Expr> times = view::exactQuotient(size, known);
             return times && times->min() >= 0;
           });
  }
};
} // namespace

static void checkNotNegative(Operation *op, Expr size, const Twine &cause, Known &known) {
  if (size.min() >= 0 || known.proves(size))
    return;
  std::string node;
  for (const graph::Source &source : graph::sourcesOf(op->getLoc()))
    node = "node '" + source.node.str() + "': ";
  OpBuilder builder(op);
  Expr condition = view::greaterEqual(size, 0);
  graph::CheckOp::create(builder, op->getLoc(), ExprAttr::get(op->getContext(), condition),
                         builder.getStringAttr(node + cause + "; run it with other sizes"));
  known.add(condition);
}

static void checkOp(Operation *op, Known &known) {
  for (Value result : op->getResults()) {
    view::Shape shape = shapeOf(cast<RankedTensorType>(result.getType()));
    for (Expr size : shape)
      checkNotNegative(op, size, "a tensor of " + written(shape) + " has a negative size", known);
  }
  if (auto pad = dyn_cast<graph::PadOp>(op))
    for (Expr amount : llvm::concat<const Expr>(pad.getLow().getSizes(), pad.getHigh().getSizes()))
      checkNotNegative(op, amount, "a padding of " + amount.render() + " elements is negative", known);
  if (auto part = dyn_cast<graph::ShrinkOp>(op))
    for (auto [size, begin, end] :
         llvm::zip(shapeOf(part.getInput()), part.getBegin().getSizes(), part.getEnd().getSizes()))
      for (Expr distance : {begin, size - end})
        checkNotNegative(op, distance,
                         "elements " + begin.render() + " to " + end.render() + " are not within an axis of size " +
                             size.render(),
                         known);
}

static void checkBlock(Block &block, Known known) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto check = dyn_cast<graph::CheckOp>(op)) {
      Expr condition = check.getCondition().getValue();
      if (known.conditions.contains(condition))
        check.erase();
      else
        known.add(condition);
      continue;
    }
    checkOp(&op, known);
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        checkBlock(inner, known);
  }
}

void import::checkSizes(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  checkBlock(main.getBody().front(), Known());
}
