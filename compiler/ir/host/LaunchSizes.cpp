#include "ir/host/LaunchSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace kiln;
using namespace mlir;
using view::Expr;

Value host::evaluate(OpBuilder &builder, LaunchOp launch, ArrayRef<Expr> symbols, Expr expr) {
  Location loc = launch.getLoc();
  if (expr.isConst())
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(expr.constant()));
  SmallVector<Value> values;
  expr.forEachVariable(
      [&](Expr symbol) { values.push_back(launch.getSizes()[llvm::find(symbols, symbol) - symbols.begin()]); });
  return EvalOp::create(builder, loc, builder.getI64Type(), ExprAttr::get(builder.getContext(), expr), values);
}
