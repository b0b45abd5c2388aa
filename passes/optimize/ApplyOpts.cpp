//===- ApplyOpts.cpp - What each opt does to a kernel ------------------------------===//
// An opt changes how the domain is walked, never what is computed: a split replaces an axis by an outer and an inner
// one in every index expression, a stage puts memory between a load and its readers.
//===----------------------------------------------------------------------------===//

#include "passes/optimize/ApplyOpts.h"

#include "support/Error.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SmallSet.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;

static llvm::Error refuse(OptAttr opt, const llvm::Twine &cause) {
  return failure("opt " + stringifyOptKind(opt.getKind()) + " " + llvm::Twine(opt.getAxis()) + " " +
                 llvm::Twine(opt.getAmount()) + ": " + cause);
}

namespace {
/// The axes of a kernel while they are being changed.
class Axes {
public:
  explicit Axes(FuncOp func) : func_(func), list_(func.getLoopAxes()) {}

  size_t positionOf(int64_t id) const {
    return llvm::find_if(list_, [&](AxisAttr axis) { return axis.getId() == id; }) - list_.begin();
  }
  bool isReduced(int64_t id) const {
    bool reduced = false;
    func_->walk([&](ReduceOp reduce) { reduced |= llvm::is_contained(reduce.getAxes(), id); });
    return reduced;
  }
  AxisAttr operator[](size_t position) const { return list_[position]; }
  size_t size() const { return list_.size(); }
  void swap(size_t a, size_t b) { std::swap(list_[a], list_[b]); }
  void setKind(int64_t id, AxisKind kind) {
    AxisAttr &axis = list_[positionOf(id)];
    axis = AxisAttr::get(func_.getContext(), id, axis.getSize(), kind);
  }
  /// Behind the last loop that is not reduced: where the tiles of such loops go.
  size_t behindLastKept() const {
    size_t position = 0;
    for (size_t i = 0; i < list_.size(); ++i)
      if (list_[i].getKind() == AxisKind::Loop && !isReduced(list_[i].getId()))
        position = i + 1;
    return position;
  }
  /// Splits axis `id` into an outer part of its name and an inner one of `inner` points, put at `position`.
  int64_t split(int64_t id, int64_t inner, AxisKind kind, size_t position);
  void write();

private:
  mutable FuncOp func_;
  SmallVector<AxisAttr> list_;
};
} // namespace

int64_t Axes::split(int64_t id, int64_t inner, AxisKind kind, size_t position) {
  MLIRContext *context = func_.getContext();
  AxisAttr &axis = list_[positionOf(id)];
  int64_t fresh = 0;
  for (AxisAttr other : list_)
    fresh = std::max(fresh, other.getId() + 1);
  Expr size = axis.getSize().getValue(), outer = view::ceilDiv(size, inner);
  llvm::DenseMap<Expr, Expr> parts;
  parts[loopVariable(id, size)] = loopVariable(id, outer) * inner + loopVariable(fresh, inner);
  axis = AxisAttr::get(context, id, ExprAttr::get(context, outer), axis.getKind());
  list_.insert(list_.begin() + position, AxisAttr::get(context, fresh, ExprAttr::get(context, inner), kind));
  SmallVector<Expr> index;
  for (Expr expr : func_.getIndex().getSizes())
    index.push_back(expr.substitute(parts));
  func_.setIndexAttr(DimsAttr::get(context, index));
  for (auto reduce : func_.getBody().getOps<ReduceOp>())
    if (llvm::is_contained(reduce.getAxes(), id)) {
      SmallVector<int64_t> axes(reduce.getAxes());
      axes.push_back(fresh);
      reduce.setAxes(axes);
    }
  return fresh;
}

void Axes::write() {
  SmallVector<Attribute> axes(list_.begin(), list_.end());
  func_.setAxesAttr(ArrayAttr::get(func_.getContext(), axes));
}

using AxisIds = llvm::SmallSet<int64_t, 8>;

static AxisIds axesOf(FuncOp func, Value value, llvm::DenseMap<Operation *, AxisIds> &known) {
  AxisIds axes;
  Operation *op = value.getDefiningOp();
  if (!op)
    return axes;
  if (auto found = known.find(op); found != known.end())
    return found->second;
  for (Value operand : op->getOperands())
    for (int64_t axis : axesOf(func, operand, known))
      axes.insert(axis);
  if (auto tracker = op->getAttrOfType<TrackerAttr>("tracker")) {
    view::Index where = tracker.getValue().at(positionOf(func, tracker.getValue()));
    for (Expr expr : {where.index, where.valid})
      expr.forEachVariable([&](Expr variable) {
        if (int64_t id = loopAxisOf(variable); id >= 0)
          axes.insert(id);
      });
  }
  if (auto reduce = dyn_cast<ReduceOp>(op))
    for (int64_t axis : reduce.getAxes())
      axes.erase(axis);
  return known[op] = axes;
}

/// The loop axes that a value depends on.
static AxisIds axesOf(FuncOp func, Value value) {
  llvm::DenseMap<Operation *, AxisIds> known;
  return axesOf(func, value, known);
}

/// Axes in the order in which a stage's memory is laid out: loops from the outside in, then unrolled points, lanes
/// last.
static SmallVector<int64_t> layoutOrder(const Axes &axes, llvm::function_ref<bool(AxisAttr)> wanted) {
  SmallVector<int64_t> order;
  for (AxisKind kind : {AxisKind::Loop, AxisKind::Item, AxisKind::Upcast, AxisKind::Lane})
    for (size_t i = 0; i < axes.size(); ++i)
      if (axes[i].getKind() == kind && wanted(axes[i]))
        order.push_back(axes[i].getId());
  return order;
}

static bool hasItems(const Axes &axes) {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].getKind() == AxisKind::Item)
      return true;
  return false;
}

/// A scratch buffer of the launch, so that the memory planner places it.
static Value addScratch(FuncOp func, Type element, int64_t elements) {
  Builder builder(func.getContext());
  Value scratch = func.getBody().addArgument(BufferType::get(func.getContext(), element), func.getLoc());
  func.setFunctionType(builder.getFunctionType(func.getBody().getArgumentTypes(), {}));
  SmallVector<int64_t> sizes(func.getScratch());
  sizes.push_back(elements);
  func.setScratch(sizes);
  return scratch;
}

/// The elements of memory over these axes; nullopt when one has no fixed size.
static std::optional<int64_t> elementsOver(FuncOp func, ArrayRef<int64_t> axes) {
  int64_t elements = 1;
  for (int64_t axis : axes) {
    Expr size = func.getLoopAxis(axis).getSize().getValue();
    if (!size.isConst())
      return std::nullopt;
    elements *= size.constant();
  }
  return elements;
}

/// What a value depends on, of the axes that axis `place` has inside it, in the order of a stage's memory.
static SmallVector<int64_t> insideOf(FuncOp func, const Axes &axes, size_t place, Value value) {
  auto depends = axesOf(func, value);
  return layoutOrder(axes, [&](AxisAttr axis) {
    return depends.contains(axis.getId()) &&
           (axis.getKind() != AxisKind::Loop || axes.positionOf(axis.getId()) > place);
  });
}

/// Whether memory is laid out already over an axis, which then can be split no more.
static bool isHeldOver(FuncOp func, int64_t id) {
  for (Operation &op : func.getBody().front()) {
    auto reduce = dyn_cast<ReduceOp>(op);
    if ((isa<StageOp>(op) || (reduce && reduce.getBuffer())) && axesOf(func, op.getResult(0)).contains(id))
      return true;
  }
  return false;
}

/// Holds the running totals of the one reduce over the opt's axis.
static llvm::Error holdTotals(FuncOp func, OptAttr opt, const Axes &axes) {
  if (hasItems(axes))
    return refuse(opt, "the items of a group would share the totals: they are in registers already");
  SmallVector<ReduceOp> reduces(func.getBody().getOps<ReduceOp>());
  if (reduces.size() != 1 || !llvm::is_contained(reduces.front().getAxes(), opt.getAxis()))
    return refuse(opt, "the kernel has not just one reduce, over this axis");
  ReduceOp reduce = reduces.front();
  if (reduce.getScore())
    return refuse(opt, "the largest score would be held beside the totals");
  SmallVector<int64_t> held = insideOf(func, axes, axes.positionOf(opt.getAxis()), reduce.getResult());
  std::optional<int64_t> elements = elementsOver(func, held);
  if (!elements)
    return refuse(opt, "a staged axis has no fixed size");
  reduce.getBufferMutable().assign(addScratch(func, reduce.getResult().getType(), *elements));
  reduce.setHeld(held);
  return llvm::Error::success();
}

/// What is computed from a load alone, and once for each of its elements: that is held, rather than the load.
static Value computedFrom(LoadOp load) {
  Value value = load.getResult();
  while (value.hasOneUse()) {
    auto user = dyn_cast<AluOp>(*value.getUsers().begin());
    bool isAlone = user && llvm::all_of(user->getOperands(), [&](Value operand) {
                     return operand == value || isa<ConstOp>(operand.getDefiningOp());
                   });
    if (!isAlone)
      break;
    value = user.getResult();
  }
  return value;
}

static llvm::Error stage(FuncOp func, OptAttr opt, const Axes &axes) {
  if (opt.getAmount() < 0 || opt.getAmount() >= func.getNumArguments())
    return refuse(opt, "the kernel has no such buffer");
  for (auto store : func.getBody().getOps<StoreOp>())
    if (store.getBuffer() == func.getArgument(opt.getAmount()))
      return holdTotals(func, opt, axes);
  SmallVector<LoadOp> loads;
  for (auto load : func.getBody().getOps<LoadOp>())
    if (load.getBuffer() == func.getArgument(opt.getAmount()))
      loads.push_back(load);
  if (loads.size() != 1)
    return refuse(opt, "the buffer is read in " + llvm::Twine(loads.size()) + " places, not one");
  LoadOp load = loads.front();
  SmallVector<int64_t> order = insideOf(func, axes, axes.positionOf(opt.getAxis()), load.getResult());
  std::optional<int64_t> elements = elementsOver(func, order);
  if (!elements)
    return refuse(opt, "a staged axis has no fixed size");
  Value value = computedFrom(load);
  OpBuilder builder(func.getContext());
  builder.setInsertionPointAfterValue(value);
  Value scratch;
  if (!hasItems(axes))
    scratch = addScratch(func, value.getType(), *elements);
  auto staged =
      StageOp::create(builder, load.getLoc(), value.getType(), value, scratch, builder.getDenseI64ArrayAttr(order));
  value.replaceAllUsesExcept(staged.getResult(), staged);
  return llvm::Error::success();
}

/// The partial results of a reduce, one an item of axis `group`, meet in local memory and are reduced again.
static void meetInLocalMemory(FuncOp func, const Axes &axes, int64_t group) {
  for (auto reduce : llvm::make_early_inc_range(func.getBody().getOps<ReduceOp>())) {
    if (!llvm::is_contained(reduce.getAxes(), group))
      continue;
    SmallVector<int64_t> own;
    for (int64_t axis : reduce.getAxes())
      if (axis != group)
        own.push_back(axis);
    OpBuilder builder(reduce);
    auto partial = ReduceOp::create(builder, reduce.getLoc(), reduce.getInput(), reduce.getKindAttr(),
                                    builder.getDenseI64ArrayAttr(own));
    auto depends = axesOf(func, partial.getResult());
    SmallVector<int64_t> order = layoutOrder(
        axes, [&](AxisAttr axis) { return depends.contains(axis.getId()) && axis.getKind() != AxisKind::Loop; });
    auto staged = StageOp::create(builder, reduce.getLoc(), partial.getResult().getType(), partial.getResult(), Value(),
                                  builder.getDenseI64ArrayAttr(order));
    reduce.getInputMutable().assign(staged.getResult());
    reduce.setAxes({group});
  }
}

llvm::Error optimize::applyOpt(FuncOp func, OptAttr opt) {
  Axes axes(func);
  int64_t id = opt.getAxis(), amount = opt.getAmount();
  size_t position = axes.positionOf(id);
  if (position == axes.size())
    return refuse(opt, "the kernel has no axis " + llvm::Twine(id));
  AxisAttr axis = axes[position];
  bool wholeAxis = opt.getKind() == OptKind::GLOBAL || (opt.getKind() == OptKind::THREAD && amount == 0);
  bool splits = opt.getKind() != OptKind::STAGE && opt.getKind() != OptKind::SWAP && !wholeAxis;
  if (splits && amount < 1)
    return refuse(opt, "the amount must be 1 or more");
  if (wholeAxis && axis.getKind() != AxisKind::Loop)
    return refuse(opt, "the axis is no loop any more");
  if (splits && axis.getKind() != AxisKind::Loop && axis.getKind() != AxisKind::Group)
    return refuse(opt, "the axis is no loop any more");
  // Points past the end of a part would be those of the next part, and computed twice.
  Expr size = axis.getSize().getValue();
  bool isPart = id >= int64_t(func.getDomain().getSizes().size());
  if (splits && isPart && !(size.isConst() && size.constant() % amount == 0))
    return refuse(opt, "the axis is a part of another, of " + size.print() + " points: the amount must divide them");
  if (splits && isHeldOver(func, id))
    return refuse(opt, "memory is laid out over the axis already: splits come before STAGE and GROUP");
  bool reduced = axes.isReduced(id);
  switch (opt.getKind()) {
  case OptKind::UPCAST:
  case OptKind::UNROLL:
    if (reduced != (opt.getKind() == OptKind::UNROLL))
      return refuse(opt, reduced ? "the axis is reduced: UNROLL it" : "the axis is not reduced: UPCAST it");
    axes.split(id, amount, AxisKind::Upcast, axes.size());
    break;
  case OptKind::VECTOR:
    for (size_t i = 0; i < axes.size(); ++i)
      if (axes[i].getKind() == AxisKind::Lane)
        return refuse(opt, "an axis is lanes already");
    axes.split(id, amount, AxisKind::Lane, axes.size());
    break;
  case OptKind::TILE:
    axes.split(id, amount, AxisKind::Loop, reduced ? axes.size() : axes.behindLastKept());
    break;
  case OptKind::THREAD: {
    if (reduced)
      return refuse(opt, "the axis is reduced: its chunks would write the same element");
    if (amount == 0) {
      if (axis.getKind() != AxisKind::Loop)
        return refuse(opt, "the axis is no loop any more");
      axes.setKind(id, AxisKind::Chunk);
      break;
    }
    if (!axis.getSize().getValue().isConst())
      return refuse(opt, "the axis has no fixed size: TILE it, and THREAD it by 0");
    int64_t each = llvm::divideCeil(axis.getSize().getValue().constant(), amount);
    axes.split(id, each, AxisKind::Loop, position + 1);
    axes.setKind(id, AxisKind::Chunk);
    break;
  }
  case OptKind::LOCAL:
    if (reduced)
      return refuse(opt, "the axis is reduced: GROUP it");
    axes.split(id, amount, AxisKind::Item, axes.size());
    break;
  case OptKind::GLOBAL:
    if (reduced)
      return refuse(opt, "the axis is reduced: its groups would write the same element");
    axes.setKind(id, AxisKind::Group);
    break;
  case OptKind::GROUP: {
    if (!reduced)
      return refuse(opt, "the axis is not reduced");
    for (auto reduce : func.getBody().getOps<ReduceOp>())
      if (reduce.getScore() && llvm::is_contained(reduce.getAxes(), id))
        return refuse(opt, "items would go by different largest scores");
    int64_t group = axes.split(id, amount, AxisKind::Item, axes.size());
    axes.write();
    meetInLocalMemory(func, axes, group);
    break;
  }
  case OptKind::SWAP: {
    size_t other = axes.positionOf(amount);
    if (other == axes.size())
      return refuse(opt, "the kernel has no axis " + llvm::Twine(amount));
    axes.swap(position, other);
    break;
  }
  case OptKind::STAGE:
    if (llvm::Error error = stage(func, opt, axes))
      return error;
    break;
  }
  axes.write();
  SmallVector<Attribute> opts(func.getOpts().begin(), func.getOpts().end());
  opts.push_back(opt);
  func.setOptsAttr(ArrayAttr::get(func.getContext(), opts));
  return llvm::Error::success();
}

llvm::Expected<SmallVector<OptAttr>> optimize::parseOpts(MLIRContext *context, llvm::StringRef text) {
  SmallVector<OptAttr> opts;
  SmallVector<llvm::StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts) {
    SmallVector<llvm::StringRef, 3> words;
    part.split(words, ' ', -1, /*KeepEmpty=*/false);
    int64_t axis, amount;
    std::optional<OptKind> kind = words.empty() ? std::nullopt : symbolizeOptKind(words[0]);
    if (!kind || words.size() != 3 || words[1].getAsInteger(10, axis) || words[2].getAsInteger(10, amount))
      return failure("'" + part.trim() + "' is no opt", "write KIND AXIS AMOUNT, for example UPCAST 0 4");
    opts.push_back(OptAttr::get(context, *kind, axis, amount));
  }
  return opts;
}
