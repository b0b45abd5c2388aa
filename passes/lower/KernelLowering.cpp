//===- KernelLowering.cpp - The function, its walks and their axes -----------------===//
//
// A kernel's own walk is the launch: its groups, chunks and items are bound at the top of the function, its other axes
// are loops around the computation of its stores. The axes that a value depends on decide which loops it is in. This
// file finds them; Scopes.cpp opens the loops, IndexMath.cpp writes the places, Emit*.cpp the values.
//
//===----------------------------------------------------------------------===//

#include "passes/lower/KernelLowering.h"

#include "passes/lower/Estimate.h"
#include "passes/lower/IndexRange.h"
#include "passes/lower/ModelCost.h"

#include "ir/base/Target.h"
#include "ir/kernel/AxisLetters.h"
#include "ir/uop/LaunchCost.h"

#include "mlir/IR/BuiltinAttributes.h"

#include "llvm/ADT/DenseSet.h"

using namespace kiln;
using namespace kiln::lower;
using namespace mlir;
using kernel::AxisKind;
using view::Expr;

/// Finds out whether int32 holds an expression and what it is computed from. Sums and products may wrap on the way, as
/// long as their results fit; what is divided, compared or chosen from must fit itself.
class Int32Steps {
public:
  bool fit(Expr expr) { return fitsInt32(expr) && operandsFit(expr); }

private:
  bool operandsFit(Expr expr) {
    if (expr.operands().empty() || !seen_.insert(expr.node()).second)
      return true;
    bool wraps = expr.kind() == Expr::Kind::Add || expr.kind() == Expr::Kind::Mul;
    return llvm::all_of(expr.operands(), [&](Expr operand) { return wraps ? operandsFit(operand) : fit(operand); });
  }

  llvm::DenseSet<const view::ExprNode *> seen_; ///< those whose operands fit, or were found not to
};

/// Index math is int32 where every index and every step towards one fits, and every size that is data.
static bool allFitInt32(kernel::FuncOp func) {
  bool fits = true;
  Int32Steps steps;
  auto check = [&](Expr expr) { fits &= fitsInt32(expr); };
  func.walk([&](kernel::SizeOp op) { fits &= steps.fit(op.getSize().getValue()); });
  for (Expr size : func.getDomain().getSizes())
    check(size);
  func.walk([&](Operation *op) {
    auto tracker = op->getAttrOfType<TrackerAttr>("tracker");
    if (!tracker)
      return;
    view::ShapeTracker value = tracker.getValue();
    view::Index place = value.at();
    fits &= steps.fit(place.index) && steps.fit(place.valid);
    // The last view is reached by the axes of the domain, any other by one number that counts all of its points.
    for (const view::View &view : llvm::ArrayRef(value.views()).drop_back())
      check(view.size());
    const view::View &last = value.views().back();
    SmallVector<Expr> strides{last.offset()};
    for (auto [size, stride] : llvm::zip(last.shape(), last.strides()))
      strides.push_back(stride * (size - 1));
    int64_t most = 0, least = 0;
    for (Expr step : strides) {
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
    // Steps are counted past the last one.
    if (stage.getBufferCount() > 1)
      check(func.getLoopAxis(stage.getBuffers()->getAxis()).getSize().getValue() + stage.getBufferCount());
  });
  Expr shares = 1;
  for (kernel::AxisAttr axis : func.getLoopAxes())
    if (axis.getKind() == AxisKind::Group)
      shares = shares * axis.getSize().getValue();
  for (Expr elements : func.getScratch().getSizes())
    check(elements * shares);
  return fits;
}

KernelLowering::KernelLowering(kernel::FuncOp func)
    : func_(func), builder_(func), loc_(func.getLoc()), target_(targetOf(func->getParentOfType<ModuleOp>())) {
  indexType_ = builder_.getIntegerType(allFitInt32(func) ? 32 : 64);
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
    if (Expr size = axis.getSize().getValue(), variable = variables_[id]; !size.isConst() && !variable.isConst()) {
      Expr limited = Expr::variable(variable.name(), 0, size - 1);
      limited_[variable] = limited;
      unlimited_[limited] = variable;
    }
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

int64_t KernelLowering::sizeOf(int64_t axis) const {
  auto shortened = shortened_.find(axis);
  return shortened == shortened_.end() ? axisOf(axis).getSize().getValue().constant() : shortened->second;
}

SmallVector<int64_t> KernelLowering::sizesOf(ArrayRef<int64_t> axes) const {
  return llvm::map_to_vector(axes, [&](int64_t axis) { return sizeOf(axis); });
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

/// A launch counts its chunks in one row; each chunk axis is a part of it.
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
  // A GPU counts its first axis fastest: the innermost axis comes first, so that neighbours in memory are neighbours.
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
    ifNotEmpty(sizesReadAhead(ids), [&, &stores = stores] { inLoops(ids, [&] { emitNest(stores); }); });
  }
}

SmallVector<Expr> KernelLowering::sizesReadAhead(ArrayRef<int64_t> loops) {
  auto isFixed = [](const view::View &view) { return view.offset().isConst(); };
  llvm::SmallSetVector<Expr, 4> sizes;
  for (Operation &op : func_.getBody().getOps()) {
    auto tracker = op.getAttrOfType<TrackerAttr>("tracker");
    if (!isa<kernel::LoadOp>(op) || !tracker || llvm::all_of(tracker.getValue().views(), isFixed))
      continue;
    for (int64_t axis : loops)
      if (Expr size = axisOf(axis).getSize().getValue(); size.min() < 1 && !axesOf(op.getResult(0)).test(axis))
        sizes.insert(size);
  }
  return sizes.takeVector();
}

void KernelLowering::ifNotEmpty(ArrayRef<Expr> sizes, llvm::function_ref<void()> body) {
  if (sizes.empty())
    return body();
  SmallVector<Expr> positive = llvm::map_to_vector(sizes, [](Expr size) { return view::less(0, size); });
  inBranches(view::logicalAnd(positive), [&](bool hasPoints) {
    scopes_.back()->keepsFrom = 0;
    if (hasPoints)
      body();
  });
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
  ArrayRef<int64_t> loops = nests.front();
  auto inTests = [&] { atEdges([&] { nests.size() == 1 ? inInterior(body) : inNests(nests.drop_front(), body); }); };
  auto inLast = [&] {
    openLoop(loops.back(), {}, /*reduce=*/false);
    inTests();
    closeLoop({});
  };
  if (loops.empty())
    return inTests();
  inOuterLoops(loops.drop_back(), [&] {
    std::optional<RowParts> parts = nests.size() == 1 ? partsOfRow(loops.back()) : std::nullopt;
    if (!parts)
      return inLast();
    atEdges([&] { isAtEdge() ? inLast() : inRowParts(loops.back(), *parts, [&] { inInterior(body); }); });
  });
}

void KernelLowering::inOuterLoops(ArrayRef<int64_t> loops, llvm::function_ref<void()> body) {
  inOneTensor([&] {
    if (loops.empty())
      return body();
    openLoop(loops.front(), {}, /*reduce=*/false);
    inOuterLoops(loops.drop_front(), body);
    closeLoop({});
  });
}

void KernelLowering::emitNest(ArrayRef<kernel::StoreOp> stores) {
  auto storeAll = [&] {
    for (kernel::StoreOp store : stores)
      emitStore(store, store.getValue());
  };
  // Several stores may share sums.
  if (kernel::StoreOp only = stores.front(); heldLoops_.empty() && stores.size() == 1)
    return whereNeeded(only.getValue(), [&](Value value) { emitStore(only, value); });
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
  ModelCost cost = modelCostOf(func_, target_);
  out_->setAttr(uop::kModelOperations, ExprAttr::get(builder_.getContext(), cost.operations));
  out_->setAttr(uop::kExpectedPicoseconds, ExprAttr::get(builder_.getContext(), cost.picoseconds));
  out_->setAttr(uop::kAxes, builder_.getStringAttr(kernel::axisLetters(func_)));
  return out_;
}
