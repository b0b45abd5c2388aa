//===- CollapseSums.cpp - Sums of one number over a range ----------------------===//
// Stage: optimize (kernel → kernel).
// A range 0, 1, 2 … comes as the running sum of ones: each element sums a number over the points where a mask holds.
// The number of these points is known, so the sum is the number times a count, and if the count is linear in the
// position it is the index of a view.
// Expects: kernels without opts.
// Guarantees: no such sum is left; an axis that only it went over has size 1.
// Position: before the axes are normalized, because that drops what is left of the axis.
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/kernel/Normalize.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace kiln;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

namespace kiln {
#define GEN_PASS_DEF_COLLAPSESUMS
#include "passes/Passes.h.inc"
} // namespace kiln

namespace {
/// A number at every point, or only where a mask holds and 0 elsewhere.
struct MaskedNumber {
  TypedAttr number;
  std::optional<ShapeTracker> mask;
};

/// a[0]·x[0] + a[1]·x[1] + … + offset.
struct Linear {
  view::Shape factors;
  Expr offset;
};

struct CollapseSums : kiln::impl::CollapseSumsBase<CollapseSums> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<kernel::FuncOp>())
      if (func.getOpts().empty())
        for (auto reduce : llvm::make_early_inc_range(func.getBody().getOps<kernel::ReduceOp>()))
          collapse(func, reduce);
  }
  void collapse(kernel::FuncOp func, kernel::ReduceOp reduce);
};
} // namespace

static std::optional<MaskedNumber> maskedNumber(Value value) {
  if (auto constant = value.getDefiningOp<kernel::ConstOp>())
    return MaskedNumber{constant.getValue(), std::nullopt};
  auto alu = value.getDefiningOp<kernel::AluOp>();
  if (!alu || alu.getKind().getValue() != Alu::WHERE)
    return std::nullopt;
  auto valid = alu->getOperand(0).getDefiningOp<kernel::ValidOp>();
  auto number = alu->getOperand(1).getDefiningOp<kernel::ConstOp>();
  auto zero = alu->getOperand(2).getDefiningOp<kernel::ConstOp>();
  if (!valid || !number || !zero || zero.getValue() != Builder(value.getContext()).getZeroAttr(value.getType()))
    return std::nullopt;
  return MaskedNumber{number.getValue(), valid.getTracker().getValue()};
}

/// `expr` as factor·variable + rest, if it has that form.
static std::optional<std::pair<Expr, Expr>> splitLinear(Expr expr, Expr variable) {
  Expr rest = expr.substitute({{variable, 0}});
  Expr factor = expr.substitute({{variable, 1}}) - rest;
  if (!factor.isConst() || !view::provablyEqual(expr, factor * variable + rest))
    return std::nullopt;
  return std::pair(factor, rest);
}

/// How many values of `variable`, from the first `size` numbers, satisfy a conjunction.
static std::optional<Expr> countWhere(Expr condition, Expr variable, Expr size) {
  SmallVector<Expr> terms{condition};
  if (condition.kind() == Expr::Kind::And)
    terms.assign(condition.operands().begin(), condition.operands().end());
  Expr first = 0, end = size;
  for (Expr term : terms) {
    if (term.isConst(1))
      continue;
    if (term.kind() != Expr::Kind::Less)
      return std::nullopt;
    // slack >= 0
    auto slack = splitLinear(term.operands()[1] - term.operands()[0] - 1, variable);
    if (!slack || slack->first.isConst(0))
      return std::nullopt;
    auto [factor, rest] = *slack;
    if (factor.constant() > 0)
      first = view::maximum(first, view::ceilDiv(-rest, factor));
    else
      end = view::minimum(end, view::floorDiv(rest, -factor) + 1);
  }
  return view::maximum(end - first, 0);
}

static std::optional<Linear> linearIn(Expr expr, ArrayRef<Expr> variables) {
  Linear linear;
  for (Expr variable : variables) {
    linear.factors.push_back(0);
    if (variable.isConst())
      continue;
    auto split = splitLinear(expr, variable);
    if (!split)
      return std::nullopt;
    linear.factors.back() = split->first;
    expr = split->second;
  }
  linear.offset = expr;
  return linear;
}

void CollapseSums::collapse(kernel::FuncOp func, kernel::ReduceOp reduce) {
  std::optional<MaskedNumber> summed = maskedNumber(reduce.getInput());
  if (reduce.getKind().getValue() != Alu::ADD || reduce.getScore() || reduce.getAxes().size() != 1 || !summed)
    return;
  int64_t axis = reduce.getAxes().front();
  view::Shape shape(func.getDomain().getSizes()), position;
  for (auto [number, size] : llvm::enumerate(shape)) {
    bool one = summed->mask && summed->mask->shape()[number].isConst(1);
    position.push_back(one ? Expr(0) : Expr::variable("_i" + std::to_string(number), 0, size - 1));
  }
  if (position[axis].isConst())
    return;
  Expr valid = summed->mask ? summed->mask->at(position).valid : Expr(1);
  std::optional<Expr> count = countWhere(valid, position[axis], shape[axis]);
  position[axis] = 0;
  std::optional<Linear> linear = count ? linearIn(*count, position) : std::nullopt;
  if (!linear)
    return;
  // bools add as "or"; none of an infinite number is 0, the product is NaN
  auto real = dyn_cast<FloatAttr>(summed->number);
  if (reduce.getResult().getType().isInteger(1) || (real && !real.getValue().isFinite()))
    return;
  for (auto [size, factor] : llvm::zip(shape, linear->factors))
    if (factor.isConst(0))
      size = 1;
  OpBuilder builder(reduce);
  Location loc = reduce.getLoc();
  Type type = reduce.getResult().getType();
  ShapeTracker where({view::View::make(shape, ArrayRef<Expr>(linear->factors), linear->offset)});
  Value number = kernel::ConstOp::create(builder, loc, type, summed->number);
  Value points = kernel::IndexOp::create(builder, loc, type, TrackerAttr::get(&getContext(), where));
  Value product =
      kernel::AluOp::create(builder, loc, type, AluKindAttr::get(&getContext(), Alu::MUL), ValueRange{points, number});
  Operation *input = reduce.getInput().getDefiningOp();
  reduce.getResult().replaceAllUsesWith(product);
  reduce.erase();
  while (input && isOpTriviallyDead(input)) {
    Value mask = isa<kernel::AluOp>(input) ? input->getOperand(0) : Value();
    input->erase();
    input = mask ? mask.getDefiningOp() : nullptr;
  }
  dropUnusedAxis(func, axis);
}
