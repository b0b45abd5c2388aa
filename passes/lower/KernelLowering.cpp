//===- KernelLowering.cpp - Axes, scopes and index math ----------------------------===//

#include "passes/lower/KernelLowering.h"

#include "passes/lower/Estimate.h"
#include "passes/lower/ModelCost.h"

#include "ir/base/Target.h"
#include "ir/uop/LaunchCost.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;
using kernel::AxisKind;
using view::Expr;

static bool fitsInt32(Expr expr) { return expr.max() <= INT32_MAX && expr.min() >= INT32_MIN; }

/// Index math is int32 where every index and every step towards one fits, and every size that is data.
static bool fitsInt32(kernel::FuncOp func) {
  bool fits = true;
  auto check = [&](Expr expr) { fits &= fitsInt32(expr); };
  auto checkSteps = [&](auto &self, Expr expr) -> void {
    check(expr);
    for (Expr operand : expr.operands())
      self(self, operand);
  };
  func.walk([&](kernel::SizeOp op) { checkSteps(checkSteps, op.getSize().getValue()); });
  for (Expr size : func.getDomain().getSizes())
    check(size);
  func.walk([&](Operation *op) {
    auto tracker = op->getAttrOfType<TrackerAttr>("tracker");
    if (!tracker)
      return;
    view::ShapeTracker value = tracker.getValue();
    check(value.at().index);
    // The last view is reached by the axes of the domain, any other by one number that counts all of its points.
    for (const view::View &view : llvm::ArrayRef(value.views()).drop_back())
      check(view.size());
    const view::View &last = value.views().back();
    SmallVector<Expr> steps{last.offset()};
    for (auto [size, stride] : llvm::zip(last.shape(), last.strides()))
      steps.push_back(stride * (size - 1));
    int64_t most = 0, least = 0;
    for (Expr step : steps) {
      check(step);
      if (!fits)
        return;
      most += std::max<int64_t>(step.max(), 0);
      least += std::min<int64_t>(step.min(), 0);
    }
    fits &= most <= INT32_MAX && least >= INT32_MIN;
  });
  for (Attribute axis : func.getAxes())
    check(cast<kernel::AxisAttr>(axis).getSize().getValue());
  for (Expr index : func.getIndex().getSizes())
    check(index);
  func.walk([&](kernel::StageOp stage) {
    for (kernel::AxisAttr axis : stage.getLoopAxes())
      check(axis.getSize().getValue());
    for (Expr index : stage.getIndex().getSizes())
      check(index);
    check(stage.getElements());
  });
  Expr shares = 1;
  for (kernel::AxisAttr axis : func.getLoopAxes())
    if (axis.getKind() == AxisKind::Chunk || axis.getKind() == AxisKind::Group)
      shares = shares * axis.getSize().getValue();
  for (Expr elements : func.getScratch().getSizes())
    check(elements * shares);
  return fits;
}

KernelLowering::KernelLowering(kernel::FuncOp func)
    : func_(func), builder_(func), loc_(func.getLoc()), warp_(targetOf(func->getParentOfType<ModuleOp>()).warpItems()) {
  indexType_ = builder_.getIntegerType(fitsInt32(func) ? 32 : 64);
  for (kernel::Walk &walk : kernel::walksOf(func))
    addWalk(std::move(walk));
  for (auto reduce : func.getBody().getOps<kernel::ReduceOp>())
    if (reduce.getBuffer()) {
      held_ = reduce;
      heldLoops_ = kernel::heldLoops(walks_.front(), reduce);
    }
}

void KernelLowering::addWalk(kernel::Walk walk) {
  LoweredWalk lowered{std::move(walk), {}, -1, {}};
  if (lowered.stage)
    lowered.zeros = kernel::axesPastEnd(lowered.stage);
  for (kernel::AxisAttr axis : lowered.axes) {
    size_t id = axis.getId();
    if (id >= axes_.size()) {
      axes_.resize(id + 1);
      variables_.resize(id + 1);
    }
    axes_[id] = axis;
    variables_[id] = kernel::loopVariable(axis);
    if (axis.getKind() == AxisKind::Lane)
      lowered.lane = axis.getId();
  }
  for (auto [index, size] : llvm::zip(lowered.index, func_.getDomain().getSizes())) {
    // An axis that was never split cannot leave the domain: its loop runs to the domain's size.
    bool whole = index.kind() == Expr::Kind::Var && kernel::loopAxisOf(index) >= 0 &&
                 view::provablyEqual(func_.getLoopAxis(kernel::loopAxisOf(index)).getSize().getValue(), size);
    Expr inside = view::less(index, size);
    if (!whole && !inside.isConst(1) && !kernel::hasMatrices(lowered))
      lowered.guards.push_back(inside);
  }
  walks_.push_back(std::move(lowered));
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

void KernelLowering::addVariables(Expr expr, AxisSet &axes) const {
  expr.forEachVariable([&](Expr variable) {
    if (int64_t id = kernel::loopAxisOf(variable); id >= 0)
      axes.set(id);
  });
}

AxisSet KernelLowering::axesOfTracker(const view::ShapeTracker &tracker) const {
  AxisSet axes = none();
  view::Index where = tracker.at(kernel::positionOf(walk().index, tracker));
  addVariables(where.index, axes);
  addVariables(where.valid, axes);
  // A point outside the domain is not read, so a guard on an axis that is read counts too.
  for (Expr guard : walk().guards) {
    AxisSet guarded = none();
    addVariables(guard, guarded);
    if (guarded.anyCommon(axes))
      axes |= guarded;
  }
  return axes;
}

const AxisSet &KernelLowering::axesOf(Value value) {
  if (auto known = axesOf_.find(walked(value)); known != axesOf_.end())
    return *known->second;
  AxisSet axes = none();
  Operation *op = value.getDefiningOp();
  if (auto stage = dyn_cast<kernel::StageOp>(op)) {
    for (auto [axis, base] : llvm::enumerate(stage.getBase())) {
      addVariables(base, axes);
      if (kernel::dependsOn(stage, axis))
        addVariables(walk().index[axis], axes);
    }
    return *(axesOf_[walked(value)] = std::make_unique<AxisSet>(axes));
  }
  if (auto tracker = op->getAttrOfType<TrackerAttr>("tracker"))
    axes = axesOfTracker(tracker.getValue());
  for (Value operand : op->getOperands())
    if (operand.getDefiningOp())
      axes |= axesOf(operand);
  if (auto reduce = dyn_cast<kernel::ReduceOp>(op))
    for (int64_t axis : reduce.getAxes())
      axes.reset(axis);
  return *(axesOf_[walked(value)] = std::make_unique<AxisSet>(axes));
}

bool KernelLowering::isBound(int64_t axis) const {
  Expr variable = variableOf(axis);
  return llvm::any_of(scopes_, [&](const std::unique_ptr<Scope> &scope) {
    return scope->variables.contains(variable) || scope->substitutions.contains(variable);
  });
}

bool KernelLowering::isUnrolled(int64_t axis) const {
  AxisKind kind = axisOf(axis).getKind();
  return (kind == AxisKind::Upcast || kind == AxisKind::Lane) && !isBound(axis);
}

SmallVector<int64_t> KernelLowering::unrolledAxes(const AxisSet &axes) const {
  SmallVector<int64_t> unrolled;
  for (kernel::AxisAttr axis : walk().axes)
    if (axes.test(axis.getId()) && axis.getId() != walk().lane && isUnrolled(axis.getId()))
      unrolled.push_back(axis.getId());
  return unrolled;
}

bool KernelLowering::hasLanes(const AxisSet &axes) const {
  int64_t lane = walk().lane;
  return lane >= 0 && axes.test(lane) && isUnrolled(lane);
}

int64_t KernelLowering::sizeOf(int64_t axis) const { return axisOf(axis).getSize().getValue().constant(); }

SmallVector<int64_t> KernelLowering::sizesOf(ArrayRef<int64_t> axes) const {
  return llvm::map_to_vector(axes, [&](int64_t axis) { return sizeOf(axis); });
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

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
  // In a branch that tests a guard, what the guard is about stays there: each of the two copies runs when it is needed.
  size_t depth = depthOf(axes);
  for (size_t scope = depth + 1; scope < scopes_.size(); ++scope)
    for (Expr guard : scopes_[scope]->tested) {
      AxisSet guarded = none();
      addVariables(guard, guarded);
      if (guarded.anyCommon(axes))
        depth = scope;
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

void KernelLowering::inScope(size_t depth, llvm::function_ref<void()> body) {
  std::vector<std::unique_ptr<Scope>> inner(std::make_move_iterator(scopes_.begin() + depth + 1),
                                            std::make_move_iterator(scopes_.end()));
  scopes_.resize(depth + 1);
  body();
  scopes_.insert(scopes_.end(), std::make_move_iterator(inner.begin()), std::make_move_iterator(inner.end()));
}

bool KernelLowering::mayEndEarly(int64_t axis) {
  // Readers end their own loops where the domain does, so a stage need not be filled further in steps that are theirs.
  // In others it might hold nothing where their lanes or unrolled points still read.
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

Expr KernelLowering::endOf(int64_t axis, ArrayRef<int64_t> inside, SmallVector<Expr> &settled, Expr &trips) {
  Expr end = axisOf(axis).getSize().getValue(), variable = variableOf(axis);
  // Items that meet at barriers walk the same loops, and the last step of a held loop is known by its number.
  bool isShared = llvm::any_of(axes_, [](auto other) { return other && other.getKind() == AxisKind::Item; });
  if (isShared || llvm::is_contained(heldLoops_, axis) || !mayEndEarly(axis))
    return end;
  for (auto [index, size] : llvm::zip(walk().index, func_.getDomain().getSizes())) {
    Expr guard = view::less(index, size), rest = fix(index, axis, 0), step = fix(index, axis, 1) - rest;
    if (!llvm::is_contained(walk().guards, guard) || !step.isConst() || step.constant() < 1 ||
        !view::provablyEqual(index - rest, variable * step))
      continue;
    if (!step.isConst(1)) { // tiles that begin past the end have nothing in them; of the last one each point is tested
      Expr begin = rest;
      rest.forEachVariable([&](Expr other) {
        if (int64_t id = kernel::loopAxisOf(other); id >= 0 && (!isBound(id) || llvm::is_contained(inside, id)))
          begin = begin.substitute({{other, 0}});
      });
      if ((rest - begin).min() >= 0)
        end = view::minimum(end, resolve(view::ceilDiv(size - begin, step)));
      continue;
    }
    AxisSet around = none();
    addVariables(rest, around);
    // A loop that is opened again inside is not where it stands around.
    auto isKnown = [&](unsigned other) { return isBound(other) && !llvm::is_contained(inside, other); };
    if (!llvm::all_of(around.set_bits(), isKnown))
      continue;
    end = view::minimum(end, resolve(size - rest));
    settled.push_back(guard);
    Expr parts = 1;
    for (unsigned other : around.set_bits())
      parts = parts * axisOf(other).getSize().getValue();
    trips = view::ceilDiv(size, view::maximum(parts, 1));
  }
  return end;
}

uop::RangeOp KernelLowering::openLoop(int64_t axis, ValueRange inits, bool reduce, ArrayRef<int64_t> inside) {
  kernel::AxisAttr attr = axisOf(axis);
  SmallVector<Expr> settled;
  Expr trips;
  Value from = constant(indexType_, 0), to = index(endOf(axis, inside, settled, trips));
  auto range = uop::RangeOp::create(here(), loc_, from, to, inits, nextLoop_++, reduce);
  trips_[range] = settled.empty() ? attr.getSize().getValue() : trips;
  auto scope = std::make_unique<Scope>();
  scope->block = &range.getBody().front();
  scope->variables[kernel::loopVariable(attr)] = range.getIndex();
  scope->tested = settled;
  scope->inside = !settled.empty();
  scope->outerBefore = std::exchange(scopes_.back()->before, range);
  scopes_.push_back(std::move(scope));
  return range;
}

void KernelLowering::closeLoop(ValueRange yields) {
  for (llvm::unique_function<void()> &emit : scopes_.back()->last)
    emit();
  uop::YieldOp::create(here(), loc_, yields);
  Operation *outerBefore = scopes_.back()->outerBefore;
  scopes_.pop_back();
  scopes_.back()->before = outerBefore;
}

void KernelLowering::inBranches(Expr test, llvm::function_ref<void(bool)> body) {
  Value condition = this->condition(test);
  auto branch = uop::IfOp::create(here(), loc_, condition);
  for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()}) {
    auto scope = std::make_unique<Scope>();
    scope->block = &region->emplaceBlock();
    scope->outerBefore = std::exchange(scopes_.back()->before, branch);
    scopes_.push_back(std::move(scope));
    body(region == &branch.getThenRegion());
    closeLoop({});
  }
}

const Scope *KernelLowering::testOf(Expr guard) const {
  AxisSet axes = none();
  addVariables(guard, axes);
  for (const std::unique_ptr<Scope> &scope : llvm::reverse(scopes_)) {
    if (llvm::is_contained(scope->tested, guard))
      return scope.get();
    // A loop that is opened again for a reduce goes over points that were not tested.
    if (llvm::any_of(axes.set_bits(), [&](unsigned axis) { return scope->variables.contains(variableOf(axis)); }))
      return nullptr;
  }
  return nullptr;
}

bool KernelLowering::holdsForReaders(Expr guard) const {
  if (!walk().stage)
    return false;
  SmallVector<int64_t> own, last;
  for (kernel::AxisAttr axis : walk().axes) {
    Expr size = axis.getSize().getValue();
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
    tests.push_back(resolve(fix(guard, several, last)));
  }
  Expr test = view::logicalAnd(tests);
  if (test.isConst(1)) {
    Scope &scope = *scopes_.back();
    if (!guards.empty()) {
      scope.tested = guards;
      scope.inside = true;
    }
    return body();
  }
  inBranches(test, [&](bool isInside) {
    scopes_.back()->tested = guards;
    scopes_.back()->tests = tests;
    scopes_.back()->inside = isInside;
    body();
  });
}

//===----------------------------------------------------------------------===//
// Index math
//===----------------------------------------------------------------------===//

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

view::Index KernelLowering::indexAt(const view::ShapeTracker &tracker, AxisSet axes) const {
  view::Index where = tracker.at(kernel::positionOf(walk().index, tracker));
  addVariables(where.index, axes);
  addVariables(where.valid, axes);
  Expr valid = resolve(view::logicalAnd({where.valid, guardOf(axes)}));
  return {view::simplifyUnder(resolve(where.index), valid), valid};
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

Value KernelLowering::indexOp(Expr expr, size_t depth) {
  Type boolean = builder_.getI1Type();
  SmallVector<Expr> operands(expr.operands());
  auto fold = [&](Alu kind, Type type) {
    // Outer terms first: what does not change in a loop is summed before it.
    Value value;
    for (size_t where = 0; where <= depth; ++where)
      for (Expr operand : operands) {
        if (depthOf(operand) != where)
          continue;
        Value next = index(operand);
        value = value ? alu(kind, {value, next}, type, where) : next;
      }
    return value;
  };
  // A constant last: what differs by one only, as the rows of a register tile do, shares the rest, and the constant is
  // the displacement of an address.
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
    // -i < 0 is 0 < i, which addresses have.
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

Value KernelLowering::laneCondition(Expr expr, size_t depth, Value inside) {
  Type boolean = builder_.getI1Type();
  llvm::DenseMap<Expr, Value> known;
  SmallVector<Value> values;
  for (int64_t lane = 0; lane < lanes(); ++lane) {
    Expr one = atLane(expr, lane);
    Value &value = known[one];
    if (!value && one.isConst())
      value = inside && one.isConst(1) ? inside : constant(boolean, one.constant());
    else if (!value)
      value = inside ? alu(Alu::AND, {index(one), inside}, boolean, depth) : index(one);
    values.push_back(value);
  }
  return uop::VectorizeOp::create(at(depth), loc_, VectorType::get({lanes()}, boolean), values);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

void KernelLowering::createFunction() {
  SmallVector<Type> types;
  for (Type type : func_.getArgumentTypes())
    types.push_back(
        uop::PtrType::get(builder_.getContext(), cast<kernel::BufferType>(type).getElement(), uop::Memory::Global));
  types.append(func_.getSizes().getSizes().size(), indexType_);
  DimsAttr nothing = DimsAttr::get(builder_.getContext(), {});
  ExprAttr zero = ExprAttr::get(builder_.getContext(), 0);
  out_ = uop::FuncOp::create(builder_, loc_, func_.getName(), builder_.getFunctionType(types, {}), nullptr, nullptr,
                             func_.getSizesAttr(), nothing, builder_.getDenseI64ArrayAttr({}), zero, zero);
  Block *body = builder_.createBlock(&out_.getBody());
  for (Type type : types)
    body->addArgument(type, loc_);
  scopes_.push_back(std::make_unique<Scope>());
  scopes_.back()->block = body;
  for (auto [index, argument] : llvm::enumerate(func_.getBody().getArguments()))
    pointers_[argument] = body->getArgument(index);
  for (auto [index, symbol] : llvm::enumerate(func_.getSizes().getSizes()))
    scopes_.back()->variables[symbol] = body->getArgument(func_.getNumArguments() + index);
}

/// A launch counts its chunks in one row, of which each chunk axis is a part.
void KernelLowering::bindChunks(SmallVector<Expr> &grid, SmallVector<int64_t> &local) {
  SmallVector<kernel::AxisAttr> chunks;
  Expr total = 1;
  for (kernel::AxisAttr axis : walk().axes)
    if (axis.getKind() == AxisKind::Chunk) {
      chunks.push_back(axis);
      total = total * axis.getSize().getValue();
    }
  if (chunks.empty())
    return;
  Expr chunk = chunks.size() == 1 ? kernel::loopVariable(chunks.front())
                                  : Expr::variable("_chunk", 0, std::max<int64_t>(total.max() - 1, 0));
  auto kind = uop::SpecialKindAttr::get(builder_.getContext(), uop::SpecialKind::Chunk);
  scopes_.front()->variables[chunk] =
      uop::SpecialOp::create(at(0), loc_, indexType_, kind, builder_.getI64IntegerAttr(grid.size()),
                             ExprAttr::get(builder_.getContext(), total));
  grid.push_back(total);
  local.push_back(1);
  if (chunks.size() == 1)
    return;
  for (kernel::AxisAttr axis : llvm::reverse(chunks)) {
    Expr size = axis.getSize().getValue();
    scopes_.front()->substitutions[kernel::loopVariable(axis)] =
        axis == chunks.front() ? chunk : view::mod(chunk, size);
    chunk = view::floorDiv(chunk, size);
  }
}

void KernelLowering::bindParallelAxes() {
  SmallVector<Expr> grid;
  SmallVector<int64_t> local;
  auto bind = [&](kernel::AxisAttr axis, uop::SpecialKind kind, int64_t dimension) {
    auto kindAttr = uop::SpecialKindAttr::get(builder_.getContext(), kind);
    scopes_.front()->variables[kernel::loopVariable(axis)] = uop::SpecialOp::create(
        at(0), loc_, indexType_, kindAttr, builder_.getI64IntegerAttr(dimension), axis.getSize());
  };
  // A GPU counts its first axis fastest: what lies innermost comes first, so that neighbours in memory are neighbours.
  for (kernel::AxisAttr axis : llvm::reverse(walk().axes))
    if (axis.getKind() == AxisKind::Group) {
      bind(axis, uop::SpecialKind::Group, grid.size());
      grid.push_back(axis.getSize().getValue());
      local.push_back(1);
    }
  bindChunks(grid, local);
  size_t dimension = 0;
  for (kernel::AxisAttr axis : llvm::reverse(walk().axes))
    if (axis.getKind() == AxisKind::Item) {
      if (dimension == grid.size()) {
        grid.push_back(1);
        local.push_back(1);
      }
      bind(axis, uop::SpecialKind::Local, dimension);
      local[dimension++] = axis.getSize().getValue().constant();
    }
  out_.setGridAttr(DimsAttr::get(builder_.getContext(), grid));
  out_.setLocal(local);
}

bool KernelLowering::isReduced(int64_t axis) {
  return llvm::any_of(func_.getBody().getOps<kernel::ReduceOp>(),
                      [&](kernel::ReduceOp reduce) { return llvm::is_contained(reduce.getAxes(), axis); });
}

void KernelLowering::emitStores() {
  // Stores that walk the same loops share them.
  llvm::MapVector<ArrayAttr, SmallVector<kernel::StoreOp>> nests;
  for (auto store : func_.getBody().getOps<kernel::StoreOp>()) {
    AxisSet axes = axesOfTracker(store.getTracker().getValue());
    axes |= axesOf(store.getValue());
    SmallVector<int64_t> loops;
    for (kernel::AxisAttr axis : walk().axes)
      if (axis.getKind() == AxisKind::Loop && (axes.test(axis.getId()) || llvm::is_contained(heldLoops_, axis.getId())))
        loops.push_back(axis.getId());
    nests[builder_.getI64ArrayAttr(loops)].push_back(store);
  }
  for (auto &[loops, stores] : nests) {
    roots_ = llvm::map_to_vector(stores, [](kernel::StoreOp store) { return store.getValue(); });
    SmallVector<int64_t> ids;
    for (auto axis : loops.getAsValueRange<IntegerAttr>())
      ids.push_back(axis.getSExtValue());
    inLoops(ids, [&, &stores = stores] { emitNest(stores); });
  }
}

bool KernelLowering::beginsNest(ArrayRef<int64_t> loops, size_t at) {
  auto isShared = [&](int64_t axis) { return isReduced(axis) && !llvm::is_contained(heldLoops_, axis); };
  if (llvm::any_of(loops.take_front(at), isShared))
    return false;
  auto isBefore = [&](kernel::ReduceOp reduce) {
    const AxisSet &axes = axesOf(reduce.getResult());
    return (at == 0 || axes.test(loops[at - 1])) &&
           llvm::none_of(loops.drop_front(at), [&](int64_t axis) { return axes.test(axis); });
  };
  return isShared(loops[at]) || llvm::any_of(func_.getBody().getOps<kernel::ReduceOp>(), isBefore);
}

void KernelLowering::inLoops(ArrayRef<int64_t> loops, llvm::function_ref<void()> body) {
  SmallVector<ArrayRef<int64_t>> nests;
  size_t begin = 0;
  for (size_t at = 0; at < loops.size(); ++at)
    if (beginsNest(loops, at)) {
      nests.push_back(loops.slice(begin, at - begin));
      begin = at;
    }
  nests.push_back(loops.drop_front(begin));
  inNests(nests, body);
}

void KernelLowering::inNests(ArrayRef<ArrayRef<int64_t>> nests, llvm::function_ref<void()> body) {
  for (int64_t axis : nests.front())
    openLoop(axis, {}, /*reduce=*/false);
  atEdges([&] { nests.size() == 1 ? body() : inNests(nests.drop_front(), body); });
  for (size_t i = 0; i < nests.front().size(); ++i)
    closeLoop({});
}

void KernelLowering::emitNest(ArrayRef<kernel::StoreOp> stores) {
  auto storeAll = [&] {
    for (kernel::StoreOp store : stores)
      emitStore(store);
  };
  if (heldLoops_.empty())
    return storeAll();
  // Totals go back to memory until the last step of the held loops completes them.
  Tile totals = emit(held_.getResult());
  SmallVector<Expr> last;
  for (int64_t axis : heldLoops_)
    last.push_back(view::greaterEqual(variableOf(axis), axisOf(axis).getSize().getValue() - 1));
  Expr isLast = view::logicalAnd(last);
  if (isLast.isConst(1))
    return storeAll();
  inBranches(isLast, [&](bool isComplete) {
    if (isComplete)
      storeAll();
    else
      storeTile(totals, pointers_.at(held_.getBuffer()), {heldIndex(held_), 1}, axesOf(held_.getResult()));
  });
}

uop::FuncOp KernelLowering::run() {
  createFunction();
  bindParallelAxes();
  emitStores();
  uop::YieldOp::create(at(0), loc_);
  out_.setOperationsAttr(ExprAttr::get(builder_.getContext(), countOperations(out_, trips_)));
  out_.setBytesAttr(ExprAttr::get(builder_.getContext(), countBytes(func_)));
  ModelCost cost = modelCostOf(func_, targetOf(func_->getParentOfType<ModuleOp>()));
  out_->setAttr(uop::kModelOperations, ExprAttr::get(builder_.getContext(), cost.operations));
  out_->setAttr(uop::kExpectedPicoseconds, ExprAttr::get(builder_.getContext(), cost.picoseconds));
  return out_;
}
