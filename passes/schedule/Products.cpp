#include "passes/schedule/Products.h"

#include "passes/schedule/Domain.h"

#include "target/Times.h"

#include "mlir/IR/TypeUtilities.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::ShapeTracker;

bool schedule::isProduct(graph::ReduceOp reduce) {
  auto mul = edgeOf(reduce.getInput()).base.getDefiningOp<graph::AluOp>();
  if (reduce.getKind().getValue() != Alu::ADD || reduce.getScore() || !mul || mul.getKind().getValue() != Alu::MUL)
    return false;
  ShapeTracker around = edgeOf(reduce.getInput()).tracker;
  llvm::SmallBitVector moves[2];
  for (unsigned side : {0, 1}) {
    moves[side] = axesOf(edgeOf(mul->getOperand(side)).tracker.compose(around).simplify());
    for (int64_t axis : reduce.getAxes())
      moves[side].reset(axis);
  }
  return moves[0].test(moves[1]) && moves[1].test(moves[0]);
}

Value schedule::uncast(Value operand) {
  auto cast = operand.getDefiningOp<graph::AluOp>();
  return cast && cast.getKind().getValue() == Alu::CAST ? edgeOf(cast->getOperand(0)).base : operand;
}

bool schedule::multipliesNarrow(graph::ReduceOp reduce, TargetAttr target, llvm::function_ref<bool(Value)> isConstant) {
  auto mul = edgeOf(reduce.getInput()).base.getDefiningOp<graph::AluOp>();
  if (reduce.getKind().getValue() != Alu::ADD || reduce.getScore() || !mul || mul.getKind().getValue() != Alu::MUL)
    return false;
  ShapeTracker around = edgeOf(reduce.getInput()).tracker;
  view::Shape domain = shapeOf(reduce.getInput());
  Edge operands[] = {edgeOf(mul->getOperand(0)), edgeOf(mul->getOperand(1))};
  for (unsigned side : {0, 1}) {
    // Columns and rows; a constant, if there is one, is the columns.
    Value narrow = uncast(operands[side].base), other = uncast(operands[!side].base);
    if (narrow == operands[side].base || other == operands[!side].base || isConstant(other))
      continue;
    bool isWeight = isConstant(narrow);
    ProductAttr instruction =
        target.fastProduct(getElementTypeOrSelf(other), getElementTypeOrSelf(narrow), getElementTypeOrSelf(reduce));
    llvm::SmallBitVector columns = axesOf(operands[side].tracker.compose(around).simplify()),
                         rows = axesOf(operands[!side].tracker.compose(around).simplify());
    // The least size that is worth an instruction.
    bool hasRows = false, hasColumns = false, hasTerms = false, hasPairs = false;
    for (auto [axis, size] : llvm::enumerate(domain)) {
      bool isReduced = llvm::is_contained(reduce.getAxes(), int64_t(axis)), isColumn = columns.test(axis),
           isRow = rows.test(axis);
      int64_t points = size.isConst() ? size.constant() : 0;
      bool isDot = instruction && instruction.getM() == 1, areWhole = !isDot || points % instruction.getK() == 0;
      hasTerms |= isReduced && points >= (isDot ? target::kFewestDotTerms : target::kFewestTerms) && areWhole;
      hasPairs |= isReduced && points >= target::kFewestTerms && points % 2 == 0;
      hasRows |= !isReduced && isRow && !isColumn && size.max() > 1;
      hasColumns |= !isReduced && isColumn && !isRow && instruction && points >= instruction.getN();
    }
    if (!hasRows && isWeight)
      return hasPairs;
    if (hasColumns && hasTerms)
      return true;
  }
  return false;
}
