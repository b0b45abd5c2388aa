#include "DefaultSizes.h"

#include "support/Quote.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace kiln;
using namespace kiln::driver;
using view::Expr;

DefaultSizes::DefaultSizes(host::ProgramOp program) {
  for (auto [index, symbol] : llvm::enumerate(program.getSymbols().getAsRange<SymbolAttr>())) {
    defaults_[symbol.getName()] = symbol.getValue();
    values_[program.getBody().getArgument(index)] = symbol.getValue();
  }
}

std::optional<int64_t> DefaultSizes::compute(mlir::Value value) {
  mlir::Operation *op = value.getDefiningOp();
  llvm::APInt constant;
  if (mlir::matchPattern(value, mlir::m_ConstantInt(&constant)))
    return constant.getSExtValue();
  if (auto eval = llvm::dyn_cast_if_present<host::EvalOp>(op)) {
    llvm::DenseMap<Expr, int64_t> variables;
    bool areKnown = true;
    unsigned next = 0;
    eval.getExpr().getValue().forEachVariable([&](Expr variable) {
      std::optional<int64_t> known = valueOf(eval.getValues()[next++]);
      areKnown &= known.has_value();
      variables[variable] = known.value_or(0);
    });
    return areKnown ? eval.getExpr().getValue().evaluate(variables) : std::nullopt;
  }
  if (!op || !llvm::isa<mlir::arith::CmpIOp, mlir::arith::AndIOp, mlir::arith::OrIOp>(op))
    return std::nullopt;
  std::optional<int64_t> left = valueOf(op->getOperand(0)), right = valueOf(op->getOperand(1));
  if (!left || !right)
    return std::nullopt;
  if (llvm::isa<mlir::arith::AndIOp>(op))
    return *left & *right;
  if (llvm::isa<mlir::arith::OrIOp>(op))
    return *left | *right;
  return mlir::arith::applyCmpPredicate(llvm::cast<mlir::arith::CmpIOp>(op).getPredicate(),
                                        llvm::APInt(64, uint64_t(*left)), llvm::APInt(64, uint64_t(*right)));
}

std::optional<int64_t> DefaultSizes::valueOf(mlir::Value value) {
  if (auto known = values_.find(value); known != values_.end())
    return known->second;
  std::optional<int64_t> computed = compute(value);
  values_[value] = computed;
  return computed;
}

llvm::DenseMap<Expr, int64_t> DefaultSizes::sizesOf(host::LaunchOp launch, uop::FuncOp kernel) {
  llvm::DenseMap<Expr, int64_t> sizes;
  for (auto [symbol, value] : llvm::zip(kernel.getSizes().getSizes(), launch.getSizes())) {
    auto named = defaults_.find(symbol.name());
    sizes[symbol] =
        valueOf(value).value_or(named == defaults_.end() ? std::max<int64_t>(symbol.min(), 1) : named->second);
  }
  return sizes;
}

bool DefaultSizes::reaches(host::LaunchOp launch, uop::FuncOp kernel) {
  for (mlir::Operation *op = launch, *around = op->getParentOp(); around; op = around, around = op->getParentOp())
    if (auto branch = llvm::dyn_cast<mlir::scf::IfOp>(around))
      if (std::optional<int64_t> condition = valueOf(branch.getCondition()))
        if ((*condition != 0) != (op->getParentRegion() == &branch.getThenRegion()))
          return false;
  return llvm::all_of(sizesOf(launch, kernel), [](const auto &size) {
    return size.first.min() <= size.second && size.second <= size.first.max();
  });
}

double DefaultSizes::evaluate(host::LaunchOp launch, uop::FuncOp kernel, Expr expr) {
  return double(expr.evaluate(sizesOf(launch, kernel)).value_or(0));
}

std::string DefaultSizes::text() const {
  std::string text;
  for (const auto &[name, value] : defaults_)
    text += (text.empty() ? " at " : ", ") + plainText(name) + " = " + std::to_string(value);
  return text;
}

Json DefaultSizes::json() const {
  Json sizes = Json::object();
  for (const auto &[name, value] : defaults_)
    sizes[plainText(name)] = value;
  return sizes;
}
