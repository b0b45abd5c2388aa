#include "ir/kernel/Walk.h"

#include "ir/kernel/MatrixProduct.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;

/// The most values that one item holds at once: more would not fit into registers, and take long to write down.
static constexpr int64_t kMostUnrolled = 1024, kMostLanes = 256, kMostElements = 1 << 14;
/// An axis's number is an index of tables.
static constexpr int64_t kMostAxes = 1 << 10;

size_t Walk::positionOf(int64_t id) const {
  return llvm::find_if(axes, [&](AxisAttr axis) { return axis.getId() == id; }) - axes.begin();
}

static void collect(Operation *op, llvm::SetVector<Operation *> &operations) {
  if (!op || operations.contains(op))
    return;
  if (!isa<StageOp>(op))
    for (Value operand : op->getOperands())
      collect(operand.getDefiningOp(), operations);
  operations.insert(op);
}

llvm::SetVector<Operation *> Walk::operations() const {
  llvm::SetVector<Operation *> operations;
  for (Value result : results)
    collect(result.getDefiningOp(), operations);
  return operations;
}

Walk kernel::walkOf(FuncOp func) {
  Walk walk{nullptr, func.getLoopAxes(), SmallVector<Expr>(func.getIndex().getSizes()), {}};
  for (auto store : func.getBody().getOps<StoreOp>())
    walk.results.push_back(store.getValue());
  return walk;
}

Walk kernel::walkOf(StageOp stage) {
  return {stage, stage.getLoopAxes(), SmallVector<Expr>(stage.getIndex().getSizes()), {stage.getInput()}};
}

SmallVector<Walk> kernel::walksOf(FuncOp func) {
  SmallVector<Walk> walks{walkOf(func)};
  for (auto stage : func.getBody().getOps<StageOp>())
    walks.push_back(walkOf(stage));
  return walks;
}

bool kernel::hasItems(const Walk &walk) {
  return llvm::any_of(walk.axes, [](AxisAttr axis) { return axis.getKind() == AxisKind::Item; });
}

//===----------------------------------------------------------------------===//
// Dependence
//===----------------------------------------------------------------------===//

llvm::DenseSet<int64_t> kernel::axesOf(Expr expr) {
  llvm::DenseSet<int64_t> axes;
  expr.forEachVariable([&](Expr variable) {
    if (int64_t id = loopAxisOf(variable); id >= 0)
      axes.insert(id);
  });
  return axes;
}

bool kernel::dependsOn(StageOp stage, size_t domainAxis) {
  // Its index goes only along the axes that it is summed up along.
  return !stage.getBase()[domainAxis].isConst(0) ||
         llvm::any_of(stage.getParts(), [&](PartAttr part) { return part.getAxis() == int64_t(domainAxis); });
}

const llvm::DenseSet<int64_t> &kernel::WalkAxes::of(Operation *op) {
  if (auto found = known_.find(op); found != known_.end())
    return *found->second;
  auto axes = std::make_unique<llvm::DenseSet<int64_t>>();
  auto add = [&](Expr expr) { axes->insert_range(axesOf(expr)); };
  if (auto stage = dyn_cast<StageOp>(op)) {
    for (auto [axis, base] : llvm::enumerate(stage.getBase())) {
      add(base);
      if (dependsOn(stage, axis))
        add(walk_.index[axis]);
    }
    return *(known_[op] = std::move(axes));
  }
  for (Value operand : op->getOperands())
    if (Operation *source = operand.getDefiningOp())
      axes->insert_range(of(source));
  if (auto tracker = op->getAttrOfType<TrackerAttr>("tracker")) {
    view::Index where = tracker.getValue().at(positionOf(walk_.index, tracker.getValue()));
    add(where.index);
    add(where.valid);
  }
  if (auto reduce = dyn_cast<ReduceOp>(op))
    for (int64_t axis : reduce.getAxes())
      axes->erase(axis);
  return *(known_[op] = std::move(axes));
}

llvm::DenseSet<int64_t> kernel::axesOf(const Walk &walk, Value value) {
  return value.getDefiningOp() ? WalkAxes(walk).of(value.getDefiningOp()) : llvm::DenseSet<int64_t>();
}

llvm::DenseSet<int64_t> kernel::totalsAxes(const Walk &walk, ReduceOp reduce) {
  llvm::DenseSet<int64_t> axes = axesOf(walk, reduce.getResult());
  bool isAround = false;
  for (AxisAttr axis : llvm::reverse(walk.axes)) {
    bool isLoop = axis.getKind() == AxisKind::Loop && !llvm::is_contained(reduce.getAxes(), axis.getId());
    isAround |= isLoop && axes.contains(axis.getId());
    if (isLoop && isAround)
      axes.insert(axis.getId());
  }
  return axes;
}

SmallVector<int64_t> kernel::heldLoops(const Walk &walk, ReduceOp reduce) {
  llvm::DenseSet<int64_t> kept = axesOf(walk, reduce.getResult());
  SmallVector<int64_t> held;
  bool outside = false; // whether a loop of the result comes further in
  for (AxisAttr axis : llvm::reverse(walk.axes)) {
    if (axis.getKind() != AxisKind::Loop)
      continue;
    outside |= kept.contains(axis.getId());
    if (outside && llvm::is_contained(reduce.getAxes(), axis.getId()))
      held.insert(held.begin(), axis.getId());
  }
  return held;
}

int64_t kernel::loopAhead(StageOp stage) {
  llvm::DenseSet<int64_t> around;
  for (Expr base : stage.getBase())
    around.insert_range(axesOf(base));
  std::optional<Walk> readers;
  for (Walk &walk : walksOf(stage->getParentOfType<FuncOp>()))
    if (walk.operations().contains(stage)) {
      if (readers)
        return -1;
      readers = std::move(walk);
    }
  if (!readers)
    return -1;
  // Loops that a reduce goes through are opened inside the others, except where they hold its totals.
  auto isReduced = [&](int64_t id) {
    return llvm::any_of(readers->operations(), [&](Operation *op) {
      auto reduce = dyn_cast<ReduceOp>(op);
      return reduce && llvm::is_contained(reduce.getAxes(), id);
    });
  };
  int64_t innermost = -1;
  for (AxisAttr axis : readers->axes)
    if (axis.getKind() == AxisKind::Loop && around.contains(axis.getId())) {
      if (innermost >= 0 && isReduced(innermost) && !isReduced(axis.getId()))
        return -1;
      innermost = axis.getId();
    }
  return innermost;
}

//===----------------------------------------------------------------------===//
// Requirements on a kernel's walks
//===----------------------------------------------------------------------===//

static bool isParallel(AxisKind kind) { return kind == AxisKind::Group || kind == AxisKind::Chunk; }
static bool isUnrolled(AxisKind kind) { return kind == AxisKind::Upcast || kind == AxisKind::Lane; }

/// The values held at once must be few, and lanes one axis.
static std::optional<std::string> faultOfUnrolling(const Walk &walk) {
  int64_t unrolled = 1, lanes = 1, laneAxes = 0;
  for (AxisAttr axis : walk.axes) {
    if (!isUnrolled(axis.getKind()))
      continue;
    Expr size = axis.getSize().getValue();
    if (!size.isConst())
      return "axis " + std::to_string(axis.getId()) + " has no fixed size, so that it cannot be unrolled";
    bool isLane = axis.getKind() == AxisKind::Lane;
    laneAxes += isLane;
    int64_t &points = isLane ? lanes : unrolled;
    points = std::min(points, kMostUnrolled) * std::min<int64_t>(size.constant(), kMostUnrolled + 1);
  }
  if (laneAxes > 1)
    return std::string("an axis is lanes already");
  if (unrolled > kMostUnrolled)
    return "more than " + std::to_string(kMostUnrolled) + " points would be unrolled";
  if (lanes > kMostLanes)
    return "a vector would have more than " + std::to_string(kMostLanes) + " lanes";
  if (unrolled * lanes > kMostElements)
    return "vectors of " + std::to_string(lanes) + " lanes for " + std::to_string(unrolled) +
           " unrolled points would have more than " + std::to_string(kMostElements) + " elements";
  return std::nullopt;
}

/// The reduces that end a dependence on `axis` on the way from a value to the results of a walk; null among them:
/// something that is stored, or held, still moves along it.
static void collectReduces(Operation *value, int64_t axis, const llvm::SetVector<Operation *> &operations,
                           llvm::SmallPtrSet<Operation *, 4> &reduces) {
  for (Operation *user : value->getUsers()) {
    auto reduce = dyn_cast<ReduceOp>(user);
    if (reduce && llvm::is_contained(reduce.getAxes(), axis) && operations.contains(user))
      reduces.insert(user);
    else if (user->getNumResults() && !isa<StageOp>(user) && operations.contains(user))
      collectReduces(user, axis, operations, reduces);
    else
      reduces.insert(nullptr);
  }
}

/// An index with the known bounds of loop variables whose axes have no fixed size, in this walk and around it: that
/// they stay within them.
static Expr withinSizes(FuncOp func, Expr index) {
  llvm::DenseMap<Expr, Expr> limited;
  index.forEachVariable([&](Expr variable) {
    AxisAttr axis = loopAxisOf(variable) < 0 ? nullptr : func.getLoopAxis(loopAxisOf(variable));
    if (Expr size = axis ? axis.getSize().getValue() : Expr(1); !size.isConst())
      limited[variable] = Expr::variable(variable.name(), 0, size - 1);
  });
  return limited.empty() ? index : index.substitute(limited);
}

/// Every element that a walk reads of a stage must be held, at a place that is known when it is filled.
static std::optional<std::string> faultOfReading(const Walk &walk, const llvm::SetVector<Operation *> &operations,
                                                 StageOp stage) {
  SmallVector<Expr> base = stage.getBase();
  llvm::DenseSet<int64_t> around;
  if (walk.stage)
    for (Expr expr : walk.stage.getBase())
      around.insert_range(axesOf(expr));
  for (auto [axis, begin] : llvm::enumerate(base)) {
    for (int64_t id : axesOf(begin)) {
      size_t position = walk.positionOf(id);
      if (position == walk.axes.size() ? !around.contains(id) : isUnrolled(walk.axes[position].getKind()))
        return "a stage would be filled inside axis " + std::to_string(id) +
               ", which does not stand around its readers";
      // Items go through the walk of what they hold together, each in steps of its own.
      bool isShared = walk.stage && !walk.stage.getBuffer();
      bool isOfItems = position < walk.axes.size() && (isShared || walk.axes[position].getKind() == AxisKind::Item);
      if (isOfItems && !stage.getBuffer())
        return "a stage would be filled inside axis " + std::to_string(id) + ", whose items fill it together";
      // A loop that is opened inside itself for another reduce would fill the memory that is being read.
      llvm::SmallPtrSet<Operation *, 4> reduces;
      collectReduces(stage, id, operations, reduces);
      if (reduces.size() > 1)
        return "a stage would be filled inside axis " + std::to_string(id) + ", which its readers go through apart";
    }
    if (!dependsOn(stage, axis))
      continue;
    Expr local = withinSizes(stage->getParentOfType<FuncOp>(), walk.index[axis] - begin);
    if (local.min() < 0 || !view::provablyLess(local, stage.reachAlong(axis, walk.axes)))
      return "along axis " + std::to_string(axis) + " of the domain a stage would be read where it holds nothing";
  }
  return std::nullopt;
}

/// Whether the stored or held values of a walk move along a loop axis.
static bool movesAlong(const Walk &walk, int64_t axis) {
  return llvm::any_of(walk.results, [&](Value result) {
    return axesOf(walk, result).contains(axis) || llvm::any_of(result.getUsers(), [&](Operation *user) {
             auto store = dyn_cast<StoreOp>(user);
             if (!store)
               return false;
             view::ShapeTracker tracker = store.getTracker().getValue();
             return axesOf(tracker.at(positionOf(walk.index, tracker)).index).contains(axis);
           });
  });
}

/// Parallel items must not write the same elements: they do on an axis that neither a result nor a sum goes along.
static std::optional<std::string> faultOfParts(const Walk &walk, const llvm::SetVector<Operation *> &operations) {
  for (AxisAttr axis : walk.axes) {
    bool isCut = isParallel(axis.getKind()) || axis.getKind() == AxisKind::Item;
    bool isReduced = llvm::any_of(operations, [&](Operation *op) {
      auto reduce = dyn_cast<ReduceOp>(op);
      return reduce && llvm::is_contained(reduce.getAxes(), axis.getId());
    });
    if (isCut && axis.getSize().getValue().max() > 1 && !isReduced && !movesAlong(walk, axis.getId()))
      return "axis " + std::to_string(axis.getId()) + " cannot be cut into " + stringifyAxisKind(axis.getKind()).str() +
             "s, which would write the same elements";
  }
  return std::nullopt;
}

static std::optional<std::string> faultOfFragments(const Walk &walk) {
  if (!hasFragments(walk) || dotProductOf(walk))
    return std::nullopt;
  if (!hasMatrices(walk))
    return std::string(
        "more than a sum of products that were widened before moves along the terms of a dot instruction");
  if (!matrixProductOf(walk))
    return std::string("fragments are not matrices of a product that a stage holds");
  for (AxisAttr axis : walk.axes) {
    if (!axis.getSize().getValue().isConst())
      return "axis " + std::to_string(axis.getId()) + " beside fragments has no fixed size";
    if (axis.getKind() == AxisKind::Lane)
      return std::string("what matrix instructions make has no lanes");
  }
  return std::nullopt;
}

/// Several buffers are filled ahead of one loop, in places that depend only on the loop's steps.
static std::optional<std::string> faultOfBuffers(FuncOp func, StageOp stage) {
  if (stage.getBufferCount() == 1)
    return std::nullopt;
  int64_t along = stage.getBuffers()->getAxis();
  if (along != loopAhead(stage))
    return "axis " + std::to_string(along) +
           ", ahead of which a stage has several buffers, is not the innermost loop around it of its one walk of "
           "readers";
  // Its sources must exist for the later steps.
  for (Operation *op : walkOf(stage).operations())
    if (auto source = dyn_cast<StageOp>(op))
      for (Expr base : source.getBase())
        if (axesOf(base).contains(along))
          return "a stage of several buffers would be filled from one that holds axis " + std::to_string(along) +
                 "'s present step alone";
  return std::nullopt;
}

/// Matrices and terms are read whole, by their pitch.
static std::optional<std::string> faultOfSwizzle(const Walk &walk, const llvm::SetVector<Operation *> &operations) {
  auto isSwizzled = [](Operation *op) {
    auto stage = dyn_cast<StageOp>(op);
    return stage && stage.getSwizzle();
  };
  if (hasFragments(walk) && (llvm::any_of(operations, isSwizzled) || (walk.stage && isSwizzled(walk.stage))))
    return std::string("what matrix and dot instructions read or make would lie in the units of a swizzle");
  return std::nullopt;
}

static std::optional<std::string> faultOfReduce(const Walk &walk, ReduceOp reduce) {
  for (int64_t axis : reduce.getAxes())
    if (!walk.contains(axis))
      return "a reduce over axis " + std::to_string(axis) + " would stand in another walk than the axis";
  if (!reduce.getBuffer())
    return std::nullopt;
  SmallVector<int64_t> loops = heldLoops(walk, reduce);
  if (loops.empty())
    return std::nullopt;
  if (hasItems(walk))
    return std::string("the items of a group would share totals that are held");
  for (int64_t id : loops)
    if (movesAlong(walk, id))
      return "totals that are held would be read inside axis " + std::to_string(id) + ", before they are complete";
  for (int64_t id : totalsAxes(walk, reduce)) {
    size_t position = walk.positionOf(id);
    if (position == walk.axes.size() || isParallel(walk.axes[position].getKind()))
      continue;
    bool isInside = isUnrolled(walk.axes[position].getKind()) || position > walk.positionOf(loops.front());
    if (isInside && !llvm::is_contained(reduce.getHeld(), id))
      return "points along axis " + std::to_string(id) + " would share totals that are held";
  }
  return std::nullopt;
}

std::optional<std::string> kernel::faultOf(FuncOp func) {
  SmallVector<Walk> walks = walksOf(func);
  llvm::DenseSet<int64_t> ids;
  for (const Walk &walk : walks) {
    if (auto fault = faultOfUnrolling(walk))
      return fault;
    if (auto fault = faultOfFragments(walk))
      return fault;
    for (AxisAttr axis : walk.axes) {
      if (axis.getId() < 0 || axis.getId() >= kMostAxes)
        return "an axis has the number " + std::to_string(axis.getId());
      if (!ids.insert(axis.getId()).second)
        return "there are two axes " + std::to_string(axis.getId());
      if (walk.stage && (isParallel(axis.getKind()) || axis.getKind() == AxisKind::Item))
        return "axis " + std::to_string(axis.getId()) + " of a stage cannot be cut into " +
               stringifyAxisKind(axis.getKind()).str() + "s";
    }
    llvm::SetVector<Operation *> operations = walk.operations();
    if (auto fault = faultOfParts(walk, operations))
      return fault;
    if (auto fault = faultOfSwizzle(walk, operations))
      return fault;
    if (walk.stage)
      if (auto fault = faultOfBuffers(func, walk.stage))
        return fault;
    for (Operation *op : operations) {
      std::optional<std::string> fault;
      if (auto stage = dyn_cast<StageOp>(op))
        fault = faultOfReading(walk, operations, stage);
      else if (auto reduce = dyn_cast<ReduceOp>(op))
        fault = faultOfReduce(walk, reduce);
      if (fault)
        return fault;
    }
    if (!walk.stage || !hasItems(walks.front()))
      continue;
    if (walk.stage.getBuffer())
      return std::string("the items of a group would share the memory of a stage that is a chunk's");
    if (!walk.stage.getElements().isConst())
      return std::string("the items of a group would share memory whose size only a run knows");
  }
  return std::nullopt;
}
