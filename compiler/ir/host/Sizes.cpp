#include "ir/host/Sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace kiln;
using namespace mlir;
using view::Expr;

Value host::evaluate(OpBuilder &builder, Location loc, Expr expr, llvm::function_ref<Value(Expr)> valueOf) {
  if (expr.isConst())
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(expr.constant()));
  SmallVector<Value> values;
  expr.forEachVariable([&](Expr variable) { values.push_back(valueOf(variable)); });
  if (expr.kind() == Expr::Kind::Var)
    return values.front();
  return EvalOp::create(builder, loc, builder.getI64Type(), ExprAttr::get(builder.getContext(), expr), values);
}

/// A symbol of the program itself; nullopt for a result of control flow.
static std::optional<Expr> symbolOf(host::ProgramOp program, Value size) {
  auto argument = dyn_cast<BlockArgument>(size);
  if (!program || !argument || argument.getOwner() != &program.getBody().front())
    return std::nullopt;
  auto symbol = cast<SymbolAttr>(program.getSymbols()[argument.getArgNumber()]);
  return Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax());
}

Value host::evaluate(OpBuilder &builder, LaunchOp launch, ArrayRef<Expr> symbols, Expr expr) {
  auto program = launch->getParentOfType<ProgramOp>();
  // A kernel that is launched only for some sizes has closer bounds than the program.
  llvm::DenseMap<Expr, Expr> outside;
  llvm::DenseMap<Expr, Value> sizes;
  expr.forEachVariable([&](Expr symbol) {
    Value size = launch.getSizes()[llvm::find(symbols, symbol) - symbols.begin()];
    Expr name = symbolOf(program, size).value_or(symbol);
    outside[symbol] = name;
    sizes[name] = size;
  });
  return evaluate(builder, launch.getLoc(), expr.substitute(outside), [&](Expr name) { return sizes.at(name); });
}
