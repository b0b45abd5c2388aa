//===- Choices.cpp - Sums that a choice by place leaves undone ----------------------===//
//
// Causal attention computes the score of each query and key and then takes another number if the key comes after the
// query. Only the point's place decides which of the two is taken, and if a register tile is wholly on one side, its
// sums are wasted. So the loop that sums up is entered only if one point of the tile, the likeliest, needs it. That
// works for every choice by place: a triangle of a product, a window of keys.
//
// A condition is arithmetic on places (a view's mask, ranges that are compared). It is turned into an expression over
// loop variables as far as it is understood. A part that is not understood may hold anywhere.
//
//===----------------------------------------------------------------------===//

#include "passes/lower/Totals.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;
using kernel::AxisKind;
using view::Expr;

/// Whether integers of this type hold the expression's values: the program's wrap, an expression does not.
static bool holds(IntegerType type, Expr expr) {
  unsigned width = type.getWidth();
  if (type.isUnsignedInteger())
    return expr.min() >= 0 && (width >= 63 || expr.max() < int64_t(1) << width);
  int64_t end = width >= 64 ? INT64_MAX : int64_t(1) << (width - 1);
  return expr.min() >= -end && expr.max() < end;
}

/// Whether integers of this type hold all intermediate results of the expression, whatever the order of a sum's
/// terms.
static bool holdsSteps(IntegerType type, Expr expr) {
  if (!holds(type, expr))
    return false;
  if (expr.kind() == Expr::Kind::Add) {
    uint64_t up = 0, down = 0, end = uint64_t(1) << (type.getWidth() - 1);
    for (Expr term : expr.operands()) {
      up = llvm::SaturatingAdd(up, uint64_t(std::max<int64_t>(term.max(), 0)));
      down = llvm::SaturatingAdd(down, 0 - uint64_t(std::min<int64_t>(term.min(), 0)));
    }
    if (up >= end || down >= end)
      return false;
  }
  return llvm::all_of(expr.operands(), [&](Expr operand) { return holdsSteps(type, operand); });
}

std::optional<Expr> KernelLowering::placeOfValue(Value value) {
  auto type = dyn_cast<IntegerType>(value.getType());
  if (!type || type.getWidth() == 1)
    return std::nullopt;
  std::optional<Expr> place;
  if (auto number = value.getDefiningOp<kernel::ConstOp>()) {
    APInt bits = cast<IntegerAttr>(number.getValue()).getValue();
    if (bits.getBitWidth() <= 64)
      place = type.isUnsignedInteger() ? int64_t(bits.getZExtValue()) : bits.getSExtValue();
  } else if (auto size = value.getDefiningOp<kernel::SizeOp>()) {
    place = size.getSize().getValue();
  } else if (auto index = value.getDefiningOp<kernel::IndexOp>()) {
    place = indexAt(index.getTracker().getValue()).index;
  } else if (auto alu = value.getDefiningOp<kernel::AluOp>()) {
    SmallVector<Expr> operands;
    for (Value operand : alu->getOperands())
      if (std::optional<Expr> known = placeOfValue(operand))
        operands.push_back(*known);
    if (operands.size() != alu->getNumOperands())
      return std::nullopt;
    switch (alu.getKind().getValue()) {
    case Alu::ADD:
      place = operands[0] + operands[1];
      break;
    case Alu::NEG:
      place = -operands[0];
      break;
    case Alu::MUL:
      if (operands[0].isConst() || operands[1].isConst())
        place = operands[0] * operands[1];
      break;
    case Alu::CAST:
      place = operands[0];
      break;
    default:
      break;
    }
  }
  return place && holds(type, *place) ? place : std::nullopt;
}

Expr KernelLowering::mayBe(Value condition, bool expected) {
  auto isNumber = [](Value value, bool number) {
    auto constant = value.getDefiningOp<kernel::ConstOp>();
    return constant && value.getType().isInteger(1) &&
           cast<IntegerAttr>(constant.getValue()).getValue().getBoolValue() == number;
  };
  if (auto valid = condition.getDefiningOp<kernel::ValidOp>()) {
    Expr inside = indexAt(valid.getTracker().getValue()).valid;
    if (expected)
      return inside;
    return inside.kind() == Expr::Kind::Less ? view::greaterEqual(inside.operands()[0], inside.operands()[1]) : Expr(1);
  }
  auto alu = condition.getDefiningOp<kernel::AluOp>();
  if (!alu)
    return 1;
  Value a = alu->getOperand(0), b = alu->getNumOperands() > 1 ? alu->getOperand(1) : Value();
  switch (alu.getKind().getValue()) {
  case Alu::CMPLT:
    if (std::optional<Expr> left = placeOfValue(a), right = placeOfValue(b); left && right)
      return expected ? view::less(*left, *right) : view::greaterEqual(*left, *right);
    return 1;
  case Alu::AND:
  case Alu::OR: {
    bool needsBoth = (alu.getKind().getValue() == Alu::AND) == expected;
    return a.getType().isInteger(1) && needsBoth ? view::logicalAnd({mayBe(a, expected), mayBe(b, expected)}) : Expr(1);
  }
  case Alu::XOR:
  case Alu::CMPNE:
    return isNumber(b, true) ? mayBe(a, !expected) : isNumber(a, true) ? mayBe(b, !expected) : Expr(1);
  case Alu::WHERE: {
    Value c = alu->getOperand(2);
    if (isNumber(b, true) && isNumber(c, false))
      return mayBe(a, expected);
    return isNumber(b, false) && isNumber(c, true) ? mayBe(a, !expected) : Expr(1);
  }
  default:
    return 1;
  }
}

Expr KernelLowering::mayHold(Expr condition) {
  if (condition.kind() == Expr::Kind::And) {
    SmallVector<Expr> each;
    for (Expr one : condition.operands())
      each.push_back(mayHold(one));
    return view::logicalAnd(each);
  }
  if (condition.kind() != Expr::Kind::Less)
    return 1;
  // The greatest of the expressions that have to be positive.
  Expr slack = condition.operands()[1] - condition.operands()[0];
  AxisSet axes = none();
  addVariables(slack, axes);
  for (unsigned axis : axes.set_bits()) {
    if (!isUnrolled(axis)) {
      if (!isBound(axis))
        return 1;
      continue;
    }
    Expr first = fix(slack, axis, 0), step = fix(slack, axis, 1) - first;
    if (!step.isConst() || !view::provablyEqual(slack, first + variableOf(axis) * step))
      return 1;
    slack = step.constant() > 0 ? fix(slack, axis, sizeOf(axis) - 1) : first;
  }
  // Where both places fit an integer their difference need not.
  Expr test = view::less(0, resolve(slack));
  return holdsSteps(cast<IntegerType>(indexType_), test) ? test : Expr(1);
}

void KernelLowering::whereNeeded(Value value, llvm::function_ref<void(Value)> body) {
  auto choice = value.getDefiningOp<kernel::AluOp>();
  // Items that meet at barriers go the same way. Code without lanes is a GPU's, whose items do so anyway, or was not
  // optimised.
  if (!choice || choice.getKind().getValue() != Alu::WHERE || walk().lane < 0 || meetsInside())
    return body(value);
  size_t loop = scopes_.size() - 1;
  while (loop > 0 && !isa<uop::RangeOp>(scopes_[loop]->block->getParentOp()))
    --loop;
  auto sumsHere = [&](Value operand) {
    llvm::SetVector<Value> behind;
    behind.insert(operand);
    for (size_t i = 0; i < behind.size(); ++i)
      if (Operation *op = behind[i].getDefiningOp(); op && !isa<kernel::StageOp>(op))
        behind.insert(op->operand_begin(), op->operand_end());
    return llvm::any_of(behind, [&](Value each) {
      auto reduce = each.getDefiningOp<kernel::ReduceOp>();
      return reduce && placeOf(axesOf(reduce)) >= loop && !reducedBy(reduce).loops.empty();
    });
  };
  bool sums[] = {sumsHere(choice->getOperand(1)), sumsHere(choice->getOperand(2))};
  Expr test = sums[0] == sums[1] ? Expr(1) : mayHold(mayBe(choice->getOperand(0), /*expected=*/sums[0]));
  if (test.isConst())
    return body(value);
  inBranches(test, [&](bool isNeeded) {
    scopes_.back()->keepsFrom = loop;
    body(isNeeded ? value : choice->getOperand(sums[0] ? 2 : 1));
  });
}
