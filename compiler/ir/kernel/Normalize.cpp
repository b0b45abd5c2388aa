//===- Normalize.cpp - Make kernels that do the same look the same -----------===//
// Two kernels are compiled once if they are equal as text, so open choices are settled: axes that continue one
// another in every view become one ([4, 8] read row by row is [32]), axes of one point go, summed axes come last,
// and a name lists the rest: r_49_1280_320. Axes may be joined if all views agree, and all reduces take them
// together.
//===----------------------------------------------------------------------------===//

#include "ir/kernel/Normalize.h"

#include "llvm/ADT/StringExtras.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

/// Drivers derive names of files and of other symbols from it, which must not get too long for them.
static constexpr size_t kLongestName = 100;

static SmallVector<TrackerAttr> trackersOf(FuncOp func) {
  SmallVector<TrackerAttr> trackers;
  func.walk([&](Operation *op) {
    if (auto tracker = op->getAttrOfType<TrackerAttr>("tracker"))
      trackers.push_back(tracker);
  });
  return trackers;
}

static llvm::DenseSet<int64_t> reducedAxes(FuncOp func) {
  llvm::DenseSet<int64_t> reduced;
  for (auto reduce : func.getBody().getOps<ReduceOp>())
    reduced.insert(reduce.getAxes().begin(), reduce.getAxes().end());
  return reduced;
}

/// Whether every reduce runs over both axes or neither.
static bool areReducedTogether(FuncOp func, int64_t a, int64_t b) {
  return llvm::all_of(func.getBody().getOps<ReduceOp>(), [&](ReduceOp reduce) {
    return llvm::is_contained(reduce.getAxes(), a) == llvm::is_contained(reduce.getAxes(), b);
  });
}

/// Whether axis `inner` continues `outer` in a view: one step of outer is a whole row of inner.
static bool continues(const ShapeTracker &tracker, int64_t outer, int64_t inner) {
  auto strides = tracker.realStrides();
  if (!strides[outer] || !strides[inner])
    return false;
  bool full = !tracker.shape()[outer].isConst(1) || !tracker.shape()[inner].isConst(1);
  if (!full)
    return true; // the view does not move along either
  if (strides[inner]->isConst(0))
    return strides[outer]->isConst(0);
  return view::provablyEqual(*strides[outer], tracker.shape()[inner] * *strides[inner]);
}

/// Whether opts lose nothing if two axes become one. A fixed size, which they can split, is not hidden in an unknown
/// one, unless lines of memory that may be short become longer.
static bool areHiddenTogether(ArrayRef<TrackerAttr> trackers, Expr outer, Expr inner, int64_t innerAxis) {
  if (outer.isConst() == inner.isConst())
    return true;
  return outer.isConst() && llvm::any_of(trackers, [&](TrackerAttr tracker) {
           std::optional<Expr> stride = tracker.getValue().realStrides()[innerAxis];
           return stride && stride->isConst(1);
         });
}

Normalization kernel::planNormalization(FuncOp func, ArrayRef<int64_t> order) {
  ArrayRef<Expr> domain = func.getDomain().getSizes();
  auto given = llvm::to_vector(llvm::seq<int64_t>(0, domain.size()));
  if (order.empty())
    order = given;
  llvm::DenseSet<int64_t> reduced = reducedAxes(func);
  Normalization plan;
  for (bool wanted : {false, true})
    for (int64_t axis : order)
      if (reduced.contains(axis) == wanted && !domain[axis].isConst(1))
        plan.order.push_back(axis);
  SmallVector<TrackerAttr> trackers = trackersOf(func);
  for (int64_t axis : plan.order) {
    bool merges = !plan.merged.empty();
    if (merges) {
      int64_t before = plan.merged.back().back();
      merges = areHiddenTogether(trackers, domain[before], domain[axis], axis) &&
               areReducedTogether(func, before, axis) &&
               llvm::all_of(trackers, [&](TrackerAttr tracker) { return continues(tracker.getValue(), before, axis); });
    }
    if (merges) {
      plan.merged.back().push_back(axis);
      plan.sizes.back() = plan.sizes.back() * domain[axis];
    } else {
      plan.merged.push_back({axis});
      plan.sizes.push_back(domain[axis]);
      plan.reduced += reduced.contains(axis);
    }
  }
  return plan;
}

/// The merged axis for these.
static SmallVector<int64_t> axesAfter(const Normalization &plan, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> after;
  for (auto [id, group] : llvm::enumerate(plan.merged))
    if (llvm::is_contained(axes, group.front()))
      after.push_back(id);
  return after;
}

void kernel::setDomain(FuncOp func, ArrayRef<Expr> sizes) {
  MLIRContext *context = func.getContext();
  SmallVector<Attribute> axes;
  SmallVector<Expr> index;
  for (auto [id, size] : llvm::enumerate(sizes)) {
    axes.push_back(AxisAttr::get(context, id, ExprAttr::get(context, size), AxisKind::Loop));
    index.push_back(loopVariable(id, size));
  }
  func.setDomainAttr(DimsAttr::get(context, sizes));
  func.setIndexAttr(DimsAttr::get(context, index));
  func.setAxesAttr(Builder(context).getArrayAttr(axes));
}

/// A reduce over one point: its input, if it has no score. With one, the weight is exp(score - score), which is 1 for
/// finite scores alone.
static Value valueOfOnePoint(ReduceOp reduce) {
  Value input = reduce.getInput(), score = reduce.getScore();
  if (!score)
    return input;
  OpBuilder builder(reduce);
  auto compute = [&](Alu kind, ValueRange operands) -> Value {
    return AluOp::create(builder, reduce.getLoc(), input.getType(), AluKindAttr::get(reduce.getContext(), kind),
                         operands);
  };
  Value below = compute(Alu::ADD, {score, compute(Alu::NEG, score)});
  return compute(Alu::MUL, {input, compute(Alu::EXP, below)});
}

void kernel::applyNormalization(FuncOp func, const Normalization &plan) {
  MLIRContext *context = func.getContext();
  size_t rank = func.getDomain().getSizes().size();
  SmallVector<int64_t> order = plan.order;
  for (size_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(plan.order, axis))
      order.push_back(axis); // size 1: dropped by the reshape below
  func.walk([&](Operation *op) {
    auto attr = op->getAttrOfType<TrackerAttr>("tracker");
    if (!attr)
      return;
    ShapeTracker tracker = attr.getValue();
    bool choosesRow = tracker.shape().size() > rank;
    SmallVector<int64_t> ordered = order;
    if (choosesRow)
      ordered.push_back(rank);
    tracker = tracker.permute(ordered);
    view::Shape shape;
    size_t next = 0;
    for (const auto &group : plan.merged) {
      Expr size = 1;
      for (size_t i = 0; i < group.size(); ++i)
        size = size * tracker.shape()[next++];
      shape.push_back(size);
    }
    if (choosesRow)
      shape.push_back(tracker.shape().back());
    op->setAttr("tracker", TrackerAttr::get(context, tracker.reshape(shape).simplify()));
  });
  setDomain(func, plan.sizes);
  for (auto reduce : llvm::make_early_inc_range(func.getBody().getOps<ReduceOp>())) {
    if (SmallVector<int64_t> axes = axesAfter(plan, reduce.getAxes()); !axes.empty()) {
      reduce.setAxes(axes);
      continue;
    }
    reduce.replaceAllUsesWith(valueOfOnePoint(reduce));
    reduce.erase();
  }
}

namespace {
/// An axis in two, the inner one of `part` points.
struct Split {
  int64_t axis;
  Expr part;
};
} // namespace

/// The exact quotient, if one can be seen.
static std::optional<Expr> quotient(Expr a, Expr b) {
  if (!a.isConst() && !b.isConst(0))
    if (std::optional<Expr> exact = view::exactQuotient(a, b))
      return exact;
  Expr result = view::floorDiv(a, b);
  return view::provablyEqual(result * b, a) ? std::optional(result) : std::nullopt;
}

/// `shape` with an axis in two; of one point each if the view does not move along it.
static view::Shape splitShape(ArrayRef<Expr> whole, const Split &split) {
  view::Shape shape(whole);
  bool isStill = shape[split.axis].isConst(1);
  Expr outer = isStill ? Expr(1) : *quotient(shape[split.axis], split.part);
  shape[split.axis] = outer;
  shape.insert(shape.begin() + split.axis + 1, isStill ? Expr(1) : split.part);
  return shape;
}

static ShapeTracker splitView(const ShapeTracker &tracker, const Split &split) {
  return tracker.reshape(splitShape(tracker.shape(), split)).simplify();
}

/// How a view may have an axis split so as not to divide along it: at those of the view's axes that are nearer memory,
/// if it goes through several of them.
static SmallVector<Split> splitsFor(const ShapeTracker &tracker, int64_t axis) {
  size_t views = tracker.views().size();
  Expr size = tracker.shape()[axis], stride = tracker.views().back().strides()[axis], below = 1;
  SmallVector<Split> splits;
  if (views < 2 || stride.isConst(0) || stride.min() < 0)
    return splits;
  for (Expr inner : llvm::reverse(tracker.views()[views - 2].shape())) {
    below = below * inner;
    std::optional<Expr> part = quotient(below, stride);
    std::optional<Expr> outer = part ? quotient(size, *part) : std::nullopt;
    if (outer && !part->isConst(1) && !outer->isConst(1))
      splits.push_back({axis, *part});
  }
  return splits;
}

static void splitAxis(FuncOp func, const Split &split) {
  MLIRContext *context = func.getContext();
  func.walk([&](Operation *op) {
    if (auto attr = op->getAttrOfType<TrackerAttr>("tracker"))
      op->setAttr("tracker", TrackerAttr::get(context, splitView(attr.getValue(), split)));
  });
  for (auto reduce : func.getBody().getOps<ReduceOp>()) {
    SmallVector<int64_t> axes;
    for (int64_t old : reduce.getAxes()) {
      axes.push_back(old + (old > split.axis));
      if (old == split.axis)
        axes.push_back(split.axis + 1);
    }
    reduce.setAxes(axes);
  }
  setDomain(func, splitShape(func.getDomain().getSizes(), split));
}

/// The splits, one or two, the later axis first, that remove a view, at least one of them of a wanted
/// axis.
static SmallVector<Split> nextSplits(FuncOp func, llvm::function_ref<bool(int64_t)> isWanted) {
  for (TrackerAttr attr : trackersOf(func)) {
    const ShapeTracker &tracker = attr.getValue();
    SmallVector<Split> splits;
    for (int64_t axis : llvm::reverse(llvm::seq<int64_t>(0, func.getDomain().getSizes().size())))
      splits.append(splitsFor(tracker, axis));
    auto helps = [&](const ShapeTracker &after) { return after.views().size() < tracker.views().size(); };
    for (const Split &split : splits)
      if (isWanted(split.axis) && helps(splitView(tracker, split)))
        return {split};
    for (const Split &later : splits)
      for (const Split &earlier : splits)
        if (earlier.axis < later.axis && (isWanted(earlier.axis) || isWanted(later.axis)) &&
            helps(splitView(splitView(tracker, later), earlier)))
          return {later, earlier};
  }
  return {};
}

static void splitWhile(FuncOp func, llvm::function_ref<bool(int64_t)> isWanted) {
  for (SmallVector<Split> splits; !(splits = nextSplits(func, isWanted)).empty();) // each removes a view
    for (const Split &split : splits)
      splitAxis(func, split);
}

void kernel::splitAxes(FuncOp func) {
  splitWhile(func, [](int64_t) { return true; });
}

void kernel::splitReducedAxes(FuncOp func) {
  splitWhile(func, [&](int64_t axis) { return reducedAxes(func).contains(axis); });
}

void kernel::dropUnusedAxis(FuncOp func, int64_t axis) {
  bool used = false;
  func.walk([&](Operation *op) {
    if (auto tracker = op->getAttrOfType<TrackerAttr>("tracker"))
      used |= !tracker.getValue().shape()[axis].isConst(1);
    if (auto reduce = dyn_cast<ReduceOp>(op))
      used |= llvm::is_contained(reduce.getAxes(), axis);
  });
  if (used)
    return;
  MLIRContext *context = func.getContext();
  view::Shape domain(func.getDomain().getSizes()), index(func.getIndex().getSizes());
  SmallVector<Attribute> axes(func.getAxes().begin(), func.getAxes().end());
  domain[axis] = 1;
  index[axis] = 0;
  axes[axis] = AxisAttr::get(context, axis, ExprAttr::get(context, Expr(1)), AxisKind::Loop);
  func.setDomainAttr(DimsAttr::get(context, domain));
  func.setIndexAttr(DimsAttr::get(context, index));
  func.setAxesAttr(ArrayAttr::get(context, axes));
}

std::string kernel::nameOf(FuncOp func) {
  Normalization plan = planNormalization(func);
  std::string name = plan.reduced ? "r" : "E";
  size_t outputs = llvm::range_size(func.getBody().getOps<StoreOp>());
  if (outputs > 1)
    name += std::to_string(outputs);
  for (Expr size : plan.sizes) {
    name += '_';
    for (char c : size.render()) // a symbolic size keeps its letters and digits
      if (llvm::isAlnum(c))
        name += c;
  }
  if (name.size() > kLongestName)
    name.resize(kLongestName);
  return plan.sizes.empty() ? name + "_" : name;
}

std::string kernel::freshNameOf(FuncOp func, llvm::StringSet<> &taken) {
  std::string base = nameOf(func), name = base;
  for (int64_t repeats = 1; !taken.insert(name).second; ++repeats)
    name = base + "n" + std::to_string(repeats);
  return name;
}
