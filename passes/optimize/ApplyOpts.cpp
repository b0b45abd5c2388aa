//===- ApplyOpts.cpp - The effect of each opt on a kernel --------------------------===//
// An opt changes how the domain is walked, never what is computed: a split replaces an axis by an outer and an inner
// one in every index expression, a stage puts memory between a value and its readers (StageValue.cpp). An opt names its
// axis by id, and so the walk that it belongs to: the kernel's own, or a stage's. Whatever it did, the kernel's walks
// must still fit together (kernel::faultOf), which is checked once, at the end.
//===----------------------------------------------------------------------------===//

#include "passes/optimize/ApplyOpts.h"

#include "passes/optimize/StageMemory.h"
#include "passes/optimize/StageValue.h"

#include "ir/kernel/MatrixProduct.h"
#include "support/Error.h"
#include "support/Nearest.h"
#include "target/Target.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;

std::string optimize::textOf(OptAttr opt) {
  if (opt.getKind() == OptKind::LAYOUT) {
    std::string text = "LAYOUT";
    for (auto run : opt.getRuns().getAsRange<RunAttr>()) {
      text += " " + std::to_string(run.getAxis());
      if (run.getPad() != 0)
        text += " PAD " + std::to_string(run.getPad());
      if (run.getWays() != 0)
        text += " XOR " + std::to_string(run.getWays()) + " " + std::to_string(run.getUnit());
    }
    return text;
  }
  std::string axis = opt.getAxis() < 0 ? "-" : std::to_string(opt.getAxis());
  return (stringifyOptKind(opt.getKind()) + " " + axis + (opt.getIsValue() ? " v" : " ") +
          std::to_string(opt.getAmount()))
      .str();
}

static llvm::Error refuse(const llvm::Twine &cause) { return failure(cause); }

namespace {
/// One walk of a kernel while its axes are being changed.
class Axes {
public:
  Axes(FuncOp func, Walk walk) : func_(func), walk_(std::move(walk)) {}

  size_t positionOf(int64_t id) const { return walk_.positionOf(id); }
  bool isReduced(int64_t id) const {
    return llvm::any_of(func_.getBody().getOps<ReduceOp>(),
                        [&](ReduceOp reduce) { return llvm::is_contained(reduce.getAxes(), id); });
  }
  AxisAttr operator[](size_t position) const { return walk_.axes[position]; }
  size_t size() const { return walk_.axes.size(); }
  StageOp stage() const { return walk_.stage; }
  void swap(size_t a, size_t b) { std::swap(walk_.axes[a], walk_.axes[b]); }
  void setKind(int64_t id, AxisKind kind) {
    AxisAttr &axis = walk_.axes[positionOf(id)];
    axis = AxisAttr::get(func_.getContext(), id, axis.getSize(), kind);
  }
  /// After the last loop that is not reduced: the place for the tiles of such loops.
  size_t behindLastKept() const {
    size_t position = 0;
    for (size_t i = 0; i < size(); ++i)
      if (walk_.axes[i].getKind() == AxisKind::Loop && !isReduced(walk_.axes[i].getId()))
        position = i + 1;
    return position;
  }
  /// Splits axis `id` into an outer part of its name and an inner one of `inner` points, put at `position`.
  void split(int64_t id, int64_t inner, AxisKind kind, size_t position);
  /// Adds an axis of one point, innermost.
  void addPoint(AxisKind kind);
  void write();

private:
  mutable FuncOp func_;
  Walk walk_;
};
} // namespace

void Axes::split(int64_t id, int64_t inner, AxisKind kind, size_t position) {
  MLIRContext *context = func_.getContext();
  AxisAttr &axis = walk_.axes[positionOf(id)];
  int64_t fresh = optimize::freshAxis(func_);
  Expr size = axis.getSize().getValue(), outer = view::ceilDiv(size, inner);
  llvm::DenseMap<Expr, Expr> parts;
  parts[loopVariable(id, size)] = loopVariable(id, outer) * inner + loopVariable(fresh, inner);
  axis = AxisAttr::get(context, id, ExprAttr::get(context, outer), axis.getKind());
  walk_.axes.insert(walk_.axes.begin() + position, AxisAttr::get(context, fresh, ExprAttr::get(context, inner), kind));
  auto replaced = [&](DimsAttr index) {
    return DimsAttr::get(context, llvm::map_to_vector(index.getSizes(), [&](Expr e) { return e.substitute(parts); }));
  };
  // The walks of stages inside the axis begin at its place.
  func_.setIndexAttr(replaced(func_.getIndex()));
  for (auto stage : func_.getBody().getOps<StageOp>())
    stage.setIndexAttr(replaced(stage.getIndex()));
  for (auto reduce : func_.getBody().getOps<ReduceOp>())
    if (llvm::is_contained(reduce.getAxes(), id)) {
      SmallVector<int64_t> axes(reduce.getAxes());
      axes.push_back(fresh);
      reduce.setAxes(axes);
    }
  write();
}

void Axes::addPoint(AxisKind kind) {
  MLIRContext *context = func_.getContext();
  walk_.axes.push_back(AxisAttr::get(context, optimize::freshAxis(func_), ExprAttr::get(context, 1), kind));
  write();
}

void Axes::write() {
  ArrayAttr axes = ArrayAttr::get(func_.getContext(), SmallVector<Attribute>(walk_.axes.begin(), walk_.axes.end()));
  if (walk_.stage)
    walk_.stage.setAxesAttr(axes);
  else
    func_.setAxesAttr(axes);
}

/// Whether memory is laid out already along an axis, which then cannot be split any more.
static bool isHeldOver(FuncOp func, int64_t id) {
  Walk walk = walkOf(func);
  for (Operation *op : walk.operations()) {
    if (auto stage = dyn_cast<StageOp>(op)) {
      SmallVector<Expr> base = stage.getBase();
      for (auto [axis, index] : llvm::enumerate(walk.index))
        if (dependsOn(stage, axis) && axesOf(index - base[axis]).contains(id))
          return true;
    } else if (auto reduce = dyn_cast<ReduceOp>(op); reduce && llvm::is_contained(reduce.getHeld(), id))
      return true;
  }
  return false;
}

/// Splits are of loops, and never leave points that another part also has.
static llvm::Error checkSplit(FuncOp func, OptAttr opt, AxisAttr axis) {
  Expr size = axis.getSize().getValue();
  int64_t amount = opt.getAmount();
  if (amount < 1)
    return refuse("the amount must be 1 or more");
  if (axis.getKind() != AxisKind::Loop && axis.getKind() != AxisKind::Group)
    return refuse("the axis is not a loop any more");
  if (loopVariable(axis).isConst() && amount > 1)
    return refuse("the axis has one point left");
  bool isDivided = size.isConst() && size.constant() % amount == 0;
  // Points past the end of a part would be those of the next part, and computed twice.
  if (opt.getAxis() >= int64_t(func.getDomain().getSizes().size()) && !isDivided)
    return refuse("the axis is a part of another, of " + size.print() + " points: the amount must divide them");
  if (isHeldOver(func, opt.getAxis()) && !isDivided)
    return refuse("memory is laid out over the axis already: the amount must divide its " + size.print() + " points");
  return llvm::Error::success();
}

static llvm::Error applySplit(FuncOp func, OptAttr opt, Axes &axes, bool reduced) {
  int64_t id = opt.getAxis(), amount = opt.getAmount();
  switch (opt.getKind()) {
  case OptKind::UPCAST:
  case OptKind::UNROLL:
    if (reduced != (opt.getKind() == OptKind::UNROLL))
      return refuse(reduced ? "the axis is reduced: UNROLL it" : "the axis is not reduced: UPCAST it");
    axes.split(id, amount, AxisKind::Upcast, axes.size());
    return llvm::Error::success();
  case OptKind::VECTOR:
    axes.split(id, amount, AxisKind::Lane, axes.size());
    return llvm::Error::success();
  case OptKind::TILE:
    axes.split(id, amount, AxisKind::Loop, reduced ? axes.size() : axes.behindLastKept());
    return llvm::Error::success();
  case OptKind::LOCAL:
    if (reduced)
      return refuse("the axis is reduced: GROUP it");
    axes.split(id, amount, AxisKind::Item, axes.size());
    return llvm::Error::success();
  case OptKind::GROUP:
    if (!reduced)
      return refuse("the axis is not reduced");
    for (auto reduce : func.getBody().getOps<ReduceOp>())
      if (reduce.getScore() && llvm::is_contained(reduce.getAxes(), id))
        return refuse("items would go by different largest scores");
    axes.split(id, amount, AxisKind::Item, axes.size());
    return llvm::Error::success();
  case OptKind::THREAD: {
    Expr size = axes[axes.positionOf(id)].getSize().getValue();
    if (!size.isConst())
      return refuse("the axis has no fixed size: TILE it, and THREAD it by 0");
    axes.split(id, llvm::divideCeil(size.constant(), amount), AxisKind::Loop, axes.positionOf(id) + 1);
    axes.setKind(id, AxisKind::Chunk);
    return llvm::Error::success();
  }
  default:
    llvm_unreachable("not a split");
  }
}

static llvm::Error applyInWalk(FuncOp func, OptAttr opt, Walk walk) {
  Axes axes(func, std::move(walk));
  int64_t id = opt.getAxis(), amount = opt.getAmount();
  size_t position = axes.positionOf(id);
  AxisAttr axis = axes[position];
  bool reduced = axes.isReduced(id), isParallel = opt.getKind() == OptKind::GLOBAL || opt.getKind() == OptKind::THREAD;
  if (isParallel && reduced)
    return refuse(opt.getKind() == OptKind::GLOBAL ? "the axis is reduced: its groups would write the same element"
                                                   : "the axis is reduced: its chunks would write the same element");
  if (opt.getKind() == OptKind::SWAP) {
    size_t other = axes.positionOf(amount);
    if (other == axes.size())
      return refuse("no walk has both axis " + llvm::Twine(id) + " and axis " + llvm::Twine(amount));
    axes.swap(position, other);
  } else if (opt.getKind() == OptKind::GLOBAL || (opt.getKind() == OptKind::THREAD && amount == 0)) {
    if (axis.getKind() != AxisKind::Loop)
      return refuse("the axis is not a loop any more");
    axes.setKind(id, opt.getKind() == OptKind::GLOBAL ? AxisKind::Group : AxisKind::Chunk);
  } else {
    llvm::Error error = checkSplit(func, opt, axis);
    if (!error)
      error = applySplit(func, opt, axes, reduced);
    if (error)
      return error;
  }
  axes.write();
  return llvm::Error::success();
}

/// Splits off the matrices of one instruction: `amount` rows of the axis, and columns and terms of the innermost axes
/// of each kind, as many as the instruction takes.
static llvm::Error applyMatrices(FuncOp func, OptAttr opt, const Walk &walk, TargetAttr target) {
  auto reduce = walk.stage ? walk.stage.getInput().getDefiningOp<ReduceOp>() : ReduceOp();
  std::optional<Product> product = reduce ? productOf(reduce) : std::nullopt;
  if (!product)
    return refuse("the axis is not one of a stage that holds a sum of products; STAGE the sum first");
  if (!product->isNarrow())
    return refuse("no operands are multiplied that were widened before");
  auto isRow = [&](unsigned side) { return axesOf(walk, product->operands[side].narrow).contains(opt.getAxis()); };
  if (isRow(0) == isRow(1))
    return refuse("the axis is not that of one operand's rows");
  Value rows = product->operands[isRow(0) ? 0 : 1].narrow, columns = product->operands[isRow(0) ? 1 : 0].narrow;
  ProductAttr instruction = target.matrixProduct(rows.getType(), columns.getType(), product->sum());
  if (!instruction)
    return refuse("the device has no matrix instruction for these dtypes");
  auto alongRows = axesOf(walk, rows), alongColumns = axesOf(walk, columns);
  AxisAttr m, n, k;
  for (AxisAttr axis : walk.axes) {
    int64_t id = axis.getId();
    if (axis.getKind() != AxisKind::Loop || !axis.getSize().getValue().isConst())
      continue;
    if (id == opt.getAxis())
      m = axis;
    else if (llvm::is_contained(reduce.getAxes(), id))
      k = axis;
    else if (alongColumns.contains(id) && !alongRows.contains(id))
      n = axis;
  }
  if (!m || !k)
    return refuse("the product has no loops of fixed sizes along rows and terms");
  auto pointsOf = [](AxisAttr axis) { return axis.getSize().getValue().constant(); };
  int64_t side = target::sideOf(rows.getType());
  int64_t terms = target::largestPart(pointsOf(k), instruction.getK(), side);
  if (opt.getAmount() < 1 || opt.getAmount() > instruction.getM() || pointsOf(m) % opt.getAmount() != 0)
    return refuse("the amount must divide the axis' " + llvm::Twine(pointsOf(m)) + " points and be " +
                  llvm::Twine(instruction.getM()) + " at most");
  if (terms == 0)
    return refuse("an instruction takes a multiple of " + llvm::Twine(side) + " terms, and axis " +
                  llvm::Twine(k.getId()) + " has " + llvm::Twine(pointsOf(k)) + " points");
  int64_t width = n ? target::largestPart(pointsOf(n), instruction.getN()) : 1;
  if (n && 2 * width < instruction.getN())
    return refuse("an instruction takes " + llvm::Twine(instruction.getN()) + " columns, or somewhat fewer, and the " +
                  llvm::Twine(pointsOf(n)) + " points of axis " + llvm::Twine(n.getId()) +
                  " are not a multiple of that");
  Axes axes(func, walk);
  axes.split(m.getId(), opt.getAmount(), AxisKind::Fragment, axes.size());
  int64_t inner = optimize::freshAxis(func);
  axes.split(k.getId(), terms, AxisKind::Fragment, axes.size());
  if (n)
    axes.split(n.getId(), width, AxisKind::Fragment, axes.size());
  else
    axes.addPoint(AxisKind::Fragment);
  axes.split(inner, side, AxisKind::Fragment, axes.size());
  return llvm::Error::success();
}

/// Splits off the terms of one dot instruction.
static llvm::Error applyDot(FuncOp func, OptAttr opt, const Walk &walk, TargetAttr target) {
  ReduceOp reduce;
  for (Operation *op : walk.operations())
    if (auto sum = dyn_cast<ReduceOp>(op); sum && llvm::is_contained(sum.getAxes(), opt.getAxis()))
      reduce = sum;
  std::optional<Product> product = reduce ? productOf(reduce) : std::nullopt;
  if (!product)
    return refuse("no sum of products goes along the axis");
  if (!product->isNarrow())
    return refuse("no operands are multiplied that were widened before");
  ProductAttr instruction =
      target.dotProduct(product->operands[0].narrow.getType(), product->operands[1].narrow.getType(), product->sum());
  if (!instruction)
    return refuse("the device has no dot instruction for these dtypes");
  Expr size = walk.axes[walk.positionOf(opt.getAxis())].getSize().getValue();
  if (opt.getAmount() != instruction.getK() || !size.isConst() || size.constant() % instruction.getK() != 0)
    return refuse("a dot instruction takes " + llvm::Twine(instruction.getK()) + " terms of the axis' " + size.print() +
                  " points: the amount is that, and must divide them");
  Axes axes(func, walk);
  axes.split(opt.getAxis(), opt.getAmount(), AxisKind::Fragment, axes.size());
  return llvm::Error::success();
}

/// Marks the loads of a buffer, and stages of it held for the whole launch; or the stores to it.
static llvm::Error prefetch(OptAttr opt, FuncOp func, const Walk &walk) {
  AxisKind kind = walk.axes[walk.positionOf(opt.getAxis())].getKind();
  if (kind != AxisKind::Loop && kind != AxisKind::Chunk)
    return refuse("the axis is not a loop");
  if (llvm::Error error = optimize::checkBuffer(func, opt.getAmount()))
    return error;
  BlockArgument buffer = func.getArgument(opt.getAmount());
  auto readersIn = [&](const Walk &one) {
    SmallVector<Operation *> readers;
    for (Operation *op : one.operations()) {
      auto stage = dyn_cast<StageOp>(op);
      LoadOp load = stage ? onlyLoadOf(stage.getInput()) : dyn_cast<LoadOp>(op);
      if (load && !load.getRow() && load.getBuffer() == buffer)
        readers.push_back(op);
    }
    return readers;
  };
  SmallVector<Operation *> readers = readersIn(walk);
  if (!walk.stage && kind == AxisKind::Loop) // a chunk has no step after it
    for (auto store : func.getBody().getOps<StoreOp>())
      if (store.getBuffer() == buffer)
        readers.push_back(store);
  // Matrices are read in the walk of the stage that holds their product.
  for (const Walk &other : walksOf(func))
    if (readers.empty() && hasFragments(other))
      readers = readersIn(other);
  if (readers.empty())
    return refuse("nothing of the buffer is read by number inside the axis, or written");
  for (Operation *op : readers)
    op->setAttr("ahead", Builder(func.getContext()).getI64IntegerAttr(opt.getAxis()));
  return llvm::Error::success();
}

static llvm::Error applyOne(FuncOp func, OptAttr opt, TargetAttr target) {
  if (opt.getKind() == OptKind::STAGE && opt.getAxis() < 0)
    return optimize::stageValue(func, opt, walkOf(func), target);
  for (Walk &walk : walksOf(func)) {
    if (!walk.contains(opt.getAxis()))
      continue;
    if (opt.getKind() == OptKind::STAGE)
      return optimize::stageValue(func, opt, walk, target);
    if (opt.getKind() == OptKind::PREFETCH)
      return prefetch(opt, func, walk);
    if (opt.getKind() == OptKind::LAYOUT)
      return optimize::layOut(func, opt, walk);
    if (opt.getKind() == OptKind::BUFFERS)
      return optimize::giveBuffers(func, opt, walk);
    if (opt.getKind() == OptKind::TC)
      return applyMatrices(func, opt, walk, target);
    if (opt.getKind() == OptKind::DOT) {
      llvm::Error error = checkSplit(func, opt, walk.axes[walk.positionOf(opt.getAxis())]);
      return error ? std::move(error) : applyDot(func, opt, walk, target);
    }
    return applyInWalk(func, opt, walk);
  }
  return refuse("the kernel has no axis " + llvm::Twine(opt.getAxis()));
}

/// Launches are cut into chunks on some devices, into groups of items on others. A target that is not known has both.
static llvm::Error checkKind(OptAttr opt, TargetAttr target) {
  bool hasGroups = target.hasGroups(), hasChunks = target.getChunks() > 0;
  if (hasGroups == hasChunks)
    return llvm::Error::success();
  if (!hasGroups && llvm::is_contained({OptKind::LOCAL, OptKind::GLOBAL, OptKind::GROUP}, opt.getKind()))
    return failure("device " + target.getDevice() + " has no work groups", "THREAD cuts an axis into chunks");
  if (!hasChunks && opt.getKind() == OptKind::THREAD)
    return failure("device " + target.getDevice() + " has no chunks",
                   "GLOBAL makes each point of an axis a work group");
  return llvm::Error::success();
}

llvm::Error optimize::applyOpt(FuncOp func, OptAttr opt, TargetAttr target) {
  llvm::Error error = checkKind(opt, target);
  if (!error)
    error = applyOne(func, opt, target);
  if (!error)
    if (std::optional<std::string> fault = faultOf(func))
      error = refuse(*fault);
  if (error)
    return failure("opt " + textOf(opt) + ": " + llvm::toString(std::move(error)));
  SmallVector<Attribute> opts(func.getOpts().begin(), func.getOpts().end());
  opts.push_back(opt);
  func.setOptsAttr(ArrayAttr::get(func.getContext(), opts));
  return llvm::Error::success();
}

int64_t optimize::numberOf(FuncOp func, Value value) {
  int64_t number = 0;
  for (Operation &op : func.getBody().front()) {
    if (&op == value.getDefiningOp())
      break;
    number += op.getNumResults() > 0 && !isa<StageOp>(op);
  }
  return number;
}

/// Reads "3 4 PAD 4 XOR 8 4", the text after LAYOUT; null: it is not that.
static OptAttr parseLayout(MLIRContext *context, ArrayRef<llvm::StringRef> words) {
  SmallVector<Attribute> runs;
  auto number = [&](int64_t &value, int64_t least) {
    bool isNumber = !words.empty() && !words.front().getAsInteger(10, value) && value >= least;
    words = words.drop_front(isNumber);
    return isNumber;
  };
  auto takes = [&](llvm::StringRef word) {
    bool isWord = !words.empty() && words.front() == word;
    words = words.drop_front(isWord);
    return isWord;
  };
  while (!words.empty()) {
    int64_t axis = 0, pad = 0, ways = 0, unit = 0;
    if (!number(axis, 0) || (takes("PAD") && !number(pad, 1)) ||
        (takes("XOR") && (!number(ways, 2) || !number(unit, 1))))
      return {};
    runs.push_back(RunAttr::get(context, axis, pad, ways, unit));
  }
  if (runs.empty())
    return {};
  return OptAttr::get(context, OptKind::LAYOUT, cast<RunAttr>(runs.front()).getAxis(), 0, /*isValue=*/false,
                      ArrayAttr::get(context, runs));
}

/// The remedy for a kind that does not exist.
static std::string nearestKind(llvm::StringRef word) {
  SmallVector<llvm::StringRef> kinds;
  for (unsigned kind = 0; kind <= getMaxEnumValForOptKind(); ++kind)
    kinds.push_back(stringifyOptKind(static_cast<OptKind>(kind)));
  return didYouMean(word.upper(), kinds, "kinds are " + llvm::join(kinds, ", "));
}

llvm::Expected<SmallVector<OptAttr>> optimize::parseOpts(MLIRContext *context, llvm::StringRef text) {
  SmallVector<OptAttr> opts;
  if (text.trim().empty())
    return opts;
  for (llvm::StringRef part : llvm::split(text, ',')) {
    SmallVector<llvm::StringRef, 3> words;
    part.split(words, ' ', -1, /*KeepEmpty=*/false);
    int64_t axis = -1, amount;
    std::optional<OptKind> kind = words.empty() ? std::nullopt : symbolizeOptKind(words[0]);
    if (kind == OptKind::LAYOUT) {
      OptAttr opt = parseLayout(context, ArrayRef(words).drop_front());
      if (!opt)
        return failure("'" + part.trim() + "' is not a layout",
                       "write LAYOUT and the stage's axes, PAD N and XOR UNITS ELEMENTS after any but the first, for "
                       "example LAYOUT 4 3 PAD 4");
      opts.push_back(opt);
      continue;
    }
    if (!kind && !words.empty())
      return failure("'" + part.trim() + "' is not an opt", nearestKind(words[0]));
    bool isStage = kind == OptKind::STAGE && words.size() == 3;
    bool isValue = isStage && words[2].consume_front("v"), isOutside = isStage && words[1] == "-";
    if (!kind || words.size() != 3 || (!isOutside && words[1].getAsInteger(10, axis)) ||
        words[2].getAsInteger(10, amount))
      return failure("'" + part.trim() + "' is not an opt", "write KIND AXIS AMOUNT, for example UPCAST 0 4");
    opts.push_back(OptAttr::get(context, *kind, axis, amount, isValue));
  }
  return opts;
}
