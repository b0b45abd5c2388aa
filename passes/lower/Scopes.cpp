//===- Scopes.cpp - The place of code, and the loops and tests around it -----------===//
//
// Values go outward: into the outermost scope that binds all variables that they depend on. So code is written at
// several places at once, each the end of a scope so far, and not only in the innermost loop.
//
// Splits that do not divide leave guards, index < size. Tested at every point they would cost more than the arithmetic.
// So a loop over the innermost part of an axis ends where the domain does, and the remaining guards are tested once
// outside the innermost code. Of that there are then two copies: one with all points inside, and one at the edge. The
// latter has as many points of a tile as are left; if that is known only at run time, they are walked in parts of sizes
// that differ: 7 points are 4 and 3. A loop that sums up is two loops, over its steps of these two kinds.
//
//===----------------------------------------------------------------------===//

#include "passes/lower/KernelLowering.h"

#include "ir/uop/Late.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;
using kernel::AxisKind;
using view::Expr;

size_t KernelLowering::depthOf(Expr expr) const {
  size_t depth = 0;
  expr.forEachVariable([&](Expr variable) {
    for (size_t scope = scopes_.size(); scope-- > depth;)
      if (scopes_[scope]->variables.contains(variable)) {
        depth = scope;
        return;
      }
  });
  return depth;
}

size_t KernelLowering::depthOf(const AxisSet &axes) const {
  size_t depth = 0;
  for (unsigned axis : axes.set_bits()) {
    Expr variable = variableOf(axis);
    for (size_t scope = scopes_.size(); scope-- > depth;) {
      if (scopes_[scope]->variables.contains(variable) || scopes_[scope]->substitutions.contains(variable)) {
        depth = scope;
        break;
      }
    }
  }
  return depth;
}

size_t KernelLowering::placeOf(const AxisSet &axes) const {
  // In a branch that tests a guard, values that depend on it stay there: each of the two copies runs when needed.
  size_t depth = depthOf(axes);
  for (size_t scope = depth + 1; scope < scopes_.size(); ++scope) {
    if (depth >= scopes_[scope]->keepsFrom)
      depth = scope;
    for (Expr guard : scopes_[scope]->tested) {
      AxisSet guarded = none();
      addVariables(guard, guarded);
      if (guarded.anyCommon(axes))
        depth = scope;
    }
  }
  return depth;
}

OpBuilder &KernelLowering::at(size_t depth) {
  Scope &scope = *scopes_[depth];
  if (scope.before)
    builder_.setInsertionPoint(scope.before);
  else
    builder_.setInsertionPointToEnd(scope.block);
  return builder_;
}

Operation *KernelLowering::goBefore(Operation *op) {
  // A step of a row has its code in the block around it.
  Operation *outer = scopes_.back()->before;
  Block *block = scopes_.back()->block;
  for (std::unique_ptr<Scope> &scope : llvm::reverse(scopes_))
    if (scope->block == block)
      scope->before = op;
  return outer;
}

void KernelLowering::inScope(size_t depth, llvm::function_ref<void()> body) {
  std::vector<std::unique_ptr<Scope>> inner(std::make_move_iterator(scopes_.begin() + depth + 1),
                                            std::make_move_iterator(scopes_.end()));
  scopes_.resize(depth + 1);
  body();
  scopes_.insert(scopes_.end(), std::make_move_iterator(inner.begin()), std::make_move_iterator(inner.end()));
}

bool KernelLowering::mayEndEarly(int64_t axis) {
  // Readers end their own loops where the domain does, so a stage need not be filled further in the readers' steps. In
  // other steps it might hold nothing where their lanes or unrolled points still read.
  if (!walk().stage)
    return true;
  for (kernel::PartAttr part : kernel::StageOp(walk().stage).getParts()) {
    Expr index = walk().index[part.getAxis()], variable = variableOf(axis);
    if (view::provablyEqual(index - fix(index, axis, 0), variable * part.getStep()))
      return !llvm::is_contained(walk().zeros, size_t(part.getAxis())) &&
             view::provablyEqual(axisOf(axis).getSize().getValue(), part.getCount().getValue());
  }
  return true; // a reduced axis
}

KernelLowering::LoopEnd KernelLowering::endOf(int64_t axis, ArrayRef<int64_t> inside) {
  Expr size = axisOf(axis).getSize().getValue(), variable = variableOf(axis);
  LoopEnd end{size, size, {}, {}, {}};
  // Items that meet at barriers walk the same loops, and the last step of a held loop is known by its number.
  if (hasItems() || llvm::is_contained(heldLoops_, axis) || !mayEndEarly(axis))
    return end;
  for (auto [index, points] : llvm::zip(walk().index, func_.getDomain().getSizes())) {
    Expr guard = view::less(index, points), rest = fix(index, axis, 0), step = fix(index, axis, 1) - rest;
    if (!llvm::is_contained(walk().guards, guard) || !step.isConst() || step.constant() < 1 ||
        !view::provablyEqual(index - rest, variable * step))
      continue;
    AxisSet around = none();
    addVariables(rest, around);
    // A loop that is opened again inside does not count at its outer place.
    auto isKnown = [&](unsigned other) { return isBound(other) && !llvm::is_contained(inside, other); };
    SmallVector<int64_t> unrolled, last;
    Expr begin = rest, parts = 1;
    bool isFirst = true;
    for (unsigned other : around.set_bits()) {
      isFirst &= isKnown(other) || isUnrolled(other);
      if (isKnown(other))
        parts = parts * axisOf(other).getSize().getValue();
      else
        begin = begin.substitute({{variableOf(other), 0}});
      if (isUnrolled(other)) {
        unrolled.push_back(other);
        last.push_back(sizeOf(other) - 1);
      }
    }
    if ((step.isConst(1) && begin != rest) || (rest - begin).min() < 0)
      continue;
    // Steps that begin past the end are empty. Each point of the last one is tested, unless steps divide the rest of
    // the domain: then it is whole, however many of them the outer loops leave to this one.
    end.end = view::minimum(end.end, resolve(view::ceilDiv(points - begin, step)));
    end.trips = view::ceilDiv(points, view::maximum(parts * step, 1));
    if (isFirst)
      end.begun.push_back(guard);
    bool isWhole = (rest - begin).max() < step.constant() && view::mod(points - begin, step).isConst(0);
    if (!step.isConst(1) && !isWhole)
      continue;
    end.settled.push_back(guard);
    end.tests.push_back(resolve(fix(guard, unrolled, last)));
  }
  return end;
}

SmallVector<KernelLowering::Steps, 2> KernelLowering::stepsOf(int64_t axis) {
  Expr end = axisOf(axis).getSize().getValue(), whole = end;
  if (hasItems())
    return {{0, end, {}, {}}};
  Steps inside;
  for (auto [index, size] : llvm::zip(walk().index, func_.getDomain().getSizes())) {
    Expr guard = view::less(index, size), rest = fix(index, axis, 0), step = fix(index, axis, 1) - rest;
    AxisSet around = none();
    addVariables(rest, around);
    SmallVector<int64_t> unrolled, last;
    bool isReady = true;
    for (unsigned other : around.set_bits())
      if (isUnrolled(other)) {
        unrolled.push_back(other);
        last.push_back(sizeOf(other) - 1);
      } else {
        isReady &= isBound(other);
      }
    // The end of the loop settles a step of one point.
    if (!isReady || unrolled.empty() || !llvm::is_contained(walk().guards, guard) || testOf(guard) || !step.isConst() ||
        step.constant() < 1 || !view::provablyEqual(index - rest, variableOf(axis) * step))
      continue;
    whole = view::minimum(whole, resolve(view::ceilDiv(size - fix(rest, unrolled, last), step)));
    inside.guards.push_back(guard);
    inside.tests.push_back(resolve(fix(guard, unrolled, last)));
  }
  whole = view::maximum(whole, 0);
  if (inside.guards.empty() || whole.isConst(0))
    return {{0, end, {}, {}}};
  inside.end = whole;
  return {inside, {whole, end, {}, {}}};
}

/// Whether an expression is one over sizes, the same for all points of the loops around.
static bool isOfSizes(Expr expr) {
  bool isAlike = true;
  expr.forEachVariable([&](Expr variable) { isAlike &= kernel::loopAxisOf(variable) < 0; });
  return isAlike;
}

uop::RangeOp KernelLowering::openLoop(int64_t axis, ValueRange inits, bool reduce, ArrayRef<int64_t> inside,
                                      const Steps *part) {
  kernel::AxisAttr attr = axisOf(axis);
  Expr begin, size = attr.getSize().getValue();
  auto [end, trips, settled, tests, begun] = endOf(axis, inside);
  if (part && (begin != part->begin || size != part->end)) {
    begin = part->begin;
    end = view::minimum(end, part->end);
    // If an edge differs from point to point of the outer loops, all steps count as inside ones.
    trips = isOfSizes(part->end - begin) ? part->end - begin : begin.isConst(0) ? size : Expr(0);
  }
  Value from = index(begin), to = index(end);
  auto range = uop::RangeOp::create(here(), loc_, from, to, inits, nextLoop_++, reduce);
  trips_[range] = trips;
  auto scope = std::make_unique<Scope>();
  scope->block = &range.getBody().front();
  scope->variables[kernel::loopVariable(attr)] = range.getIndex();
  if (part) {
    settled.append(part->guards);
    tests.append(part->tests);
  }
  scope->begin = begin;
  scope->end = end;
  scope->inside = !settled.empty();
  scope->tested = std::move(settled);
  scope->tests = std::move(tests);
  scope->begun = std::move(begun);
  scope->outerBefore = goBefore(range);
  scopes_.push_back(std::move(scope));
  return range;
}

uop::RangeOp KernelLowering::openPoints(int64_t axis, int64_t loop, const Steps &part, const Steps &inside,
                                        ValueRange inits) {
  Expr guard = inside.guards.front(), left = 0;
  for (auto [index, size] : llvm::zip(walk().index, func_.getDomain().getSizes()))
    if (view::less(index, size) == guard)
      left = size - fix(index, axis, 0).substitute({{variableOf(loop), part.begin}});
  // The loop may end before the domain does.
  left = resolve(view::minimum(left, (part.end - part.begin) * sizeOf(axis)));
  Value to = index(left), step = index(part.begin);
  auto range = uop::RangeOp::create(here(), loc_, constant(indexType_, 0), to, inits, nextLoop_++, /*reduce=*/true);
  trips_[range] = isOfSizes(left) ? left : Expr(0);
  auto scope = std::make_unique<Scope>();
  scope->block = &range.getBody().front();
  scope->variables[variableOf(axis)] = range.getIndex();
  scope->variables[variableOf(loop)] = step;
  scope->begin = part.begin;
  scope->end = part.end;
  scope->inside = true;
  scope->tested.push_back(guard);
  scope->tests.push_back(resolve(guard));
  scope->outerBefore = goBefore(range);
  scopes_.push_back(std::move(scope));
  return range;
}

void KernelLowering::closeLoop(ValueRange yields) {
  for (llvm::unique_function<void()> &emit : scopes_.back()->last)
    emit();
  uop::YieldOp::create(here(), loc_, yields);
  Operation *outerBefore = scopes_.back()->outerBefore;
  scopes_.pop_back();
  goBefore(outerBefore);
}

void KernelLowering::inSteps(int64_t axis, Expr begin, Expr end, llvm::function_ref<void()> body) {
  if (view::provablyLessEqual(end, begin))
    return;
  Value from = index(begin), to = index(end);
  auto range = uop::RangeOp::create(here(), loc_, from, to, ValueRange(), nextLoop_++, /*reduce=*/false);
  trips_[range] = (end - begin).isConst() ? end - begin : Expr(1);
  auto scope = std::make_unique<Scope>();
  scope->block = &range.getBody().front();
  scope->variables[variableOf(axis)] = range.getIndex();
  scope->begin = begin;
  scope->end = end;
  scope->outerBefore = goBefore(range);
  scopes_.push_back(std::move(scope));
  body();
  closeLoop({});
}

void KernelLowering::inBranches(Expr test, llvm::function_ref<void(bool)> body) {
  Value condition = this->condition(test);
  auto branch = uop::IfOp::create(here(), loc_, condition);
  for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()}) {
    auto scope = std::make_unique<Scope>();
    scope->block = &region->emplaceBlock();
    scope->outerBefore = goBefore(branch);
    scopes_.push_back(std::move(scope));
    body(region == &branch.getThenRegion());
    closeLoop({});
  }
  joinIfAlike(branch);
}

void KernelLowering::joinIfAlike(uop::IfOp branch) {
  auto rangesOf = [](Region &region) {
    SmallVector<uop::RangeOp> ranges;
    region.walk([&](uop::RangeOp range) { ranges.push_back(range); });
    return ranges;
  };
  // Loops of the same code differ by their numbers.
  SmallVector<uop::RangeOp> ranges = rangesOf(branch.getThenRegion()), others = rangesOf(branch.getElseRegion());
  SmallVector<IntegerAttr> numbers =
      llvm::map_to_vector(others, [](uop::RangeOp range) { return range.getAxisAttr(); });
  for (auto [one, other] : llvm::zip(ranges, others))
    other.setAxisAttr(one.getAxisAttr());
  if (!OperationEquivalence::isRegionEquivalentTo(&branch.getThenRegion(), &branch.getElseRegion(),
                                                  OperationEquivalence::IgnoreLocations)) {
    for (auto [other, number] : llvm::zip(others, numbers))
      other.setAxisAttr(number);
    return;
  }
  for (uop::RangeOp other : others)
    trips_.erase(other);
  Block &block = branch.getThenRegion().front();
  block.getTerminator()->erase();
  branch->getBlock()->getOperations().splice(branch->getIterator(), block.getOperations());
  branch.erase();
}

const Scope *KernelLowering::scopeOf(Expr guard, SmallVector<Expr> Scope::*list) const {
  AxisSet axes = none();
  addVariables(guard, axes);
  for (const std::unique_ptr<Scope> &scope : llvm::reverse(scopes_)) {
    if (llvm::is_contained(scope.get()->*list, guard))
      return scope.get();
    // A loop that is opened again for a reduce goes over other points.
    if (llvm::any_of(axes.set_bits(), [&](unsigned axis) { return scope->variables.contains(variableOf(axis)); }))
      return nullptr;
  }
  return nullptr;
}

bool KernelLowering::holdsForReaders(Expr guard) const {
  if (!walk().stage)
    return false;
  AxisSet about = none();
  addVariables(guard, about);
  SmallVector<int64_t> own, last;
  for (kernel::AxisAttr axis : walk().axes) {
    Expr size = axis.getSize().getValue();
    if (!about.test(axis.getId()))
      continue;
    if (!size.isConst())
      return false;
    own.push_back(axis.getId());
    last.push_back(size.constant() - 1);
  }
  Expr atEnd = resolve(fix(guard, own, last));
  return llvm::any_of(scopes_, [&](const std::unique_ptr<Scope> &scope) {
    return scope->inside && llvm::is_contained(scope->tests, atEnd);
  });
}

bool KernelLowering::meetsInside() {
  for (auto reduce : func_.getBody().getOps<kernel::ReduceOp>())
    for (int64_t axis : reduce.getAxes())
      if (axisOf(axis).getKind() == AxisKind::Item)
        return true;
  return llvm::any_of(func_.getBody().getOps<kernel::StageOp>(), [&](auto stage) { return isLocal(stage); });
}

void KernelLowering::atEdges(llvm::function_ref<void()> body) {
  // A guard grows along every axis, so it holds for all unrolled points, and for all items, when it does for the last.
  bool meets = meetsInside();
  SmallVector<Expr> tests, guards;
  for (Expr guard : walk().guards) {
    AxisSet axes = none();
    addVariables(guard, axes);
    bool ready = llvm::all_of(axes.set_bits(), [&](unsigned axis) { return isBound(axis) || isUnrolled(axis); });
    if (!ready || testOf(guard))
      continue;
    SmallVector<int64_t> several, last;
    for (unsigned axis : axes.set_bits())
      if (isUnrolled(axis) || (meets && axisOf(axis).getKind() == AxisKind::Item)) {
        several.push_back(axis);
        last.push_back(sizeOf(axis) - 1);
      }
    guards.push_back(guard);
    bool isBegin = scopeOf(guard, &Scope::begun) && llvm::none_of(last, [](int64_t point) { return point > 0; });
    tests.push_back(isBegin ? Expr(1) : resolve(fix(guard, several, last)));
  }
  Expr test = view::logicalAnd(tests);
  bool mayBranch = !meets || target_.meetsInBranches();
  if (test.isConst(0) || (!mayBranch && !test.isConst(1))) // all of it is an edge, or walked as one
    return body();
  if (test.isConst(1)) {
    Scope &scope = *scopes_.back();
    if (!guards.empty()) {
      llvm::append_range(scope.tested, guards); // in addition to those that inPartsAtEdge knows
      scope.inside = true;
    }
    return body();
  }
  inBranches(test, [&](bool isInside) {
    if (!isInside)
      return inPartsAtEdge(guards, tests, body);
    scopes_.back()->tested = guards;
    scopes_.back()->tests = tests;
    scopes_.back()->inside = true;
    body();
  });
}

std::optional<KernelLowering::Edge> KernelLowering::edgeOfRows(ArrayRef<Expr> guards) {
  if (walk().stage || hasItems())
    return std::nullopt;
  for (auto [of, index, size] : llvm::enumerate(walk().index, func_.getDomain().getSizes())) {
    Expr guard = view::less(index, size);
    if (!llvm::is_contained(guards, guard))
      continue;
    AxisSet about = none();
    addVariables(guard, about);
    SmallVector<unsigned> unrolled(
        llvm::make_filter_range(about.set_bits(), [&](unsigned axis) { return isUnrolled(axis); }));
    // A reduce goes over all points of an axis that it shares with values computed from it.
    if (unrolled.size() != 1 || axisOf(unrolled.front()).getKind() != AxisKind::Upcast || isReduced(unrolled.front()))
      continue;
    int64_t axis = unrolled.front(), points = sizeOf(axis);
    Expr first = fix(index, axis, 0), step = fix(index, axis, 1) - first;
    if (points < 2 || !step.isConst() || step.constant() < 1 ||
        !view::provablyEqual(index - first, variableOf(axis) * step))
      continue;
    // If all edges are alike, as many points as are left.
    Expr left = view::mod(size - first, points);
    if (left.isConst() && step.isConst(1) && scopeOf(guard, &Scope::begun) && !shortened_.contains(axis)) {
      if (!left.isConst(0))
        return Edge{of, axis, points, guard, view::ceilDiv(size - first, step), left.constant()};
    } else if (!size.isConst()) {
      return Edge{of, axis, points, guard, view::ceilDiv(size - first, step), std::nullopt};
    }
  }
  return std::nullopt;
}

void KernelLowering::inPart(const Edge &edge, int64_t points, llvm::function_ref<void()> body) {
  auto before = shortened_;
  shortened_[edge.axis] = points;
  Scope &scope = *scopes_.back();
  Expr last = fix(walk().index[edge.of], edge.axis, points - 1);
  scope.tested.push_back(edge.guard);
  scope.tests.push_back(resolve(view::less(last, func_.getDomain().getSizes()[edge.of])));
  scope.inside = true;
  atEdges(body);
  shortened_ = before;
}

void KernelLowering::inTest(Value condition, llvm::function_ref<void()> body) {
  auto branch = uop::IfOp::create(here(), loc_, condition);
  auto scope = std::make_unique<Scope>();
  scope->block = &branch.getThenRegion().emplaceBlock();
  scope->outerBefore = goBefore(branch);
  scopes_.push_back(std::move(scope));
  body();
  closeLoop({});
}

/// The sizes of the parts in which a tile's points at an edge are walked, the largest first, where as many points are
/// left as `unit` divides.
static SmallVector<int64_t> partsOf(int64_t most, int64_t unit) {
  SmallVector<int64_t> parts;
  for (int64_t part = 1; part <= most; part = part < 4 ? part + 1 : 2 * part)
    if (part % unit == 0)
      parts.push_back(part);
  return SmallVector<int64_t>(llvm::reverse(parts));
}

void KernelLowering::inParts(const Edge &edge, llvm::function_ref<void()> body) {
  int64_t unit = 1;
  while (2 * unit < edge.points && view::mod(edge.left, 2 * unit).isConst(0))
    unit *= 2;
  SmallVector<int64_t> parts = partsOf(edge.points - 1, unit);
  // If there is a part for each number, it begins where the tile does.
  if (int64_t(parts.size()) == (edge.points - 1) / unit)
    return inPartOfAll(edge, parts, body);
  inParts(edge, parts, constant(indexType_, 0), body);
}

void KernelLowering::inPartOfAll(const Edge &edge, ArrayRef<int64_t> parts, llvm::function_ref<void()> body) {
  Expr holds = resolve(view::greaterEqual(edge.left, parts.front()));
  if (parts.size() == 1)
    return inTest(condition(holds), [&] { inPart(edge, parts.front(), body); });
  inBranches(holds, [&](bool isAll) {
    isAll ? inPart(edge, parts.front(), body) : inPartOfAll(edge, parts.drop_front(), body);
  });
}

void KernelLowering::inParts(const Edge &edge, ArrayRef<int64_t> parts, Value begin, llvm::function_ref<void()> body) {
  size_t depth = scopes_.size() - 1;
  int64_t part = parts.front();
  Type boolean = builder_.getI1Type();
  Value all = index(resolve(edge.left));
  auto after = [&](int64_t points) { return alu(Alu::ADD, {begin, constant(indexType_, points)}, indexType_, depth); };
  Value takes = alu(Alu::CMPLT, {after(part - 1), all}, boolean, depth);
  // One point takes as long as two: 5 are walked as 3 and 2.
  if (part > 3 && parts.back() == 1)
    takes = alu(Alu::AND, {takes, alu(Alu::CMPNE, {after(part + 1), all}, boolean, depth)}, boolean, depth);
  Value end = alu(Alu::WHERE, {takes, after(part), begin}, indexType_, depth);
  end.getDefiningOp()->setAttr(uop::kLate, builder_.getUnitAttr());
  inTest(takes, [&] {
    LoweredWalk before = walks_[walk_];
    Expr variable = variableOf(edge.axis), moved = Expr::variable(kPart, 0, edge.points - part);
    scopes_.back()->variables[moved] = begin;
    begins_[variable] = variable + moved;
    walks_[walk_].index[edge.of] = before.index[edge.of].substitute(begins_);
    llvm::erase(walks_[walk_].guards, edge.guard);
    inPart(edge, part, body);
    walks_[walk_] = std::move(before);
    begins_.erase(variable);
  });
  if (parts.size() == 1)
    return;
  auto others = [&] { inParts(edge, parts.drop_front(), end, body); };
  // Smaller parts are tried one after the other; mostly a larger one is all.
  if (part < 4)
    return others();
  inTest(alu(Alu::CMPLT, {end, all}, boolean, depth), others);
}

void KernelLowering::inPartsAtEdge(ArrayRef<Expr> guards, ArrayRef<Expr> tests, llvm::function_ref<void()> body) {
  auto whole = [&] {
    llvm::append_range(scopes_.back()->tested, guards);
    llvm::append_range(scopes_.back()->tests, tests);
    body();
  };
  std::optional<Edge> edge = edgeOfRows(guards);
  if (!edge)
    return whole();
  auto fewer = [&] { edge->known ? inPart(*edge, *edge->known, body) : inParts(*edge, body); };
  // Another axis' edge may cut a tile that has all points of this one.
  Expr isWhole =
      guards.size() == 1 ? Expr(0) : resolve(fix(edge->guard, edge->axis, edge->known.value_or(edge->points - 1)));
  if (isWhole.isConst())
    return isWhole.isConst(1) ? whole() : fewer();
  inBranches(isWhole, [&](bool holds) { holds ? whole() : fewer(); });
}
