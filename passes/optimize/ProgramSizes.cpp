#include "passes/optimize/ProgramSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace kiln;
using namespace mlir;
using view::Expr;

optimize::ProgramSizes::ProgramSizes(host::ProgramOp program) : loc_(program.getLoc()) {
  for (auto [index, symbol] : llvm::enumerate(program.getSymbols().getAsRange<SymbolAttr>())) {
    Expr variable = Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax());
    Value argument = program.getBody().getArgument(index);
    arguments_[variable] = argument;
    variables_[argument] = variable;
    defaults_[variable] = symbol.getValue();
  }
}

std::optional<Expr> optimize::ProgramSizes::exprOf(Value value) const {
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return Expr(cast<IntegerAttr>(constant.getValue()).getInt());
  if (auto known = variables_.find(value); known != variables_.end())
    return known->second;
  auto eval = value.getDefiningOp<host::EvalOp>();
  if (!eval || !llvm::all_of(eval.getValues(), [&](Value each) { return variables_.contains(each); }))
    return std::nullopt;
  return eval.getExpr().getValue();
}

Value optimize::ProgramSizes::emit(OpBuilder &builder, Expr expr) const {
  if (expr.isConst())
    return arith::ConstantOp::create(builder, loc_, builder.getI64IntegerAttr(expr.constant()));
  SmallVector<Value> values;
  expr.forEachVariable([&](Expr symbol) { values.push_back(arguments_.at(symbol)); });
  if (expr.kind() == Expr::Kind::Var)
    return values.front();
  return host::EvalOp::create(builder, loc_, builder.getI64Type(), ExprAttr::get(builder.getContext(), expr), values);
}
