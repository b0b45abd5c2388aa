//===- IndexMath.cpp - Sizes, places and guards as uops ----------------------------===//
//
// The places that a kernel reads and the points that count are expressions over loop variables. They are resolved with
// what the open scopes know of these variables, taken at one unrolled point or lane if needed, and written in the
// outermost scope that binds the remaining variables, once there.
//
//===----------------------------------------------------------------------===//

#include "passes/lower/KernelLowering.h"

#include "passes/lower/IndexRange.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SetVector.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;
using view::Expr;

Expr KernelLowering::resolve(Expr expr) const {
  for (size_t depth = scopes_.size(); depth-- > 0;) {
    // A reduce goes through an axis once more inside, by a loop of its own.
    auto isOpenedInside = [&](Expr variable) {
      return llvm::any_of(ArrayRef(scopes_).drop_front(depth + 1),
                          [&](const std::unique_ptr<Scope> &scope) { return scope->variables.contains(variable); });
    };
    llvm::DenseMap<Expr, Expr> values;
    for (auto [variable, value] : scopes_[depth]->substitutions)
      if (!isOpenedInside(variable))
        values[variable] = value;
    if (!values.empty())
      expr = expr.substitute(values);
  }
  return expr;
}

Expr KernelLowering::fix(Expr expr, ArrayRef<int64_t> axes, ArrayRef<int64_t> point) const {
  if (axes.empty())
    return expr;
  llvm::DenseMap<Expr, Expr> values;
  for (auto [axis, at] : llvm::zip(axes, point))
    values[variableOf(axis)] = at;
  return expr.substitute(values);
}

view::Index KernelLowering::fix(view::Index where, ArrayRef<int64_t> axes, ArrayRef<int64_t> point) const {
  return {fix(where.index, axes, point), fix(where.valid, axes, point)};
}

Expr KernelLowering::atLane(Expr expr, int64_t lane) const { return fix(expr, walk().lane, lane); }

bool KernelLowering::dependsOnLane(Expr expr) const {
  if (walk().lane < 0)
    return false;
  AxisSet axes = none();
  addVariables(expr, axes);
  return hasLanes(axes);
}

bool KernelLowering::lanesAreNeighbours(Expr index) const {
  Expr first = atLane(index, 0);
  for (int64_t lane = 1; lane < lanes(); ++lane)
    if (!(atLane(index, lane) - first).isConst(lane))
      return false;
  return true;
}

Expr KernelLowering::guardOf(const AxisSet &axes) const { return guardOf(axes, AxisSet(axes_.size(), true)); }

Expr KernelLowering::guardOf(const AxisSet &axes, const AxisSet &among) const {
  SmallVector<Expr> terms;
  for (Expr guard : walk().guards) {
    AxisSet guarded = none();
    addVariables(guard, guarded);
    const Scope *test = testOf(guard);
    bool known = test ? test->inside : holdsForReaders(guard);
    if (!known && guarded.anyCommon(axes) && !guarded.test(among))
      terms.push_back(guard);
  }
  return view::logicalAnd(terms);
}

Expr KernelLowering::knownOf(const AxisSet &axes) const {
  SmallVector<Expr> terms;
  for (Expr guard : walk().guards) {
    AxisSet guarded = none();
    addVariables(guard, guarded);
    const Scope *test = testOf(guard);
    if (test && test->inside && guarded.anyCommon(axes))
      terms.push_back(guard);
  }
  return view::logicalAnd(terms);
}

view::Index KernelLowering::indexInside(const view::ShapeTracker &tracker) const {
  SmallVector<Expr> position = kernel::positionOf(walk().index, tracker);
  for (Expr &each : position)
    each = each.substitute(limited_);
  view::Index where = tracker.at(position);
  // Loops may go past the end of the domain, where nothing is read: inside it, fewer tests are needed, and an index by
  // open sizes may need no division. Matrices are read whole, whatever is past the end.
  bool movesInside = !kernel::hasMatrices(walk()) && llvm::any_of(tracker.shape(), [](Expr s) { return !s.isConst(); });
  if (tracker.views().size() > 1 && (movesInside || !where.valid.isConst())) {
    SmallVector<Expr> point;
    llvm::DenseMap<Expr, Expr> places;
    for (auto [axis, size] : llvm::enumerate(tracker.shape())) {
      std::string name = "_p" + std::to_string(axis);
      point.push_back(size.isConst() ? Expr::variable(name, 0, std::max<int64_t>(size.constant() - 1, 0))
                                     : Expr::variable(name, 0, size - 1));
      if (!point.back().isConst())
        places[point.back()] = position[axis];
    }
    view::Index within = tracker.at(point);
    if (Expr inside = within.valid.substitute(places); inside.weight() < where.valid.weight())
      where.valid = inside;
    if (Expr inside = within.index.substitute(places); movesInside && inside.weight() < where.index.weight())
      where.index = inside;
  }
  return {where.index.substitute(unlimited_), undecided(where.valid.substitute(unlimited_))};
}

view::Index KernelLowering::indexAt(const view::ShapeTracker &tracker, AxisSet axes) const {
  return settled(indexInside(tracker), std::move(axes));
}

view::Index KernelLowering::settled(view::Index where, AxisSet axes) const {
  addVariables(where.index, axes);
  addVariables(where.valid, axes);
  Expr known = resolve(knownOf(axes)), valid = resolve(view::logicalAnd({where.valid, guardOf(axes)}));
  valid = view::simplifyUnder(valid, known);
  return {view::simplifyUnder(resolve(where.index), view::logicalAnd({valid, known})), valid};
}

Expr KernelLowering::insideDomain(Expr valid, ArrayRef<int64_t> axes, ArrayRef<int64_t> point) {
  if (walk_ != 0 || valid.isConst())
    return valid;
  // A mask that stands still along an unrolled axis is asked for at its first point, if at any.
  auto indexAtPoint = [&](Expr index) {
    index = fix(resolve(index), axes, point);
    AxisSet others = none();
    addVariables(index, others);
    for (unsigned axis : others.set_bits())
      if (isUnrolled(axis) && axis != unsigned(walk().lane))
        index = fix(index, axis, 0);
    return index;
  };
  auto decide = [&](Expr term) -> Expr {
    for (auto [index, size] : llvm::zip(walk().index, func_.getDomain().getSizes())) {
      if (term.kind() != Expr::Kind::Less || size.isConst() || !dependsOnLane(index))
        continue;
      Expr slack = term.operands()[0] - term.operands()[1], own = indexAtPoint(index);
      Expr step = atLane(slack, 1) - atLane(slack, 0), rest = slack - own * step;
      if (!step.isConst() || step.isConst(0) || atLane(own, 1) - atLane(own, 0) != Expr(1) || dependsOnLane(rest) ||
          slack == own - size) // the guard
        continue;
      Expr bounded = view::less(rest + Expr::variable("_inside", 0, size - 1) * step, 0);
      if (bounded.isConst())
        return bounded;
    }
    return term;
  };
  if (valid.kind() != Expr::Kind::And)
    return decide(valid);
  return view::logicalAnd(llvm::map_to_vector(valid.operands(), decide));
}

Value KernelLowering::constant(TypedAttr value) {
  Value &known = constants_[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(&out_.getBody().front());
    if (constants_.size() > 1)
      for (auto &[attr, other] : constants_)
        if (other)
          builder_.setInsertionPointAfterValue(other);
    known = uop::ConstOp::create(builder_, loc_, value.getType(), value);
  }
  return known;
}

Value KernelLowering::constant(Type type, int64_t value) { return constant(builder_.getIntegerAttr(type, value)); }

Value KernelLowering::condition(Expr expr) {
  return expr.isConst() ? constant(builder_.getI1Type(), expr.constant()) : index(expr);
}

Value KernelLowering::index(Expr expr) {
  if (expr.isConst())
    return constant(indexType_, expr.constant());
  size_t depth = depthOf(expr);
  if (expr.kind() == Expr::Kind::Var)
    return scopes_[depth]->variables.at(expr);
  if (Value known = scopes_[depth]->indices.lookup(expr))
    return known;
  Value value = indexOp(expr, depth);
  return scopes_[depth]->indices[expr] = value;
}

bool KernelLowering::isOfPart(Expr expr) {
  bool isOfPart = false;
  expr.forEachVariable([&](Expr variable) { isOfPart |= variable.name() == kPart; });
  return isOfPart;
}

Value KernelLowering::indexOp(Expr expr, size_t depth) {
  Type boolean = builder_.getI1Type();
  SmallVector<Expr> operands(expr.operands());
  auto fold = [&](Alu kind, Type type) {
    // Outer terms first: parts that do not change in a loop are summed before it. Except in a part of a tile at an
    // edge: most steps of the loops around would compute its sums in vain.
    bool isLate = isOfPart(expr);
    Value value;
    for (size_t i = 0; i <= depth; ++i)
      for (Expr operand : operands) {
        size_t where = isLate ? depth - i : i;
        if (depthOf(operand) != where)
          continue;
        Value next = index(operand);
        value = value ? alu(kind, {value, next}, type, isLate ? depth : where) : next;
      }
    return value;
  };
  // A constant last: indices that differ only by it, as the rows of a register tile, share the rest, and the constant
  // is the displacement of an address.
  if (expr.kind() == Expr::Kind::Add && operands.back().isConst()) {
    Value rest = index(expr - operands.back());
    return alu(Alu::ADD, {rest, index(operands.back())}, indexType_, depth);
  }
  auto binary = [&](Alu kind, Type type) {
    Value a = index(operands[0]), b = index(operands[1]);
    return alu(kind, {a, b}, type, depth);
  };
  bool natural = operands[0].min() >= 0 && operands[1].min() > 0;
  switch (expr.kind()) {
  case Expr::Kind::Add:
    return fold(Alu::ADD, indexType_);
  case Expr::Kind::And:
    return fold(Alu::AND, boolean);
  case Expr::Kind::Mul:
    return binary(Alu::MUL, indexType_);
  case Expr::Kind::FloorDiv:
    return binary(natural ? Alu::IDIV : Alu::FLOORDIV, indexType_);
  case Expr::Kind::Mod:
    return binary(natural ? Alu::MOD : Alu::FLOORMOD, indexType_);
  case Expr::Kind::Min:
    return binary(Alu::MIN, indexType_);
  case Expr::Kind::Max:
    return binary(Alu::MAX, indexType_);
  case Expr::Kind::Less:
    // -i < 0 is 0 < i, which addresses already compute.
    if (Expr turned = -operands[0], bound = -operands[1];
        bound.isConst() && turned.weight() < operands[0].weight() && fitsInt32(turned) && fitsInt32(bound))
      operands = {bound, turned};
    return binary(Alu::CMPLT, boolean);
  case Expr::Kind::Const:
  case Expr::Kind::Var:
    break;
  }
  llvm_unreachable("constants and variables have values already");
}

/// If there are more conditions than these, they are combined lane by lane.
static constexpr size_t kMostMasks = 4;

/// For conditions first + steps[lane] < 0 that differ, first and steps; nullopt if they are others.
static std::optional<std::pair<Expr, SmallVector<int64_t>>> stepsBetween(ArrayRef<Expr> each) {
  Expr first;
  SmallVector<int64_t> steps;
  for (Expr one : each) {
    if (one.kind() != Expr::Kind::Less)
      return std::nullopt;
    Expr difference = one.operands()[0] - one.operands()[1];
    first = steps.empty() ? difference : first;
    Expr step = difference - first;
    if (!step.isConst())
      return std::nullopt;
    steps.push_back(step.constant());
  }
  return llvm::all_equal(steps) ? std::nullopt : std::optional(std::pair(first, steps));
}

Value KernelLowering::stepCondition(Expr first, ArrayRef<int64_t> steps, size_t depth) {
  auto typeOf = [&](Type element) { return VectorType::get({int64_t(steps.size())}, element); };
  auto vector = [&](ArrayRef<Value> values) -> Value {
    return uop::VectorizeOp::create(at(depth), loc_, typeOf(values.front().getType()), values);
  };
  SmallVector<Value> each = llvm::map_to_vector(steps, [&](int64_t step) { return constant(indexType_, step); });
  Value bound = index(-first);
  return alu(Alu::CMPLT, {vector(each), vector(bound)}, typeOf(builder_.getI1Type()), depth);
}

Value KernelLowering::laneCondition(Expr expr, size_t depth, Value inside) {
  SmallVector<Expr> each;
  for (int64_t lane = 0; lane < lanes(); ++lane)
    each.push_back(atLane(expr, lane));
  // 2·x < lane is x < lane / 2 at each lane by itself, which is no longer a step from lane to lane.
  if (expr.kind() == Expr::Kind::Less && !llvm::all_equal(each) && !stepsBetween(each) && lanes() > 2) {
    Expr slack = expr.operands()[0] - expr.operands()[1], first = atLane(slack, 0), step = atLane(slack, 1) - first;
    if (step.isConst() && view::provablyEqual(slack, first + variableOf(walk().lane) * step)) {
      auto steps = llvm::map_to_vector(llvm::seq(lanes()), [&](int64_t lane) { return lane * step.constant(); });
      return bothConditions(stepCondition(first, steps, depth), inside, depth);
    }
  }
  if (expr.kind() == Expr::Kind::And && !llvm::all_equal(each) && !stepsBetween(each) && lanes() > 2)
    return allConditions(expr, depth, inside, [&](Expr term) { return laneCondition(term, depth); });
  return bothConditions(conditions(each, depth), inside, depth);
}

Value KernelLowering::allConditions(Expr all, size_t depth, Value inside, llvm::function_ref<Value(Expr)> ofLanes) {
  // Conditions that lanes share are one number. Each other condition is a vector of its own, which may be the same in
  // each turn of a loop.
  Value mask;
  for (Expr term : all.kind() == Expr::Kind::And ? all.operands() : ArrayRef(all)) {
    if (!dependsOnLane(term)) {
      inside = gateOf(term, inside, depth);
      continue;
    }
    if (Value each = ofLanes(term))
      mask = mask ? alu(Alu::AND, {mask, each}, each.getType(), depth) : each;
  }
  return bothConditions(mask, inside, depth);
}

Value KernelLowering::bothConditions(Value mask, Value inside, size_t depth) {
  if (!mask || !inside)
    return mask ? mask : inside;
  return alu(Alu::AND, {mask, splat(inside, depth, uop::lanesOf(mask.getType()))}, mask.getType(), depth);
}

Value KernelLowering::conditions(ArrayRef<Expr> each, size_t depth) {
  // Steps from lane to lane, by any numbers, are one comparison of vectors.
  if (auto steps = stepsBetween(each); steps && each.size() > 2)
    return stepCondition(steps->first, steps->second, depth);
  auto type = VectorType::get({int64_t(each.size())}, builder_.getI1Type());
  llvm::SetVector<Expr> kinds(each.begin(), each.end());
  kinds.remove_if([](Expr one) { return one.isConst(); });
  if (kinds.size() > kMostMasks || each.size() <= 2) {
    SmallVector<Value> values;
    for (Expr one : each)
      values.push_back(condition(one));
    return uop::VectorizeOp::create(at(depth), loc_, type, values);
  }
  // If there are few conditions, each is spread over all lanes, and cut down to its own by a constant.
  auto lanesThat = [&](llvm::function_ref<bool(Expr)> are) -> Value {
    SmallVector<Value> values;
    for (Expr one : each)
      values.push_back(constant(builder_.getI1Type(), are(one)));
    return uop::VectorizeOp::create(at(depth), loc_, type, values);
  };
  Value mask;
  if (kinds.empty() || llvm::any_of(each, [](Expr one) { return one.isConst(1); }))
    mask = lanesThat([](Expr one) { return one.isConst(1); });
  for (Expr kind : kinds) {
    Value own = splat(index(kind), depth, int64_t(each.size()));
    if (!llvm::all_equal(each))
      own = alu(Alu::AND, {own, lanesThat([&](Expr one) { return one == kind; })}, type, depth);
    mask = mask ? alu(Alu::OR, {mask, own}, type, depth) : own;
  }
  return mask;
}
