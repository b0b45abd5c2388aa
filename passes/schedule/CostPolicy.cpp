//===- CostPolicy.cpp - Which tensors get memory, by what it costs ---------------------===//
// Goes from the results of a block back to its inputs. At each tensor it is known in which kernels, and at how many
// points of each, it would be computed if it got no memory; so the two ways to compute it can be compared:
//   inside its readers: its operations as often as the loops around need it, and what it reads once per kernel;
//   in a kernel of its own: its operations and reads once, a launch, and its elements written once and read again.
// A tensor is charged with all element-wise operations from memory or a reduce up to it, as they would move with it.
//===----------------------------------------------------------------------------===//

#include "passes/schedule/Policies.h"

#include "passes/schedule/Cost.h"
#include "passes/schedule/Domain.h"
#include "passes/schedule/HoldRows.h"
#include "passes/schedule/MergeKernels.h"
#include "passes/schedule/Products.h"

#include "target/Times.h"

#include <limits>

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

/// A tensor needed at more places than these gets memory.
static constexpr size_t kMostUses = 16;
/// A tensor computed from more memory than this gets memory: devices have bounded parameter lists.
static constexpr size_t kMostSources = 64;
/// A tensor that takes more operations than these, as additions, gets memory: LLVM takes much longer for code that is
/// twice as long.
static constexpr double kMostOperations = 500;
/// A tensor that is read through more views than these gets memory: each takes the index apart with divisions.
static constexpr size_t kMostViews = 8;

namespace {

/// The element-wise operations an element takes, down to memory and reduces, and what these are.
struct Cone {
  double operations = 0;
  int depth = 1; ///< through reduces too
  llvm::SmallSetVector<Value, 8> sources;
};

/// A place at which a tensor that has no memory is computed.
struct Use {
  unsigned kernel;
  ShapeTracker tracker;       ///< from the kernel's domain
  Operation *inside;          ///< the innermost reduce in whose loops it is computed; null: none
  SmallVector<int64_t> loops; ///< that reduce's axes
  double walks = 1;           ///< how often these are walked
  bool isScore = false;       ///< for the scores of a sum, which are computed there whatever it takes

  bool operator==(const Use &) const = default;
};

/// A kernel while its contents are being decided.
struct Kernel {
  Domain domain;
  double points; ///< of what it writes
  unsigned reduces = 0;
  Operation *product = nullptr; ///< the sum that a register tile can be made for
  double productOperations = 0;
  bool hasWeight = false; ///< is one of its operands
  bool isStaged = false;  ///< its operands are held in cache
  size_t columns = 0;     ///< the axis of the domain that its lanes go along
};

/// What a tensor takes, in ns.
struct Costs {
  double inside;    ///< computed in the kernels that use it
  double outside;   ///< in a kernel of its own
  double reads;     ///< bytes of memory that it is computed from
  unsigned kernels; ///< that use it
};

class CostPolicy {
public:
  CostPolicy(Block &block, TargetAttr target) : block_(block), target_(target), rates_(target.getRates()) {}
  Partition run();

private:
  bool isHere(Value value) const { return isComputed(value) && value.getParentBlock() == &block_; }
  void findCones();
  Cone coneOf(Value value);
  /// Whether an element takes more than kMostOperations. The operations of each tensor count once.
  bool takesTooMany(Value value);
  /// An operand, no larger than the value, that is made of more than one tensor, and of the most; null: there is none.
  Value smallerWithCone(Value value);
  void realize(Value value);
  void decide(Value value);
  bool isCheaperInside(Value value);
  /// Why a tensor is computed inside its readers whatever that takes; nullopt where it may be realized.
  std::optional<host::Reason> reasonToBeInside(Value value) const;
  Costs costsOf(Value value);
  /// Whether the one kernel that needs a value in several walks of a row holds it instead of computing it in each.
  bool isHeldInRow(Value value, double operations) const;
  void giveUsesToOperands(Value value);
  /// `use` is the reader's, or its loops with the view of its input.
  void addUse(const Edge &edge, Use use);
  double timesOf(const Use &use) const;
  double tileReuse(const Use &use) const;
  /// Whether a value is an operand that a sum of products takes before it is cast to this.
  bool isWidenedForProduct(Value value, const Use &use) const;
  void setProduct(Kernel &kernel, graph::ReduceOp reduce, const Domain::Reduced &reduced);
  double operationsFor(Value value);
  Value anchorOf(Value output);

  Block &block_;
  TargetAttr target_;
  RatesAttr rates_;
  llvm::SetVector<Value> realized_;
  llvm::DenseMap<Value, Cone> cones_;
  llvm::DenseMap<Value, std::vector<Use>> uses_;
  std::vector<Kernel> kernels_;
  llvm::DenseSet<Operation *> narrow_; ///< sums of products that take their operands as these are before a cast
  llvm::DenseMap<Value, Placement> placements_;
  llvm::DenseSet<Value> held_; ///< for a row at a time, by its kernel
  llvm::DenseSet<Value> deep_; ///< read through more than kMostViews views
};

} // namespace

static graph::ReduceOp reduceOf(Value value) { return value.getDefiningOp<graph::ReduceOp>(); }

static double elementsOf(Value tensor) { return elementsOf(shapeOf(tensor)); }

static double bytesOf(Value tensor) {
  return elementsOf(tensor) * byteSize(cast<RankedTensorType>(tensor.getType()).getElementType());
}

static double pointsOver(graph::ReduceOp reduce) {
  double points = 1;
  view::Shape input = shapeOf(reduce.getInput());
  for (int64_t axis : reduce.getAxes())
    points *= typicalSize(input[axis]);
  return points;
}

static bool isWeight(Value value) { return isa_and_nonnull<graph::WeightOp>(value.getDefiningOp()); }

Cone CostPolicy::coneOf(Value value) {
  Cone cone;
  if (auto alu = value.getDefiningOp<graph::AluOp>())
    cone.operations = operationsOf(alu.getKind().getValue());
  for (const Edge &edge : sourcesOf(value)) {
    if (isNumber(edge.base))
      continue;
    bool isMemory = !isHere(edge.base) || realized_.contains(edge.base);
    if (!isMemory)
      cone.depth = std::max(cone.depth, cones_[edge.base].depth + 1);
    if (isMemory || reduceOf(edge.base)) {
      cone.sources.insert(edge.base);
      continue;
    }
    const Cone &inner = cones_[edge.base];
    cone.operations = std::min(cone.operations + inner.operations, 1e6);
    cone.sources.insert(inner.sources.begin(), inner.sources.end());
  }
  return cone;
}

bool CostPolicy::takesTooMany(Value value) {
  double operations = 0;
  llvm::SmallSetVector<Value, 16> found;
  found.insert(value);
  for (size_t i = 0; i < found.size() && operations <= kMostOperations; ++i) {
    if (auto alu = found[i].getDefiningOp<graph::AluOp>())
      operations += operationsOf(alu.getKind().getValue());
    for (const Edge &edge : sourcesOf(found[i]))
      if (!isNumber(edge.base) && isHere(edge.base) && !realized_.contains(edge.base) && !reduceOf(edge.base))
        found.insert(edge.base);
  }
  return operations > kMostOperations;
}

Value CostPolicy::smallerWithCone(Value value) {
  Value found;
  size_t most = 1;
  for (const Edge &edge : sourcesOf(value)) {
    if (isNumber(edge.base) || !isHere(edge.base) || realized_.contains(edge.base) || reduceOf(edge.base) ||
        bytesOf(edge.base) > bytesOf(value))
      continue;
    if (size_t sources = cones_[edge.base].sources.size(); sources > most) {
      found = edge.base;
      most = sources;
    }
  }
  return found;
}

void CostPolicy::findCones() {
  for (Operation &op : block_)
    for (Value value : op.getResults()) {
      if (!isHere(value))
        continue;
      auto isTooLarge = [&](const Cone &cone) {
        return cone.sources.size() > kMostSources || cone.depth > kMostDepth ||
               (cone.operations > kMostOperations && takesTooMany(value));
      };
      Cone cone = coneOf(value);
      // The products of a sum are many times what they are made of.
      while (isTooLarge(cone)) {
        Value smaller = smallerWithCone(value);
        realized_.insert(smaller ? smaller : value);
        if (!smaller)
          break;
        cone = coneOf(value);
      }
      cones_[value] = std::move(cone);
    }
}

/// How often a kernel computes what it reads through the use's view: the axes that it does not move along are walked
/// again and again where they lie outside of one that it moves along.
double CostPolicy::timesOf(const Use &use) const {
  const Domain &domain = kernels_[use.kernel].domain;
  llvm::SmallBitVector moves = axesOf(use.tracker);
  moves.resize(domain.sizes().size());
  if (use.inside) {
    double times = use.walks;
    for (int64_t axis : use.loops)
      times *= moves.test(axis) ? typicalSize(domain.sizes()[axis]) : 1;
    return times;
  }
  double times = 1, open = 1;
  for (bool reduced : {false, true})
    for (auto [axis, size] : llvm::enumerate(domain.sizes())) {
      if (domain.isReduced(axis) != reduced)
        continue;
      // A reduced axis belongs to its own loop: it is open only for what moves along it.
      if (!reduced || moves.test(axis))
        open *= typicalSize(size);
      if (moves.test(axis))
        times = open;
    }
  return times;
}

/// Operations for one element.
double CostPolicy::operationsFor(Value value) {
  graph::ReduceOp reduce = reduceOf(value);
  if (!reduce)
    return cones_[value].operations;
  double each = 1;
  for (const Edge &edge : sourcesOf(value))
    each += cones_[edge.base].operations;
  return pointsOver(reduce) * each;
}

/// For how many products the kernel's product computes an operand's element once, in steps of a vector's arithmetic.
double CostPolicy::tileReuse(const Use &use) const {
  const Kernel &kernel = kernels_[use.kernel];
  if (rates_.getTileReuse() <= 1)
    return 1;
  // Beside a weight, which is packed before the program runs, the other operand is read where it is. Without one both
  // operands of a large product are staged.
  if (!kernel.hasWeight && kernel.isStaged)
    return std::numeric_limits<double>::infinity();
  // Lanes go along the columns. What does not move along them is a number, not a vector.
  llvm::SmallBitVector moves = axesOf(use.tracker);
  bool isVector = !kernel.hasWeight && kernel.columns < moves.size() && moves.test(kernel.columns);
  return isVector ? rates_.getTileReuse() : rates_.getTileReuse() * target::times::kNumberReuse;
}

bool CostPolicy::isWidenedForProduct(Value value, const Use &use) const {
  auto alu = value.getDefiningOp<graph::AluOp>();
  if (!alu || alu.getKind().getValue() != Alu::CAST || !use.inside || !narrow_.contains(use.inside))
    return false;
  auto sum = cast<graph::ReduceOp>(use.inside);
  return getElementTypeOrSelf(value) == getElementTypeOrSelf(sum) && value != edgeOf(sum.getInput()).base;
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
    kernel.hasWeight |= isWeight(operand.base) || (isNarrow && isWeight(uncast(operand.base)));
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

bool CostPolicy::isHeldInRow(Value value, double operations) const {
  ArrayRef<Use> uses = uses_.find(value)->second;
  // Sums that do not need each other share one walk; what is stored has another.
  if (llvm::all_of(uses, [](const Use &use) { return use.inside; }))
    return false;
  const Kernel &kernel = kernels_[uses.front().kernel];
  ArrayRef<Expr> sizes = kernel.domain.sizes();
  // Walks along the kernel's last axis, and rows around it.
  size_t along = sizes.size(), rows;
  while (along > 0 && sizes[along - 1].isConst(1))
    --along;
  if (kernel.product || along < 2 || !kernel.domain.isReduced(along - 1))
    return false;
  rows = --along;
  while (rows > 0 && (sizes[rows - 1].isConst(1) || kernel.domain.isReduced(rows - 1)))
    --rows;
  ShapeTracker tracker = kernel.domain.widen(uses.front().tracker);
  llvm::SmallBitVector moves = axesOf(tracker);
  bool areWalks = llvm::all_of(uses, [&](const Use &use) {
    return use.kernel == uses.front().kernel && kernel.domain.widen(use.tracker) == tracker &&
           (!use.inside || ArrayRef<int64_t>(use.loops) == ArrayRef<int64_t>{int64_t(along)});
  });
  return areWalks && rows > 0 && moves.test(rows - 1) && moves.test(along) && !isMasked(tracker) &&
         target::paysToHold(target_, sizes[along], getElementTypeOrSelf(value), operations, uses.size());
}

std::optional<host::Reason> CostPolicy::reasonToBeInside(Value value) const {
  ArrayRef<Use> uses = uses_.find(value)->second;
  if (!uses.empty() && llvm::all_of(uses, [](const Use &use) { return use.isScore; }))
    return host::Reason::Score;
  if (value.getDefiningOp()->hasAttr(kHeldAttr))
    return host::Reason::Held;
  if (llvm::any_of(uses, [&](const Use &use) { return isWidenedForProduct(value, use); }))
    return host::Reason::Inside;
  return std::nullopt;
}

Costs CostPolicy::costsOf(Value value) {
  graph::ReduceOp reduce = reduceOf(value);
  double elements = elementsOf(value), operations = operationsFor(value);
  const Cone &cone = cones_[reduce ? edgeOf(reduce.getInput()).base : value];
  // A reduce among the sources joins a kernel of this tensor's own, and needs memory where it is read again and again.
  double reads = 0, totals = 0, launches = 0;
  for (Value source : cone.sources) {
    bool isTotal = isHere(source) && reduceOf(source) && !realized_.contains(source) && !reduce;
    (isTotal ? totals : reads) += bytesOf(source);
    launches += isTotal;
  }
  llvm::SmallSetVector<unsigned, 4> kernels;
  double inside = 0, times = 0;
  for (const Use &use : uses_[value]) {
    Kernel &kernel = kernels_[use.kernel];
    double rate = rates_.getOpsPerNs(), once = timesOf(use);
    double lostTile = kernel.productOperations * (1 / rates_.getOpsPerNs() - 1 / rates_.getProductOpsPerNs());
    bool isOperand = use.inside && use.inside == kernel.product &&
                     value != edgeOf(cast<graph::ReduceOp>(kernel.product).getInput()).base;
    if (isOperand) {
      once = std::max(elements, once / tileReuse(use));
      // A register tile is made of operands that are one load each, but for what stands beside a weight.
      if (cone.sources.size() > 1 && !kernel.hasWeight)
        inside += lostTile;
    }
    times += once;
    if (reduce) {
      // One product a kernel gets a register tile, and no kernel that holds other reduces.
      bool tiles = isProduct(reduce) && kernel.reduces == 0 && use.tracker.isContiguous();
      if (tiles)
        rate = rates_.getProductOpsPerNs();
      else
        inside += lostTile;
      // Each of its elements is one row's work: few rows leave most of a wide device idle.
      double idle = std::max(0.0, double(rates_.getUnits()) / std::max(once, 1.0) - 1);
      if (once < kernel.points)
        inside += idle * (reads / rates_.getBytesPerNs() + once * operations / rate);
    }
    inside += once * operations / rate;
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

bool CostPolicy::isCheaperInside(Value value) {
  ArrayRef<Use> uses = uses_[value];
  if (uses.size() > kMostUses) {
    placements_[value] = {host::Reason::Uses};
    return false;
  }
  if (std::optional<host::Reason> reason = reasonToBeInside(value)) {
    placements_[value] = {*reason};
    return true;
  }
  Costs costs = costsOf(value);
  double operations = operationsFor(value);
  if (!reduceOf(value) && isHeldInRow(value, operations)) {
    double held = timesOf(uses.front()) * (operations + target::stepsToHold(uses.size())) / rates_.getOpsPerNs() +
                  costs.reads / rates_.getBytesPerNs();
    if (held < std::min(costs.inside, costs.outside)) {
      placements_[value] = {host::Reason::Held, std::llround(held), std::llround(costs.outside), 1};
      held_.insert(value);
      return true;
    }
  }
  bool isInside = costs.inside <= costs.outside;
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
  // What stands still in the loops of a reduce is computed before them.
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
  // What is held is computed once, wherever it is used.
  if (held_.contains(value))
    uses = {*llvm::find_if(uses, [](const Use &use) { return !use.inside; })};
  else if (value.getDefiningOp()->hasAttr(kHeldAttr))
    uses = {*llvm::min_element(uses, [&](const Use &a, const Use &b) { return timesOf(a) < timesOf(b); })};
  graph::ReduceOp reduce = reduceOf(value);
  auto gather = value.getDefiningOp<graph::GatherOp>();
  for (const Use &use : uses) {
    if (reduce) {
      Kernel &kernel = kernels_[use.kernel];
      Domain::Reduced reduced = kernel.domain.enter(reduce, use.tracker);
      bool isFirst = kernel.reduces++ == 0;
      if (isFirst && isProduct(reduce) && use.tracker.isContiguous()) {
        setProduct(kernel, reduce, reduced);
      }
      double walks = timesOf(use);
      addUse(edgeOf(reduce.getInput()), {use.kernel, reduced.input, reduce, reduced.axes, walks});
      if (reduce.getScore())
        addUse(edgeOf(reduce.getScore()), {use.kernel, reduced.input, reduce, reduced.axes, walks, /*isScore=*/true});
    } else if (gather) {
      addUse(edgeOf(gather.getIndices()),
             {use.kernel, indicesOf(gather, use.tracker), use.inside, use.loops, use.walks});
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
  for (auto reduce : block_.getOps<graph::ReduceOp>())
    if (multipliesNarrow(reduce, target_, isWeight))
      narrow_.insert(reduce);
  findCones();
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
  mergeKernels(groups, result.realized);
  for (KernelGroup *group : inOrder(groups))
    result.groups.push_back(*group);
  return result;
}

Partition schedule::partitionByCost(Block &block, TargetAttr target) { return CostPolicy(block, target).run(); }
