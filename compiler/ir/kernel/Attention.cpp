#include "ir/kernel/Attention.h"

#include "ir/kernel/Operands.h"
#include "ir/kernel/Product.h"

#include "llvm/ADT/StringSwitch.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;

bool kernel::hasRoles(FuncOp func) {
  return llvm::any_of(func.getBody().getOps<ReduceOp>(), [](ReduceOp reduce) { return reduce->hasAttr(kRoleAttr); });
}

/// Notes the reduces by their roles; false where one is missing or given twice.
static bool findReduces(FuncOp func, Attention &found) {
  for (auto reduce : func.getBody().getOps<ReduceOp>()) {
    auto role = reduce->getAttrOfType<StringAttr>(kRoleAttr);
    if (!role)
      continue;
    ReduceOp *place = llvm::StringSwitch<ReduceOp *>(role.getValue())
                          .Case(kScores, &found.scores)
                          .Case(kLargest, &found.largest)
                          .Case(kResult, &found.result)
                          .Default(nullptr);
    if (!place || *place || reduce.getAxes().size() != 1)
      return false;
    *place = reduce;
  }
  return found.scores && found.largest && found.result && found.largest.getAxes() == found.result.getAxes();
}

bool kernel::hasEachRole(FuncOp func) {
  Attention found;
  return findReduces(func, found);
}

/// Notes the second operand of both products, and what is held; false where an operand is not made of one load.
static bool findOperands(FuncOp func, Attention &found) {
  std::optional<Product> scored = productOf(found.scores), weighed = productOf(found.result);
  if (!scored || !weighed)
    return false;
  for (const Operand &operand : scored->operands) {
    LoadOp load = operand.onlyLoad();
    if (!load)
      return false;
    if (dependsOn(load, found.key))
      found.keys = load;
  }
  bool isFirst = isComputedFrom(weighed->operands[0].value, found.scores);
  Value weights = weighed->operands[isFirst ? 0 : 1].value;
  found.values = weighed->operands[isFirst ? 1 : 0].onlyLoad();
  if (!found.keys || !found.values || !isComputedFrom(weights, found.scores))
    return false;
  found.held.push_back(found.largest.getInput());
  auto hold = [&](Value value) {
    if (!llvm::is_contained(found.held, value))
      found.held.push_back(value);
  };
  for (auto reduce : func.getBody().getOps<ReduceOp>())
    if (reduce != found.result && reduce != found.scores && reduce.getAxes() == found.result.getAxes()) {
      hold(reduce.getInput());
      if (reduce != found.largest && !isComputedFrom(weights, reduce))
        found.sums.push_back(reduce);
    }
  hold(weights);
  return true;
}

std::optional<Attention> kernel::attentionOf(FuncOp func) {
  Attention found;
  if (!findReduces(func, found))
    return std::nullopt;
  found.terms = found.scores.getAxes().front();
  found.key = found.result.getAxes().front();
  ArrayRef<view::Expr> domain = func.getDomain().getSizes();
  if (std::max(found.terms, found.key) >= domain.size() || !findOperands(func, found))
    return std::nullopt;
  bool hasRows = false, isFixed = domain[found.terms].isConst();
  for (auto [axis, size] : llvm::enumerate(domain)) {
    bool ofScores = dependsOn(found.largest.getInput(), axis), ofValues = dependsOn(found.values, axis);
    if (axis == found.key || ofScores == ofValues)
      continue;
    if (ofScores) {
      found.rows = axis;
      hasRows = true;
    } else {
      found.columns.push_back(axis);
      isFixed &= size.isConst();
    }
  }
  return hasRows && !found.columns.empty() && isFixed ? std::optional(found) : std::nullopt;
}
