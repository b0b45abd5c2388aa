#include "passes/optimize/ProgramSizes.h"

#include "ir/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace kiln;
using namespace mlir;
using view::Expr;

optimize::ProgramSizes::ProgramSizes(host::ProgramOp program) : loc_(program.getLoc()) {
  for (auto [index, symbol] : llvm::enumerate(program.getSymbols().getAsRange<SymbolAttr>())) {
    Expr variable = Expr::variable(symbol.getName(), symbol.getMin(), symbol.getMax());
    Value argument = program.getBody().getArgument(index);
    values_[variable] = argument;
    variables_[argument] = variable;
    defaults_[variable] = symbol.getValue();
  }
  nameComputed(program);
}

void optimize::ProgramSizes::nameComputed(host::ProgramOp program) {
  Block &body = program.getBody().front();
  auto name = [&](Expr variable, Value value) {
    if (value.getParentBlock() != &body || value.getDefiningOp<arith::ConstantOp>())
      return;
    auto [known, isNew] = values_.try_emplace(variable, value);
    if (!isNew && known->second != value)
      known->second = Value();
    variables_.try_emplace(value, variable);
    defaults_.try_emplace(variable, std::clamp<int64_t>(1, variable.min(), variable.max()));
  };
  SymbolTable kernels(program->getParentOfType<ModuleOp>());
  for (Operation &op : body) {
    if (auto eval = dyn_cast<host::EvalOp>(op)) {
      unsigned next = 0;
      eval.getExpr().getValue().forEachVariable([&](Expr variable) { name(variable, eval.getValues()[next++]); });
    } else if (auto launch = dyn_cast<host::LaunchOp>(op)) {
      if (auto kernel = kernels.lookup<kernel::FuncOp>(launch.getKernel()))
        for (auto [size, value] : llvm::zip(kernel.getSizes().getSizes(), launch.getSizes()))
          name(size, value);
    }
  }
}

bool optimize::ProgramSizes::areKnown(Expr expr, Operation *before) const {
  bool areKnown = true;
  expr.forEachVariable([&](Expr variable) {
    Value value = valueOf(variable);
    Operation *maker = value ? value.getDefiningOp() : nullptr;
    Operation *place = maker ? maker->getBlock()->findAncestorOpInBlock(*before) : nullptr;
    areKnown &= value && (!maker || (place && maker->isBeforeInBlock(place)));
  });
  return areKnown;
}

std::optional<Expr> optimize::ProgramSizes::exprOf(Value value) const {
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return Expr(cast<IntegerAttr>(constant.getValue()).getInt());
  if (auto known = variables_.find(value); known != variables_.end())
    return known->second;
  auto eval = value.getDefiningOp<host::EvalOp>();
  if (!eval)
    return std::nullopt;
  bool areNamedSo = true;
  unsigned next = 0;
  eval.getExpr().getValue().forEachVariable(
      [&](Expr variable) { areNamedSo &= valueOf(variable) == eval.getValues()[next++]; });
  return areNamedSo ? std::optional(eval.getExpr().getValue()) : std::nullopt;
}

Value optimize::ProgramSizes::emit(OpBuilder &builder, Expr expr) const {
  if (expr.isConst())
    return arith::ConstantOp::create(builder, loc_, builder.getI64IntegerAttr(expr.constant()));
  SmallVector<Value> values;
  expr.forEachVariable([&](Expr symbol) { values.push_back(values_.at(symbol)); });
  if (expr.kind() == Expr::Kind::Var)
    return values.front();
  return host::EvalOp::create(builder, loc_, builder.getI64Type(), ExprAttr::get(builder.getContext(), expr), values);
}
