//===- CostPolicy.cpp - Which tensors get memory, by what it costs ---------------------===//
// Goes from the results of a block back to its inputs. At each tensor it is known in which kernels, and at how many
// points of each, it would be computed if it got no memory; so the two ways to compute it can be compared:
//   inside its readers: its operations as often as the loops around need it, and what it reads once per kernel;
//   in a kernel of its own: its operations and reads once, a launch, and its elements written once and read again.
// A tensor is charged with all element-wise operations from memory or a reduce up to it, as they would move with it.
// Costs are estimates. So once all is decided the work of each kernel is compared with the graph's own
// (KernelWork.cpp): a sum or an exponential that a kernel would compute at many more points than it has elements gets
// memory.
//===----------------------------------------------------------------------------===//

#include "passes/schedule/CostPolicy.h"

#include "passes/schedule/Cost.h"
#include "passes/schedule/MarkAttention.h"
#include "passes/schedule/MergeKernels.h"
#include "passes/schedule/Policies.h"
#include "passes/schedule/Products.h"

#include "target/Times.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

/// A tensor needed at more places than these gets memory.
static constexpr size_t kMostUses = 16;
/// A tensor that is read through more views than these gets memory: each takes the index apart with divisions.
static constexpr size_t kMostViews = 8;
/// A sum of so few terms is no loop: which elements of a tensor it takes is found once for a row of them.
static constexpr double kFewTerms = 8;
/// Reading an element, in operations.
static constexpr double kLoadSteps = 1;
/// Finding which sum an element is, where that takes a division for each of its terms.
static constexpr double kPlaceSteps = 8;

static bool isWeight(Value value) { return isa_and_nonnull<graph::WeightOp>(value.getDefiningOp()); }

/// Whether a value is a weight in another dtype, also by way of a third one: bytes go through 16 bits to 32.
static bool isCastWeight(Value value) {
  for (Value source = uncast(value); source != value; source = uncast(value))
    value = source;
  return isWeight(value);
}

/// Whether an element's place in a tensor that is seen through `tracker` takes a division: an axis of it goes on where
/// one of the tensor's ends.
static bool takesDivisions(const ShapeTracker &tracker, ArrayRef<Expr> shape) {
  if (tracker.isContiguous())
    return false;
  if (tracker.views().size() > 1)
    return true;
  const view::View &seen = tracker.views().front();
  return llvm::any_of(llvm::seq(seen.shape().size()), [&](size_t axis) {
    Expr size = seen.shape()[axis], stride = seen.strides()[axis], step = 1;
    if (seen.mask())
      size = (*seen.mask())[axis].end - (*seen.mask())[axis].begin;
    for (Expr own : llvm::reverse(shape)) {
      if (view::provablyEqual(stride, step) && view::provablyLessEqual(size, own))
        return false;
      step = step * own;
    }
    return !size.isConst(1) && !stride.isConst(0);
  });
}

/// Operations for one element.
double CostPolicy::operationsFor(Value value) const {
  graph::ReduceOp reduce = reduceOf(value);
  if (!reduce)
    return cones_.of(value).operations;
  double each = 1;
  for (const Edge &edge : sourcesOf(value))
    each += cones_.of(edge.base).operations;
  return pointsOver(reduce) * each;
}

bool CostPolicy::isWidenedForProduct(Value value, const Use &use) const {
  auto alu = value.getDefiningOp<graph::AluOp>();
  if (!alu || alu.getKind().getValue() != Alu::CAST || !use.inside || !narrow_.contains(use.inside))
    return false;
  auto sum = cast<graph::ReduceOp>(use.inside);
  return getElementTypeOrSelf(value) == getElementTypeOrSelf(sum) && value != edgeOf(sum.getInput()).base;
}

bool CostPolicy::isWidenedWeight(Value value, const Use &use) const {
  auto cast = value.getDefiningOp<graph::AluOp>();
  if (!cast || cast.getKind().getValue() != Alu::CAST || !use.inside || !narrow_.contains(use.inside))
    return false;
  Edge source = edgeOf(cast->getOperand(0));
  return isWeight(source.base) && isWhole(source) &&
         byteSize(getElementTypeOrSelf(source.base)) < byteSize(getElementTypeOrSelf(value));
}

bool CostPolicy::isUnpackedWeight(Value value, const Use &use) const {
  if (!use.inside || reduceOf(value) || !(narrow_.contains(use.inside) || isBlock(use.inside->getResult(0))))
    return false;
  const llvm::SmallSetVector<Value, 8> &sources = cones_.of(value).sources;
  double bytes = 0;
  for (Value source : sources)
    bytes += bytesOf(source);
  return !sources.empty() && llvm::all_of(sources, isWeight) && bytes < bytesOf(value);
}

bool CostPolicy::isBlock(Value value) const {
  graph::ReduceOp block = reduceOf(value);
  if (!block || !sumOfBlocks(block))
    return false;
  return llvm::any_of(multiplicationOf(block)->getOperands(), [&](Value factor) {
    Value source = uncast(edgeOf(factor).base);
    return isa<IntegerType>(getElementTypeOrSelf(source));
  });
}

double CostPolicy::operationsOfBlocks(graph::ReduceOp sum) const {
  Value block = sum ? blockOf_.lookup(sum) : Value();
  return block ? elementsOf(block) * operationsFor(block) : 0;
}

bool CostPolicy::isCastOfMemory(Value value) const {
  graph::AluOp cast = aluOf(value, Alu::CAST);
  Value source = cast ? edgeOf(cast->getOperand(0)).base : value;
  return !isHere(source) || realized_.contains(source);
}

bool CostPolicy::isWidened(Value value) const {
  graph::AluOp cast = aluOf(value, Alu::CAST);
  return cast && byteSize(getElementTypeOrSelf(cast->getOperand(0))) < byteSize(getElementTypeOrSelf(value)) &&
         llvm::none_of(uses_.find(value)->second, [&](const Use &use) { return isTileOperand(value, use); });
}

/// Notes the sum that the kernel's register tile is for, and how the domain's axes are walked for it.
void CostPolicy::setProduct(Kernel &kernel, graph::ReduceOp reduce, const Domain::Reduced &reduced) {
  kernel.product = reduce;
  kernel.productOperations = elementsOf(reduce) * operationsFor(reduce);
  Edge product = edgeOf(reduce.getInput());
  llvm::SmallBitVector moves[2];
  bool isNarrow = narrow_.contains(reduce);
  for (unsigned side : {0, 1}) {
    Edge operand = edgeOf(product.base.getDefiningOp()->getOperand(side));
    kernel.hasWeight |= isWeight(operand.base) || (isNarrow && isCastWeight(operand.base));
    moves[side] = axesOf(operand.tracker.compose(product.tracker).compose(reduced.input).simplify());
  }
  // The columns are the last axis, rows the longest that the other operand alone moves along.
  double depth = pointsOver(reduce), rows = 1;
  for (auto [axis, size] : llvm::enumerate(kernel.domain.sizes()))
    if (!kernel.domain.isReduced(axis) && typicalSize(size) > 1)
      kernel.columns = axis;
  bool side = moves[1].test(kernel.columns);
  for (auto [axis, size] : llvm::enumerate(kernel.domain.sizes()))
    if (!kernel.domain.isReduced(axis) && moves[!side].test(axis) && !moves[side].test(axis))
      rows = std::max(rows, typicalSize(size));
  kernel.isStaged = target::stagesOperands(rows, typicalSize(kernel.domain.sizes()[kernel.columns]), depth);
}

bool CostPolicy::isReadAlong(Value value, const ShapeTracker &tracker, size_t axis) const {
  SmallVector<Edge> open{{value, tracker}};
  llvm::DenseSet<Value> seen;
  while (!open.empty()) {
    Edge edge = open.pop_back_val();
    for (const Edge &source : sourcesOf(edge.base)) {
      ShapeTracker around = source.tracker.compose(edge.tracker).simplify();
      if (isNumber(source.base) || !axesOf(around).test(axis) || !seen.insert(source.base).second)
        continue;
      if (isHere(source.base) && !realized_.contains(source.base) && !reduceOf(source.base)) {
        open.push_back({source.base, around});
        continue;
      }
      std::optional<Expr> stride = around.realStrides()[axis];
      if (stride && stride->isConst(1))
        return true;
    }
  }
  return false;
}

std::optional<size_t> CostPolicy::rowToHold(Value value, double operations) const {
  ArrayRef<Use> uses = uses_.find(value)->second;
  // Sums that do not need each other share one walk; what is stored has another.
  if (llvm::all_of(uses, [](const Use &use) { return use.inside; }))
    return std::nullopt;
  const Kernel &kernel = kernels_[uses.front().kernel];
  ArrayRef<Expr> sizes = kernel.domain.sizes();
  // Walks along the kernel's last axis, and rows around it.
  size_t along = sizes.size(), rows;
  while (along > 0 && sizes[along - 1].isConst(1))
    --along;
  if (kernel.product || along < 2 || !kernel.domain.isReduced(along - 1))
    return std::nullopt;
  rows = --along;
  while (rows > 0 && (sizes[rows - 1].isConst(1) || kernel.domain.isReduced(rows - 1)))
    --rows;
  ShapeTracker tracker = kernel.domain.widen(uses.front().tracker);
  llvm::SmallBitVector moves = axesOf(tracker);
  bool areWalks = llvm::all_of(uses, [&](const Use &use) {
    return use.kernel == uses.front().kernel && kernel.domain.widen(use.tracker) == tracker &&
           (!use.inside || ArrayRef<int64_t>(use.loops) == ArrayRef<int64_t>{int64_t(along)});
  });
  // Rows that lie apart are turned where their length is known; an open one may be a few masked lanes.
  bool pays = areWalks && rows > 0 && moves.test(rows - 1) && moves.test(along) && !tracker.isMasked() &&
              (sizes[along].isConst() || isReadAlong(value, tracker, along)) &&
              target::paysToHold(target_, sizes[along], getElementTypeOrSelf(value), operations, uses.size());
  return pays ? std::optional(along) : std::nullopt;
}

std::optional<host::Reason> CostPolicy::reasonToBeInside(Value value) const {
  ArrayRef<Use> uses = uses_.find(value)->second;
  if (!uses.empty() && llvm::all_of(uses, [](const Use &use) { return use.isScore; }))
    return host::Reason::Score;
  if (isHeld(value) || isMultipliedResult(value))
    return host::Reason::Held;
  if (isBlock(value) || llvm::any_of(uses, [&](const Use &use) {
        return isWidenedForProduct(value, use) || isWidenedWeight(value, use) || isUnpackedWeight(value, use);
      }))
    return host::Reason::Inside;
  return std::nullopt;
}

bool CostPolicy::isOperandOfSeveralLoads(Value value) const {
  bool isOperand = llvm::any_of(uses_.find(value)->second, [&](const Use &use) {
    auto sum = dyn_cast_or_null<graph::ReduceOp>(use.inside);
    return sum && roleOf(sum) && sum.getKind().getValue() == Alu::ADD && value != edgeOf(sum.getInput()).base &&
           !isWidenedForProduct(value, use); // its narrow operand has memory instead
  });
  if (!isOperand || isHeld(value))
    return false;
  // Down to memory, each operation has one operand that is not a number.
  for (Value next = value; isHere(next) && !realized_.contains(next);) {
    SmallVector<Edge> sources = sourcesOf(next);
    llvm::erase_if(sources, [](const Edge &edge) { return isNumber(edge.base); });
    bool isOne = llvm::all_of(sources, [&](const Edge &edge) {
      return edge.base == sources.front().base && edge.tracker == sources.front().tracker;
    });
    if (sources.empty() || !isOne || !next.getDefiningOp<graph::AluOp>())
      return true;
    next = sources.front().base;
  }
  return false;
}

bool CostPolicy::endsAttention(Value value) const {
  if (!value.getDefiningOp()->hasAttr(kGivenAttr))
    return false;
  ArrayRef<Use> uses = uses_.find(value)->second;
  unsigned kernel = uses.front().kernel;
  return kernels_[kernel].reduces > 0 || llvm::any_of(uses, [&](const Use &use) {
           return use.kernel != kernel || use.inside || !use.tracker.isContiguous();
         });
}

bool CostPolicy::needsLoads(const Use &use) const {
  const Kernel &kernel = kernels_[use.kernel];
  llvm::SmallBitVector moves = axesOf(use.tracker);
  bool isVector =
      target_.vectorBits() > 0 && !target_.hasGroups() && kernel.columns < moves.size() && moves.test(kernel.columns);
  // Fewer columns than lanes have their lanes along the sum.
  int64_t lanes = target_.vectorBits() / 8 / byteSize(getElementTypeOrSelf(kernel.product->getResult(0).getType()));
  bool areFixed = llvm::all_of(kernel.domain.sizes(), [](const Expr &size) { return size.isConst(); }) &&
                  kernel.domain.sizes()[kernel.columns].constant() >= lanes;
  return narrow_.contains(kernel.product) || (!kernel.hasWeight && !(isVector && areFixed));
}

/// Whether a use is in a sum of few terms.
static bool isOfFewTerms(const Use &use) {
  auto sum = dyn_cast_or_null<graph::ReduceOp>(use.inside);
  return sum && pointsOver(sum) <= kFewTerms;
}

Costs CostPolicy::costsOf(Value value) const {
  graph::ReduceOp reduce = reduceOf(value);
  double elements = elementsOf(value), operations = operationsFor(value);
  const Cone &cone = cones_.of(reduce ? edgeOf(reduce.getInput()).base : value);
  // A reduce among the sources joins a kernel of this tensor's own, and needs memory where it is read again and again.
  double reads = 0, totals = 0, launches = 0;
  for (Value source : cone.sources) {
    bool isTotal = isHere(source) && reduceOf(source) && !realized_.contains(source) && !reduce;
    (isTotal ? totals : reads) += bytesOf(source);
    launches += isTotal;
  }
  llvm::SmallSetVector<unsigned, 4> kernels;
  double inside = 0, times = 0, blocks = operationsOfBlocks(reduce);
  for (const Use &use : uses_.find(value)->second) {
    const Kernel &kernel = kernels_[use.kernel];
    double rate = rates_.getOpsPerNs(), once = pointsOf(value, use);
    double lost = 1 / rates_.getOpsPerNs() - 1 / rates_.getProductOpsPerNs(),
           lostTile = kernel.productOperations * lost;
    // Weights are packed before the program runs, also if they are computed first.
    bool isComputedHere = !isCastOfMemory(value) && !llvm::all_of(cone.sources, isWeight);
    if (isTileOperand(value, use) && needsLoads(use) &&
        (cone.sources.size() > 1 || (narrow_.contains(kernel.product) && isComputedHere)))
      inside += lostTile;
    times += once;
    if (reduce) {
      // One product a kernel gets a register tile, and no kernel that holds other reduces.
      bool isAlone = kernel.reduces == 0 && use.tracker.isContiguous(), tiles = isProduct(reduce) && isAlone;
      if (tiles)
        rate = rates_.getProductOpsPerNs();
      else
        inside += lostTile + (isAlone ? 0 : blocks * lost);
      if (pointsOver(reduce) <= kFewTerms && takesDivisions(use.tracker, shapeOf(value)))
        inside += once * pointsOver(reduce) * kPlaceSteps / rate;
      // Each of its elements is one row's work: few rows leave most of a wide device idle.
      double idle = std::max(0.0, double(rates_.getUnits()) / std::max(once, 1.0) - 1);
      // The lanes of a kernel that holds rows go along these. If each element of a row is a sum, they read its terms
      // one by one.
      if (kernel.row && axesOf(kernel.domain.widen(use.tracker)).test(*kernel.row))
        inside += once * operations / rate;
      if (once < kernel.points)
        inside += idle * (reads / rates_.getBytesPerNs() + once * operations / rate);
    }
    // A value made of places alone is computed where it would be loaded.
    double saved = (isOfFewTerms(use) ? cone.choices : 0) + (cone.sources.empty() && !reduce ? kLoadSteps : 0);
    inside += once * std::max(0.0, operations - saved) / rate;
    kernels.insert(use.kernel);
  }
  bool tiles = reduce && isProduct(reduce);
  double outside =
      elements * operations / (tiles ? rates_.getProductOpsPerNs() : rates_.getOpsPerNs()) + rates_.getLaunchNs();
  if (times > elements)
    inside += launches * rates_.getLaunchNs() + totals * (1 + kernels.size()) / rates_.getBytesPerNs();
  inside += reads * kernels.size() / rates_.getBytesPerNs();
  outside += (reads + bytesOf(value) * (1 + kernels.size())) / rates_.getBytesPerNs();
  return {inside, outside, reads, unsigned(kernels.size())};
}

bool CostPolicy::isSummedForPadding(Value value) const {
  auto isOpenPart = [](auto pair) {
    auto [range, size] = pair;
    bool isWhole = range.begin.isConst(0) && range.end == size;
    return !isWhole && !(range.begin.isConst() && range.end.isConst() && size.isConst());
  };
  auto isPadded = [&](const Use &use) {
    return llvm::any_of(use.tracker.views(), [&](const view::View &view) {
      return view.mask() && llvm::any_of(llvm::zip(*view.mask(), view.shape()), isOpenPart);
    });
  };
  return reduceOf(value) && llvm::any_of(uses_.find(value)->second, isPadded);
}

bool CostPolicy::isCheaperInside(Value value) {
  ArrayRef<Use> uses = uses_[value];
  if (uses.size() > kMostUses) {
    placements_[value] = {host::Reason::Uses};
    return false;
  }
  if (isOperandOfSeveralLoads(value) || endsAttention(value)) {
    placements_[value] = {host::Reason::Uses};
    return false;
  }
  if (std::optional<host::Reason> reason = reasonToBeInside(value)) {
    placements_[value] = {*reason};
    return true;
  }
  Costs costs = costsOf(value);
  double operations = operationsFor(value);
  std::optional<size_t> row = reduceOf(value) ? std::nullopt : rowToHold(value, operations);
  if (row) {
    double held = timesOf(uses.front()) * (operations + target::stepsToHold(uses.size())) / rates_.getOpsPerNs() +
                  costs.reads / rates_.getBytesPerNs();
    if (held < std::min(costs.inside, costs.outside)) {
      placements_[value] = {host::Reason::Held, std::llround(held), std::llround(costs.outside), 1};
      held_.insert(value);
      kernels_[uses.front().kernel].row = row;
      return true;
    }
  }
  bool isInside = costs.inside <= costs.outside || isWidened(value);
  if (isInside && isSummedForPadding(value)) { // which costs do not see
    placements_[value] = {host::Reason::Uses};
    return false;
  }
  placements_[value] = {isInside ? host::Reason::Inside : host::Reason::Cost, std::llround(costs.inside),
                        std::llround(costs.outside), costs.kernels};
  return isInside;
}

void CostPolicy::addUse(const Edge &edge, Use use) {
  if (!isHere(edge.base) || realized_.contains(edge.base))
    return;
  use.tracker = edge.tracker.compose(use.tracker).simplify();
  if (use.tracker.views().size() > kMostViews)
    deep_.insert(edge.base);
  // A value that stands still in the loops of a reduce is computed before them.
  llvm::SmallBitVector moves = axesOf(use.tracker);
  if (llvm::none_of(use.loops, [&](int64_t axis) { return axis < int64_t(moves.size()) && moves.test(axis); })) {
    use.inside = nullptr;
    use.loops.clear();
    use.walks = 1;
  }
  std::vector<Use> &uses = uses_[edge.base];
  if (uses.size() <= kMostUses && !llvm::is_contained(uses, use))
    uses.push_back(std::move(use));
}

void CostPolicy::giveUsesToOperands(Value value) {
  std::vector<Use> uses = uses_[value];
  // A held value is computed once, wherever it is used.
  if (held_.contains(value))
    uses = {*llvm::find_if(uses, [](const Use &use) { return !use.inside; })};
  else if (isHeld(value))
    uses = {*llvm::min_element(uses, [&](const Use &a, const Use &b) { return timesOf(a) < timesOf(b); })};
  if (isHeld(value))
    uses.front().most = std::min(uses.front().most, elementsOf(value));
  graph::ReduceOp reduce = reduceOf(value);
  auto gather = value.getDefiningOp<graph::GatherOp>();
  for (const Use &use : uses) {
    if (reduce) {
      Kernel &kernel = kernels_[use.kernel];
      Domain::Reduced reduced = kernel.domain.enter(reduce, use.tracker);
      bool isFirst = kernel.reduces++ == 0;
      if (isFirst && isProduct(reduce) && use.tracker.isContiguous())
        setProduct(kernel, reduce, reduced);
      else if (isFirst)
        kernel.productOperations = operationsOfBlocks(reduce);
      Use inLoops{use.kernel, reduced.input, reduce, reduced.axes, /*walks=*/timesOf(use)};
      addUse(edgeOf(reduce.getInput()), inLoops);
      inLoops.isScore = true;
      if (reduce.getScore())
        addUse(edgeOf(reduce.getScore()), inLoops);
    } else if (gather) {
      addUse(edgeOf(gather.getIndices()),
             {use.kernel, indicesOf(gather, use.tracker), use.inside, use.loops, use.walks, use.most});
    } else {
      for (const Edge &source : sourcesOf(value))
        addUse(source, use);
    }
  }
}

void CostPolicy::realize(Value value) {
  realized_.insert(value);
  view::Shape shape = shapeOf(writtenBy(value));
  uses_[value] = {Use{unsigned(kernels_.size()), ShapeTracker::contiguous(shape), nullptr, {}}};
  kernels_.push_back({Domain(shape), elementsOf(shape)});
}

/// The reduce whose elements an output has in their own order, so that its loops are the kernel's; null: none.
Value CostPolicy::anchorOf(Value output) {
  SmallVector<Value> open{output};
  llvm::SmallDenseSet<Value> known;
  Value best;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (auto reduce = reduceOf(value)) {
      auto work = [&](Value v) { return pointsOver(reduceOf(v)) * (isProduct(reduceOf(v)) ? 2 : 1); };
      if (!best || work(value) > work(best))
        best = value;
      continue;
    }
    if (value.getDefiningOp<graph::GatherOp>())
      continue;
    for (const Edge &edge : sourcesOf(value)) {
      bool inOrder = edge.tracker.isContiguous() && isHere(edge.base) && !realized_.contains(edge.base) &&
                     view::provablyEqual(edge.tracker.size(), view::product(shapeOf(edge.base)));
      if (inOrder && known.insert(edge.base).second)
        open.push_back(edge.base);
    }
  }
  return best;
}

Partition CostPolicy::run() {
  for (const Edge &root : rootsOf(block_))
    if (isHere(root.base))
      realized_.insert(root.base);
  for (Operation &op : block_) {
    if (isa<graph::ContiguousOp, graph::AssignOp>(op))
      realized_.insert(op.getResult(0));
    if (auto gather = dyn_cast<graph::GatherOp>(op))
      if (Value table = edgeOf(gather.getInput()).base; isHere(table))
        realized_.insert(table);
  }
  for (auto reduce : block_.getOps<graph::ReduceOp>()) {
    if (multipliesNarrow(reduce, target_, isWeight))
      narrow_.insert(reduce);
    if (isBlock(reduce.getResult()))
      blockOf_[sumOfBlocks(reduce)] = reduce.getResult();
  }
  for (Value value : repeated_) {
    placements_[value] = {host::Reason::Uses};
    realized_.insert(value);
  }
  cones_.find();
  llvm::SetVector<Value> needed = realized_;
  SmallVector<Value> values;
  for (Operation &op : block_)
    for (Value value : op.getResults())
      if (isHere(value))
        values.push_back(value);
  // Users come after what they use, so backwards every use of a tensor is known before the tensor.
  for (Value value : llvm::reverse(values)) {
    bool isUsed = uses_.contains(value);
    if (!needed.contains(value) && !isUsed)
      continue;
    bool isDeep = deep_.contains(value) && !reasonToBeInside(value);
    if (needed.contains(value) || isDeep || !isCheaperInside(value))
      realize(value);
    giveUsesToOperands(value);
  }
  // In the order of the graph.
  llvm::MapVector<Value, KernelGroup> groups;
  Partition result;
  for (Value value : values) {
    if (!realized_.contains(value) || !uses_.contains(value))
      continue;
    result.realized.insert(value);
    Value anchor = anchorOf(value);
    KernelGroup &group = groups[value];
    group.outputs.push_back(value);
    if (anchor)
      group.reduce = reduceOf(anchor);
  }
  result.placements = std::move(placements_);
  mergeKernels(groups, result);
  for (KernelGroup *group : inOrder(groups))
    result.groups.push_back(*group);
  return result;
}

Partition schedule::partitionByCost(Block &block, TargetAttr target) {
  llvm::SetVector<Value> repeated;
  while (true) {
    CostPolicy policy(block, target, repeated);
    Partition partition = policy.run();
    size_t before = repeated.size();
    repeated.insert_range(policy.findRepeated());
    repeated.insert_range(policy.findNarrower());
    if (repeated.size() == before)
      return partition;
  }
}
