#include "passes/optimize/ProgramSizes.h"

#include "ir/host/Sizes.h"
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
  readChecks(program);
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

/// The number that a check asks to be 0, if it does so: a < b+1 and b < a+1, or one of these if the other always holds.
static std::optional<Expr> zeroOf(Expr condition) {
  SmallVector<Expr, 2> parts{condition}, atLeastZero;
  if (condition.kind() == Expr::Kind::And)
    parts.assign(condition.operands().begin(), condition.operands().end());
  for (Expr part : parts)
    if (part.kind() == Expr::Kind::Less)
      atLeastZero.push_back(part.operands()[1] - part.operands()[0] - 1);
  if (atLeastZero.size() != parts.size() || parts.size() > 2)
    return std::nullopt;
  bool isZero = parts.size() == 2 ? (atLeastZero[0] + atLeastZero[1]).isConst(0)
                                  : view::provablyLessEqual(atLeastZero.front(), 0);
  return isZero ? std::optional(atLeastZero.front()) : std::nullopt;
}

/// A quotient by a number and what it is multiplied by; nullopt if a term is something else.
static std::optional<std::pair<Expr, int64_t>> multipleOf(Expr term) {
  int64_t factor = 1;
  if (term.kind() == Expr::Kind::Mul && term.operands()[1].isConst())
    factor = term.operands()[1].constant(), term = term.operands()[0];
  bool isQuotient = term.kind() == Expr::Kind::FloorDiv && term.operands()[1].isConst();
  return isQuotient ? std::optional(std::pair(term, factor)) : std::nullopt;
}

void optimize::ProgramSizes::readChecks(host::ProgramOp program) {
  for (Operation &op : program.getBody().front()) {
    auto check = dyn_cast<host::CheckOp>(op);
    if (!check && !isa<host::InputOp>(op) && !isMemoryEffectFree(&op))
      break;
    auto compare = check ? check.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
    auto eval = compare ? compare.getLhs().getDefiningOp<host::EvalOp>() : host::EvalOp();
    std::optional<Expr> condition = eval ? exprOf(eval) : std::nullopt;
    std::optional<Expr> zero = condition ? zeroOf(*condition) : std::nullopt;
    if (!zero || zero->kind() != Expr::Kind::Add || zero->operands().size() != 2)
      continue;
    auto fine = multipleOf(zero->operands()[0]), coarse = multipleOf(zero->operands()[1]);
    if (!fine || !coarse)
      continue;
    if (fine->first.operands()[1].constant() > coarse->first.operands()[1].constant())
      std::swap(fine, coarse);
    if (coarse->second % fine->second == 0)
      equal_.try_emplace(fine->first, coarse->first * -(coarse->second / fine->second));
  }
  // (h+3)//4 is 2*((h+7)//8), and that is 4*((h+15)//16): divisors grow.
  for (auto &[quotient, other] : equal_)
    for (Expr next = other.substitute(equal_); next != other; next = other.substitute(equal_))
      other = next;
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
  return host::evaluate(builder, loc_, expr, [&](Expr symbol) { return values_.at(symbol); });
}
