//===- StageValue.cpp - Give a value of a kernel memory of its own --------------------===//
// A value is held for the part of the domain that its readers go through inside one of their axes. The stage's walk
// begins as a copy of theirs, under names of its own, so that later opts can change either without the other. Its
// memory is laid out in the order in which the readers go: loops from the outside in, then unrolled points, lanes last.
//===----------------------------------------------------------------------------===//

#include "passes/optimize/StageValue.h"

#include "passes/optimize/StageMemory.h"

#include "ir/kernel/MatrixProduct.h"
#include "support/Error.h"
#include "target/Target.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;

using AxisIds = llvm::DenseSet<int64_t>;

static llvm::Error refuse(const llvm::Twine &cause) { return kiln::failure(cause); }

int64_t optimize::freshAxis(FuncOp func) {
  int64_t fresh = 0;
  for (const Walk &walk : walksOf(func))
    for (AxisAttr axis : walk.axes)
      fresh = std::max(fresh, axis.getId() + 1);
  return fresh;
}

/// Whether an axis of the readers is walked inside the place of a stage: the opt's axis and those around it are not.
static bool isInside(const Walk &walk, size_t position, int64_t place) {
  switch (walk.axes[position].getKind()) {
  case AxisKind::Chunk:
  case AxisKind::Group:
    return place < 0;
  case AxisKind::Loop:
    return place < 0 || position > walk.positionOf(place);
  case AxisKind::Item:
  case AxisKind::Upcast:
  case AxisKind::Lane:
  case AxisKind::Fragment:
    return true;
  }
  llvm_unreachable("every kind of axis");
}

/// Whether the points of an unrolled axis lie further apart than those of items along the same axis of the domain.
static bool isAroundItems(const Walk &walk, size_t position) {
  auto step = [](Expr index, AxisAttr axis) {
    llvm::DenseMap<Expr, Expr> first{{loopVariable(axis), 0}}, second{{loopVariable(axis), 1}};
    return index.substitute(second) - index.substitute(first);
  };
  AxisAttr unrolled = walk.axes[position];
  for (Expr index : walk.index)
    for (AxisAttr axis : walk.axes)
      if (axis.getKind() == AxisKind::Item && axesOf(index).contains(axis.getId()) &&
          axesOf(index).contains(unrolled.getId()) && view::less(step(index, axis), step(index, unrolled)).isConst(1))
        return true;
  return false;
}

/// The positions of a walk's axes in the order in which memory is laid out over them. Parallel items read neighbours if
/// each item's own values are further apart.
static SmallVector<size_t> layoutOrder(const Walk &walk) {
  auto rank = [&](size_t position) {
    AxisKind kind = walk.axes[position].getKind();
    if (kind == AxisKind::Upcast)
      return isAroundItems(walk, position) ? 1 : 3;
    return kind == AxisKind::Fragment ? 5 : kind == AxisKind::Lane ? 4 : kind == AxisKind::Item ? 2 : 0;
  };
  auto order = llvm::to_vector(llvm::seq<size_t>(0, walk.axes.size()));
  llvm::sort(order, [&](size_t a, size_t b) { return std::pair(rank(a), a) < std::pair(rank(b), b); });
  return order;
}

/// A scratch buffer of the launch, so that the memory planner places it.
static Value addScratch(FuncOp func, Type element, Expr elements) {
  Builder builder(func.getContext());
  Value scratch = func.getBody().addArgument(BufferType::get(func.getContext(), element), func.getLoc());
  func.setFunctionType(builder.getFunctionType(func.getBody().getArgumentTypes(), {}));
  SmallVector<Expr> sizes(func.getScratch().getSizes());
  sizes.push_back(elements);
  func.setScratchAttr(DimsAttr::get(func.getContext(), sizes));
  return scratch;
}

//===----------------------------------------------------------------------===//
// Running totals
//===----------------------------------------------------------------------===//

/// Holds the running totals of the one reduce over the opt's axis.
static llvm::Error holdTotals(FuncOp func, const Walk &walk, int64_t place) {
  SmallVector<ReduceOp> reduces(func.getBody().getOps<ReduceOp>());
  if (reduces.size() != 1 || !llvm::is_contained(reduces.front().getAxes(), place))
    return refuse("the kernel has not just one reduce, over this axis");
  ReduceOp reduce = reduces.front();
  if (hasItems(walk))
    return refuse("the items of a group would share totals that are held");
  if (reduce.getScore())
    return refuse("the largest score would be held beside the totals");
  AxisIds kept = totalsAxes(walk, reduce);
  SmallVector<int64_t> held;
  Expr elements = 1;
  for (size_t position : layoutOrder(walk)) {
    AxisAttr axis = walk.axes[position];
    if (!kept.contains(axis.getId()) || !isInside(walk, position, place))
      continue;
    held.push_back(axis.getId());
    elements = elements * axis.getSize().getValue();
  }
  reduce.getBufferMutable().assign(addScratch(func, reduce.getResult().getType(), elements));
  reduce.setHeld(held);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A value computed from a load alone, and once for each of its elements, is held in place of the load. For `matrices`
/// it is held before it is widened.
static Value computedFrom(LoadOp load, bool matrices) {
  Value value = load.getResult();
  while (value.hasOneUse()) {
    auto user = dyn_cast<AluOp>(*value.getUsers().begin());
    bool isAlone = user && llvm::all_of(user->getOperands(), [&](Value operand) {
                     return operand == value || isa<ConstOp>(operand.getDefiningOp());
                   });
    bool isWidened = matrices && isAlone && user.getKind().getValue() == Alu::CAST &&
                     user.getResult().getType().getIntOrFloatBitWidth() > value.getType().getIntOrFloatBitWidth();
    if (!isAlone || isWidened)
      break;
    value = user.getResult();
  }
  return value;
}

static llvm::Expected<Value> valueOf(FuncOp func, OptAttr opt, const Walk &walk) {
  llvm::SetVector<Operation *> computed = walk.operations();
  if (opt.getIsValue()) {
    int64_t number = 0;
    for (Operation &op : func.getBody().front())
      if (op.getNumResults() && !isa<StageOp>(op) && number++ == opt.getAmount()) {
        if (!computed.contains(&op) || isa<ConstOp>(op))
          return refuse("the value is not computed inside the axis");
        return op.getResult(0);
      }
    return refuse("the kernel has no such value");
  }
  SmallVector<LoadOp> loads;
  for (Operation *op : computed)
    if (auto load = dyn_cast<LoadOp>(op); load && load.getBuffer() == func.getArgument(opt.getAmount()))
      loads.push_back(load);
  if (loads.size() != 1)
    return refuse("the buffer is read in " + llvm::Twine(loads.size()) + " places, not one");
  return computedFrom(loads.front(), hasFragments(walk));
}

namespace {
/// The walk and the memory of a stage while they are made.
struct Held {
  SmallVector<Attribute> axes, layout;
  SmallVector<Expr> index;
  llvm::DenseMap<int64_t, int64_t> renamed; ///< the readers' axes inside
};
} // namespace

/// Whether a dimension of memory and the next one inside are over neighbouring points of one axis.
static bool isOneRun(Attribute outer, PartAttr inner) {
  auto part = cast<PartAttr>(outer);
  return part.getAxis() == inner.getAxis() &&
         view::provablyEqual(inner.getCount().getValue() * inner.getStep(), part.getStep());
}

namespace {
/// The columns of a panel: lanes along an axis of the domain, and the loops around them along the same axis.
struct Panel {
  SmallVector<AxisAttr> loops; ///< from the outside in; none: the memory goes only by the walk's axes
  AxisAttr lanes;
  int64_t steps = 1; ///< contiguous steps of the innermost loop in memory
  int64_t count = 1; ///< panels

  bool isAroundLoop(AxisAttr axis) const { return llvm::is_contained(loops, axis) && axis != loops.back(); }
  bool isLoop(AxisAttr axis) const { return !loops.empty() && axis == loops.back(); }
};
} // namespace

/// The panels of an operand that a whole launch reads, if code for several CPUs does: whatever vectors and chunks are.
static Panel panelOf(const Walk &walk, int64_t place, const AxisIds &kept, int64_t bytes, TargetAttr target) {
  Panel panel;
  auto partOrNull = [&](AxisAttr axis) {
    llvm::Expected<PartAttr> part = optimize::partOf(walk, axis);
    if (part)
      return axis.getSize().getValue().isConst() ? *part : PartAttr();
    llvm::consumeError(part.takeError());
    return PartAttr();
  };
  for (AxisAttr axis : walk.axes)
    if (axis.getKind() == AxisKind::Lane && kept.contains(axis.getId()))
      panel.lanes = axis;
  PartAttr columns = target.getPanel() > 0 && place < 0 && panel.lanes ? partOrNull(panel.lanes) : PartAttr();
  if (!columns)
    return {};
  int64_t width = columns.getCount().getValue().constant(), reach = columns.getStep() * width, total = width;
  for (AxisAttr axis : llvm::reverse(walk.axes)) {
    bool isLoop = axis.getKind() == AxisKind::Loop || axis.getKind() == AxisKind::Chunk;
    if (axis == panel.lanes || !kept.contains(axis.getId()))
      continue;
    PartAttr part = partOrNull(axis);
    if (!part)
      return {};
    if (part.getAxis() != columns.getAxis())
      continue;
    if (!isLoop || part.getStep() != reach)
      return {};
    panel.loops.insert(panel.loops.begin(), axis);
    reach *= axis.getSize().getValue().constant();
    total *= axis.getSize().getValue().constant();
  }
  panel.steps = std::max<int64_t>(1, target.getPanel() / (width * bytes));
  panel.count = llvm::divideCeil(total, panel.steps * width);
  return panel;
}

/// Gives those who fill memory in an instruction's order lanes: along a run of terms, or along columns, with the few
/// terms between these unrolled, so that vectors are woven of them. `fragments`: where they are among the axes.
static void fillByLanes(MutableArrayRef<Attribute> axes, ArrayRef<size_t> fragments, bool isRun) {
  auto axisAt = [&](size_t position) { return cast<AxisAttr>(axes[position]); };
  auto sizeOf = [&](size_t position) { return axisAt(position).getSize().getValue().constant(); };
  auto setKind = [&](size_t position, AxisKind kind) {
    AxisAttr axis = axisAt(position);
    axes[position] = AxisAttr::get(axis.getContext(), axis.getId(), axis.getSize(), kind);
  };
  auto isLane = [](Attribute axis) { return cast<AxisAttr>(axis).getKind() == AxisKind::Lane; };
  bool hasLanes = llvm::any_of(axes, isLane);
  auto canBeLanes = [&](ArrayRef<size_t> positions) {
    return !hasLanes && !positions.empty() && llvm::isPowerOf2_64(sizeOf(positions.back()));
  };
  if (isRun) {
    if (canBeLanes(fragments))
      setKind(fragments.back(), AxisKind::Lane);
    return;
  }
  if (fragments.empty() || sizeOf(fragments.back()) > target::kMostApart)
    return;
  ArrayRef<size_t> around = fragments.drop_back();
  bool becomeLanes = canBeLanes(around);
  if (!hasLanes && !becomeLanes)
    return;
  if (becomeLanes)
    setKind(around.back(), AxisKind::Lane);
  setKind(fragments.back(), AxisKind::Upcast);
}

static llvm::Expected<Held> holdInside(FuncOp func, const Walk &walk, int64_t place, const AxisIds &kept,
                                       const AxisIds &needed, const Panel &panel) {
  Held held;
  bool together = hasItems(walk); // the items of a group share the elements out among them
  llvm::DenseMap<Expr, Expr> own;
  int64_t fresh = optimize::freshAxis(func);
  AxisAttr before;               // the fragment that the last part of the layout is over, as the readers have it
  SmallVector<size_t> fragments; // where they are among the axes
  bool isRun = false;            // the last one is a run of terms
  for (size_t position : layoutOrder(walk)) {
    AxisAttr axis = walk.axes[position];
    if (!needed.contains(axis.getId()) || !isInside(walk, position, place))
      continue;
    // If an instruction here sums up terms, they stay whole.
    bool isTerm = axis.getKind() == AxisKind::Fragment && !kept.contains(axis.getId());
    bool staysUnrolled = axis.getKind() == AxisKind::Upcast || axis.getKind() == AxisKind::Lane || isTerm;
    if (panel.isAroundLoop(axis)) {
      own[loopVariable(axis)] = 0;
      continue;
    }
    bool isColumn = !panel.loops.empty() && axis == panel.lanes;
    Expr size = axis.getSize().getValue();
    size = panel.isLoop(axis) ? Expr(panel.count) : isColumn ? size * panel.steps : size;
    auto copy = AxisAttr::get(func.getContext(), fresh++, ExprAttr::get(func.getContext(), size),
                              staysUnrolled && !together ? axis.getKind() : AxisKind::Loop);
    held.axes.push_back(copy);
    held.renamed[axis.getId()] = copy.getId();
    own[loopVariable(axis)] = panel.isLoop(axis) ? loopVariable(copy) * panel.steps : loopVariable(copy);
    if (!kept.contains(axis.getId())) {
      before = nullptr;
      continue;
    }
    llvm::Expected<PartAttr> part = optimize::partOf(walk, axis);
    if (!part)
      return part.takeError();
    if (panel.isLoop(axis) || isColumn)
      part = PartAttr::get(func.getContext(), part->getAxis(), part->getStep() * (isColumn ? 1 : panel.steps),
                           copy.getSize(), 0);
    // Terms that are neighbours in a matrix are one run of them for those who fill it.
    bool goesOn = before && axis.getKind() == AxisKind::Fragment && isOneRun(held.layout.back(), *part);
    if (goesOn) {
      int64_t count = before.getSize().getValue().constant() * axis.getSize().getValue().constant();
      auto run = ExprAttr::get(func.getContext(), count);
      held.layout.pop_back();
      held.axes.erase(held.axes.end() - 2);
      held.axes.back() = AxisAttr::get(func.getContext(), copy.getId(), run, copy.getKind());
      part = PartAttr::get(func.getContext(), part->getAxis(), part->getStep(), run, 0);
      own[loopVariable(before)] = 0;
      own[loopVariable(axis)] = loopVariable(copy.getId(), count);
    }
    if (axis.getKind() == AxisKind::Fragment) {
      if (goesOn)
        fragments.pop_back();
      fragments.push_back(held.axes.size() - 1);
      isRun = goesOn;
    }
    before = axis.getKind() == AxisKind::Fragment && !goesOn ? axis : AxisAttr();
    held.layout.push_back(*part);
  }
  if (!together)
    fillByLanes(held.axes, fragments, isRun);
  if (llvm::Error error = optimize::checkParts(held.layout))
    return error;
  for (Expr index : walk.index) {
    bool isNeeded = llvm::any_of(axesOf(index), [&](int64_t axis) { return needed.contains(axis); });
    held.index.push_back(isNeeded ? index.substitute(own) : Expr(0));
  }
  return held;
}

/// The axes of the reduces within a value, which go into the stage with it.
static llvm::Expected<AxisIds> reducedFor(const Walk &walk, Value value, ArrayRef<ReduceOp> reduces, int64_t place) {
  AxisIds axes;
  Walk inside = walk;
  inside.results = {value};
  llvm::SetVector<Operation *> computed = inside.operations();
  for (ReduceOp reduce : reduces) {
    bool isOwn = reduce.getResult() == value ||
                 llvm::all_of(reduce->getUsers(), [&](Operation *user) { return computed.contains(user); });
    if (!isOwn)
      return refuse("the value is computed from a sum that others read too: STAGE that first");
    if (reduce.getBuffer())
      return refuse("the value is computed from totals that are held");
    for (int64_t axis : reduce.getAxes()) {
      if (!isInside(walk, walk.positionOf(axis), place))
        return refuse("the value is summed over axis " + llvm::Twine(axis) + ", which is not inside");
      axes.insert(axis);
    }
  }
  return axes;
}

/// A walk with the axes around it that its index depends on.
static Walk withAxesAround(FuncOp func, const Walk &walk) {
  AxisIds needed;
  for (Expr index : walk.index)
    needed.insert_range(axesOf(index));
  SmallVector<AxisAttr> axes;
  for (const Walk &around : walksOf(func))
    for (AxisAttr axis : around.axes)
      if (needed.contains(axis.getId()) && !walk.contains(axis.getId()))
        axes.push_back(axis);
  axes.append(walk.axes);
  return {walk.stage, axes, walk.index, walk.results};
}

namespace {
/// A value, and the tracker through which it is read at its place.
struct Reading {
  Walk walk;
  Value value;
};
} // namespace

/// The value that an opt names, which is computed in the walk that has the opt's axis or for a stage inside the axis.
static llvm::Expected<Reading> readingOf(FuncOp func, OptAttr opt, const Walk &walk) {
  llvm::Expected<Value> value = valueOf(func, opt, walk);
  if (value)
    return Reading{walk, *value};
  for (const Walk &other : walksOf(func)) {
    Walk inside = withAxesAround(func, other);
    if (!other.stage || (opt.getAxis() >= 0 && !inside.contains(opt.getAxis())))
      continue;
    if (llvm::Expected<Value> found = valueOf(func, opt, other)) {
      llvm::consumeError(value.takeError());
      return Reading{inside, *found};
    } else {
      llvm::consumeError(found.takeError());
    }
  }
  return value.takeError();
}

llvm::Error optimize::checkBuffer(FuncOp func, int64_t number) {
  if (number >= 0 && number < func.getNumArguments())
    return llvm::Error::success();
  return kiln::failure("the kernel has no buffer " + llvm::Twine(number),
                       "it has 0 to " + llvm::Twine(int64_t(func.getNumArguments()) - 1) + ", its outputs first");
}

llvm::Error optimize::stageValue(FuncOp func, OptAttr opt, const Walk &around, TargetAttr target) {
  int64_t place = opt.getAxis();
  if (!opt.getIsValue()) {
    if (llvm::Error error = checkBuffer(func, opt.getAmount()))
      return error;
    for (auto store : func.getBody().getOps<StoreOp>())
      if (store.getBuffer() == func.getArgument(opt.getAmount()))
        return place < 0 || around.stage ? refuse("totals are held inside an axis of the kernel's own")
                                         : holdTotals(func, around, place);
  }
  llvm::Expected<Reading> reading = readingOf(func, opt, around);
  if (!reading)
    return reading.takeError();
  const Walk &walk = reading->walk;
  Value value = reading->value;

  Walk inside = walk;
  inside.results = {value};
  SmallVector<ReduceOp> reduces;
  for (Operation *op : inside.operations())
    if (auto reduce = dyn_cast<ReduceOp>(op))
      reduces.push_back(reduce);
  llvm::Expected<AxisIds> reduced = reducedFor(walk, value, reduces, place);
  if (!reduced)
    return reduced.takeError();
  AxisIds kept = axesOf(walk, value), needed = kept;
  needed.insert_range(*reduced);
  Panel panel = panelOf(walk, place, kept, byteSize(value.getType()), target);
  llvm::Expected<Held> held = holdInside(func, walk, place, kept, needed, panel);
  if (!held)
    return held.takeError();

  for (ReduceOp reduce : reduces)
    reduce.setAxes(llvm::map_to_vector(reduce.getAxes(), [&](int64_t axis) { return held->renamed.lookup(axis); }));
  OpBuilder builder(func.getContext());
  builder.setInsertionPointAfterValue(value);
  auto stage =
      StageOp::create(builder, value.getLoc(), value.getType(), value, Value(), builder.getArrayAttr(held->axes),
                      DimsAttr::get(func.getContext(), held->index), builder.getArrayAttr(held->layout), SwizzleAttr(),
                      BuffersAttr(), /*ahead=*/IntegerAttr());
  value.replaceAllUsesExcept(stage.getResult(), stage);
  // Prefetches belonged to the readers' walk.
  for (Operation *op : walkOf(stage).operations())
    op->removeAttr("ahead");
  if (!hasItems(walkOf(func)))
    stage.getBufferMutable().assign(addScratch(func, value.getType(), stage.getElements()));
  return llvm::Error::success();
}
