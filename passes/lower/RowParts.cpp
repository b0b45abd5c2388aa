//===- RowParts.cpp - Rows in parts that masks cut ----------------------------------===//
//
// A row of unknown length ends within a vector, and views that pad it have masks at both of its ends. Which lanes these
// leave out follows from sizes alone. So the loop over a row's vectors is cut into parts: its first steps, those that
// no mask cuts, and its last ones. First and last steps are single ones, at places that do not change from row to row,
// so that their masks are computed once, before the loops over rows, and the steps between have no masks.
//
//===----------------------------------------------------------------------===//

#include "passes/lower/KernelLowering.h"

#include "ir/uop/ShortLoops.h"

#include "llvm/ADT/SetVector.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;
using kernel::AxisKind;
using view::Expr;

/// Steps at an end of a row that are code of their own; and of a sum, which is longer.
static constexpr int64_t kMostEndSteps = 2, kMostEndStepsOfSum = 1;

std::optional<KernelLowering::Alike> KernelLowering::alikeAlong(int64_t axis, Expr term) {
  if (term.kind() != Expr::Kind::Less)
    return std::nullopt;
  Expr slack = term.operands()[0] - term.operands()[1];
  Alike alike{holdsInTheMiddle(slack), {}, {}};
  AxisSet axes = none();
  addVariables(slack, axes);
  for (unsigned other : axes.set_bits()) {
    if (other == axis)
      continue;
    Expr first = fix(slack, other, 0), step = fix(slack, other, 1) - first;
    if (!isUnrolled(other) || !step.isConst() || !view::provablyEqual(slack, first + variableOf(other) * step))
      return std::nullopt;
    // The end of the vector at which it is hardest to be as it mostly is.
    slack = (step.constant() > 0) == alike.holds ? fix(slack, other, sizeOf(other) - 1) : first;
  }
  Expr first = fix(slack, axis, 0), step = fix(slack, axis, 1) - first;
  if (!step.isConst() || step.isConst(0) || !view::provablyEqual(slack, first + variableOf(axis) * step))
    return std::nullopt;
  bool isOfSizes = true;
  first.forEachVariable([&](Expr variable) { isOfSizes &= llvm::is_contained(func_.getSizes().getSizes(), variable); });
  if (!isOfSizes)
    return std::nullopt;
  // first + step · i < 0 up to a step, or from one on; or it is not.
  if (step.constant() > 0)
    (alike.holds ? alike.end : alike.begin) = view::ceilDiv(-first, step);
  else
    (alike.holds ? alike.begin : alike.end) = view::floorDiv(first, -step) + 1;
  return alike;
}

std::optional<KernelLowering::RowParts> KernelLowering::partsOfRow(int64_t axis) {
  bool hasStages = !func_.getBody().getOps<kernel::StageOp>().empty();
  if (walk_ != 0 || walk().lane < 0 || target_.hasGroups() || kernel::hasFragments(walk()) || hasStages || held_ ||
      isReduced(axis) || isReduced(walk().lane))
    return std::nullopt;
  RowParts parts;
  parts.over = none();
  Expr variable = variableOf(axis);
  for (auto [index, size] : llvm::zip(walk().index, func_.getDomain().getSizes())) {
    Expr guard = view::less(index, size);
    if (size.isConst() || index != variable * lanes() + variableOf(walk().lane) ||
        !llvm::is_contained(walk().guards, guard) || testOf(guard))
      continue;
    parts.guard = guard;
    parts.end = axisOf(axis).getSize().getValue();
    parts.last = view::floorDiv(size, lanes());
  }
  if (parts.end.isConst()) // there is no such axis
    return std::nullopt;
  llvm::SetVector<Expr> terms;
  func_.walk([&](Operation *op) {
    if (auto tracker = op->getAttrOfType<TrackerAttr>("tracker")) {
      Expr valid = indexInside(tracker.getValue()).valid;
      for (Expr term : valid.kind() == Expr::Kind::And ? valid.operands() : ArrayRef(valid))
        terms.insert(term);
    }
  });
  int64_t most = func_.getBody().getOps<kernel::ReduceOp>().empty() ? kMostEndSteps : kMostEndStepsOfSum;
  auto stepsFrom = [&](Expr step) {
    int64_t steps = 0;
    while (steps <= most && !view::provablyLessEqual(parts.end - step, steps))
      ++steps;
    return steps;
  };
  for (Expr term : terms) {
    std::optional<Alike> alike = alikeAlong(axis, term);
    bool isAtEnds = alike && (!alike->begin || (alike->begin->isConst() && alike->begin->constant() <= most)) &&
                    (!alike->end || stepsFrom(*alike->end) <= most);
    if (!isAtEnds)
      continue;
    if (alike->begin)
      parts.first = std::max(parts.first, alike->begin->constant());
    if (alike->end) {
      parts.last = view::minimum(parts.last, *alike->end);
      parts.most = std::max(parts.most, stepsFrom(*alike->end));
    }
    parts.terms.push_back({term, alike->holds, alike->begin.has_value()});
    addVariables(term, parts.over);
  }
  parts.over.reset(axis);
  return parts;
}

void KernelLowering::inStep(int64_t axis, Expr step, const RowParts &parts, bool isInside, bool isFirst,
                            llvm::function_ref<void()> body) {
  auto scope = std::make_unique<Scope>();
  scope->block = scopes_.back()->block;
  if (step.isConst())
    scope->substitutions[variableOf(axis)] = step;
  else
    scope->variables[variableOf(axis)] = index(step);
  scope->tested.push_back(parts.guard);
  scope->inside = isInside;
  for (const RowTerm &term : parts.terms)
    if (term.isOfBegin ? !isFirst : isInside)
      scope->decided.try_emplace(term.term, term.holds, parts.over);
  scopes_.push_back(std::move(scope));
  scopes_.back()->tests.push_back(resolve(fix(parts.guard, walk().lane, lanes() - 1)));
  body();
  scopes_.pop_back();
}

void KernelLowering::where(Expr test, llvm::function_ref<void(bool)> body) {
  if (test.isConst())
    return body(!test.isConst(0));
  inBranches(test, body);
}

void KernelLowering::inRowParts(int64_t axis, const RowParts &parts, llvm::function_ref<void()> body) {
  // In a short row, its first step is one of the last, too. Terms of a sum have many masks, so that code without those
  // of the other end pays; those of an element that is read once cost little more than its load.
  bool sums = !func_.getBody().getOps<kernel::ReduceOp>().empty();
  for (int64_t step = 0; step < parts.first; ++step)
    where(view::less(step, parts.end), [&](bool isStep) {
      if (isStep)
        where(sums ? view::less(step, parts.last) : Expr(0),
              [&](bool isInside) { inStep(axis, step, parts, isInside, /*isFirst=*/true, body); });
    });
  Expr begin = parts.first, last = view::maximum(parts.last, begin);
  Steps between{begin, last, {parts.guard}, {resolve(fix(parts.guard, walk().lane, lanes() - 1))}};
  uop::RangeOp loop = openLoop(axis, {}, /*reduce=*/false, {}, &between);
  loop->setAttr(uop::kShortLoop, builder_.getUnitAttr());
  for (const RowTerm &term : parts.terms)
    scopes_.back()->decided.try_emplace(term.term, term.holds, parts.over);
  body();
  closeLoop({});
  for (int64_t step = 0; step < parts.most; ++step)
    where(view::less(last + step, parts.end), [&](bool isStep) {
      if (isStep)
        inStep(axis, last + step, parts, /*isInside=*/false, /*isFirst=*/false, body);
    });
}
