//===- ChosenLoads.cpp - A choice by place between elements of one tensor -----------------===//
//
// Padding that repeats a picture's edge chooses between three views of one tensor: the rows before the first are the
// first one, those after the last are the last. If the row alone decides, one of the three elements is loaded: the
// choice is between places, once for all lanes, and not between vectors.
//
// Each view is there where its choice falls on it, and in places that all of them lack, such as a second padding, there
// is 0 as before.
//
//===----------------------------------------------------------------------===//

#include "passes/lower/KernelLowering.h"

#include "llvm/ADT/SetVector.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;
using view::Expr;

/// The view whose places a condition is true at; null: it is another condition.
static TrackerAttr viewOf(Value condition) {
  auto isNumber = [](Value value, bool number) {
    auto constant = value.getDefiningOp<kernel::ConstOp>();
    return constant && cast<IntegerAttr>(constant.getValue()).getValue().getBoolValue() == number;
  };
  if (auto alu = condition.getDefiningOp<kernel::AluOp>();
      alu && alu.getKind().getValue() == Alu::WHERE && condition.getType().isInteger(1) &&
      isNumber(alu->getOperand(1), true) && isNumber(alu->getOperand(2), false))
    condition = alu->getOperand(0);
  auto valid = condition.getDefiningOp<kernel::ValidOp>();
  return valid ? valid.getTracker() : TrackerAttr();
}

using Terms = llvm::SmallSetVector<Expr, 4>;

static Terms termsOf(Expr valid) {
  if (valid.isConst(1))
    return {};
  ArrayRef<Expr> terms = valid.kind() == Expr::Kind::And ? valid.operands() : ArrayRef(valid);
  return Terms(terms.begin(), terms.end());
}

/// Those of `terms` that are not among the others.
static SmallVector<Expr> without(const Terms &terms, const Terms &others) {
  return llvm::to_vector(llvm::make_filter_range(terms, [&](Expr term) { return !others.contains(term); }));
}

std::optional<KernelLowering::ChosenLoad> KernelLowering::chosenLoad(kernel::AluOp op) {
  if (walk().lane < 0 || target_.hasGroups())
    return std::nullopt;
  SmallVector<std::pair<Terms, kernel::LoadOp>> choices;
  Value rest = op.getResult();
  while (auto choice = rest.getDefiningOp<kernel::AluOp>()) {
    TrackerAttr view = choice.getKind().getValue() == Alu::WHERE ? viewOf(choice->getOperand(0)) : TrackerAttr();
    auto load = view ? choice->getOperand(1).getDefiningOp<kernel::LoadOp>() : nullptr;
    if (!load)
      return std::nullopt;
    choices.push_back({termsOf(indexInside(view.getValue()).valid), load});
    rest = choice->getOperand(2);
  }
  auto last = rest.getDefiningOp<kernel::LoadOp>();
  if (!last)
    return std::nullopt;
  view::Index where = indexInside(last.getTracker().getValue());
  Terms shared = choices.front().first, ofLast = termsOf(where.valid);
  for (auto &[terms, load] : choices)
    shared.remove_if([&, &terms = terms](Expr term) { return !terms.contains(term) || !ofLast.contains(term); });
  auto dependsOnLanes = [&](ArrayRef<Expr> terms) {
    return llvm::any_of(terms, [&](Expr term) { return dependsOnLane(term); });
  };
  ChosenLoad chosen{last, {}, view::logicalAnd(shared.getArrayRef()), view::logicalAnd(without(ofLast, shared))};
  if (dependsOnLanes(without(ofLast, shared)))
    return std::nullopt;
  for (auto &[terms, load] : choices) {
    view::Index own = indexInside(load.getTracker().getValue());
    Terms ofLoad = termsOf(own.valid);
    Expr apart = own.index - where.index;
    bool isThere = llvm::all_of(ofLoad, [&, &terms = terms](Expr term) { return terms.contains(term); });
    if (load.getBuffer() != last.getBuffer() || load.getRow() || load.getAhead() || last.getRow() || last.getAhead() ||
        !isThere || dependsOnLane(apart) || dependsOnLanes(without(terms, shared)))
      return std::nullopt;
    chosen.choices.push_back({view::logicalAnd(without(terms, shared)), apart});
  }
  return chosen;
}

Tile KernelLowering::emitChosenLoad(kernel::AluOp op, const ChosenLoad &chosen) {
  const AxisSet &axes = axesOf(op);
  size_t depth = placeOf(axes);
  kernel::LoadOp load = chosen.last;
  view::ShapeTracker tracker = load.getTracker().getValue();
  view::Index where = settled({indexInside(tracker).index, chosen.shared}, axes);
  Tile tile{unrolledAxes(axes), {}, hasLanes(axes)};
  forEachPoint(sizesOf(tile.axes), [&](ArrayRef<int64_t> point) {
    view::Index one = fix(where, tile.axes, point);
    // Where none of the choices before holds.
    Expr others = 1;
    SmallVector<std::pair<Expr, Expr>> choices;
    for (auto [condition, apart] : chosen.choices) {
      Expr own = view::simplifyUnder(fix(resolve(condition), tile.axes, point), others);
      choices.push_back({own, fix(resolve(apart), tile.axes, point)});
      if (own.kind() == Expr::Kind::Less)
        others = view::logicalAnd({others, view::greaterEqual(own.operands()[0], own.operands()[1])});
    }
    Expr rest = view::simplifyUnder(fix(resolve(chosen.rest), tile.axes, point), others);
    size_t outer = depthOf(rest);
    for (auto [condition, apart] : choices)
      outer = std::max({outer, depthOf(condition), depthOf(apart)});
    Value place = index(Expr(0)), inside = rest.isConst(1) ? Value() : condition(rest);
    Type boolean = builder_.getI1Type();
    for (auto [condition, apart] : llvm::reverse(choices)) {
      if (condition.isConst(0))
        continue;
      if (condition.isConst(1)) {
        place = index(apart);
        inside = {};
        continue;
      }
      Value holds = this->condition(condition);
      place = alu(Alu::WHERE, {holds, index(apart), place}, indexType_, outer);
      if (inside)
        inside = alu(Alu::OR, {holds, inside}, boolean, outer);
    }
    Expr moved = Expr::variable("_chosen" + std::to_string(nextRow_++), -view::kMaxDim, view::kMaxDim);
    scopes_[outer]->variables[moved] = place;
    one.index = one.index + moved;
    Value pointer = pointers_.at(load.getBuffer());
    Type element = load.getResult().getType();
    if (tile.lanes)
      return tile.values.push_back(loadLanes(pointer, one, element, depth, inside, mayBeFar(tracker)));
    tile.values.push_back(loadOne(pointer, one, element, gateOf(one.valid, inside, depth), depth));
  });
  return tile;
}
