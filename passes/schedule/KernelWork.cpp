//===- KernelWork.cpp - How often a kernel computes what it is made of ------------------===//
// A kernel computes a tensor that has no memory wherever it needs it, which may be at more points than the tensor has
// elements. The number of these points goes into the costs. But costs are estimates, and a wrong one can make a kernel
// compute attention's scores again for each of its columns. So the work of each kernel is also compared with the
// graph's own.
//===----------------------------------------------------------------------------------===//

#include "passes/schedule/CostPolicy.h"

#include "passes/schedule/Cost.h"
#include "passes/schedule/MarkAttention.h"
#include "passes/schedule/Products.h"

#include "ir/base/AluTraits.h"
#include "target/Times.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::Expr;

/// A kernel does at most so many times the graph's own work. Each term of a sum and each exponential counts one. A
/// softmax that computes its exponentials in two walks of a row stays below that.
static constexpr double kMostWork = 1.5;

double schedule::pointsOver(graph::ReduceOp reduce) {
  double points = 1;
  view::Shape input = shapeOf(reduce.getInput());
  for (int64_t axis : reduce.getAxes())
    points *= typicalSize(input[axis]);
  return points;
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
    return std::min(times, use.most);
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
  return std::min(times, use.most);
}

bool CostPolicy::isTileOperand(Value value, const Use &use) const {
  Operation *product = kernels_[use.kernel].product;
  return use.inside && use.inside == product && value != edgeOf(cast<graph::ReduceOp>(product).getInput()).base;
}

double CostPolicy::pointsOf(Value value, const Use &use) const {
  double times = timesOf(use);
  return isTileOperand(value, use) ? std::max(elementsOf(value), times / tileReuse(use)) : times;
}

/// For how many products the kernel's product computes an operand's element once, in steps of a vector's arithmetic.
double CostPolicy::tileReuse(const Use &use) const {
  const Kernel &kernel = kernels_[use.kernel];
  if (rates_.getTileReuse() <= 1)
    return 1;
  // Next to a weight, which is packed before the program runs, the other operand is read where it is. Without one both
  // operands of a large product are staged.
  if (!kernel.hasWeight && kernel.isStaged)
    return std::numeric_limits<double>::infinity();
  // Lanes go along the columns. A factor that does not move along them is a number, not a vector.
  llvm::SmallBitVector moves = axesOf(use.tracker);
  bool isVector = !kernel.hasWeight && kernel.columns < moves.size() && moves.test(kernel.columns);
  return isVector ? rates_.getTileReuse() : rates_.getTileReuse() * target::times::kNumberReuse;
}

/// The work of one element: the terms of a reduce, one for a function such as an exponential, nothing for all else.
static double workOf(Value value) {
  if (graph::ReduceOp reduce = reduceOf(value))
    return pointsOver(reduce);
  auto alu = value.getDefiningOp<graph::AluOp>();
  return alu && aluTraits(alu.getKind().getValue()).family == AluClass::Function ? 1 : 0;
}

/// Whether a tensor is the terms of a sum, read as they are.
static bool isSummed(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    auto view = dyn_cast<graph::ViewOp>(user);
    return view ? isSummed(view.getResult()) : isa<graph::ReduceOp>(user);
  });
}

/// The last of the element-wise operations that follow a tensor as its only reader: it gets memory in the tensor's
/// place, so that these are not repeated either. Products stay where their sum is.
static Value lastOfElements(Value value) {
  while (value.hasOneUse()) {
    auto alu = dyn_cast<graph::AluOp>(*value.getUsers().begin());
    bool isTerms = alu && alu.getKind().getValue() == Alu::MUL && isSummed(alu.getResult());
    if (!alu || isTerms || isHeld(alu.getResult()))
      break;
    value = alu.getResult();
  }
  return value;
}

/// Of the element-wise operations that follow a sum as its only reader, the first that gives the fewest bytes, if they
/// are fewer than the sum's own; null: none does. Products stay where their sum is.
static Value narrowerAfter(Value sum) {
  Value least;
  auto bytes = [](Value value) { return elementsOf(value) * byteSize(getElementTypeOrSelf(value)); };
  for (Value value = sum; value.hasOneUse();) {
    Operation *user = *value.getUsers().begin();
    auto alu = dyn_cast<graph::AluOp>(user);
    bool isTerms = alu && alu.getKind().getValue() == Alu::MUL && isSummed(alu.getResult());
    if ((!alu && !isa<graph::ViewOp>(user)) || isTerms || elementsOf(user->getResult(0)) > elementsOf(sum))
      break;
    value = user->getResult(0);
    if (alu && bytes(value) < bytes(least ? least : sum))
      least = value;
  }
  return least;
}

llvm::SetVector<Value> CostPolicy::findNarrower() const {
  llvm::SetVector<Value> found;
  for (Value value : realized_)
    if (graph::ReduceOp sum = reduceOf(value); sum && isProduct(sum) && !roleOf(sum))
      if (Value narrower = narrowerAfter(value); narrower && uses_.contains(narrower))
        found.insert(narrower);
  return found;
}

/// The share of a use's points at which it reads an element. The others are padding.
static double shareOfValid(const view::ShapeTracker &tracker) {
  double share = 1;
  const view::View &view = tracker.views().back();
  if (std::optional<ArrayRef<view::Range>> mask = view.mask())
    for (auto [range, size] : llvm::zip(*mask, view.shape()))
      share *= std::min(1.0, std::max(0.0, typicalSize(range.end - range.begin)) / std::max(1.0, typicalSize(size)));
  return share;
}

llvm::SetVector<Value> CostPolicy::findRepeated() const {
  struct Work {
    double own = 0, done = 0;
    double mostRepeated = 0;
    Value repeated;
    bool isFixed;
  };
  SmallVector<Work> work(kernels_.size());
  for (auto [kernel, each] : llvm::zip(kernels_, work))
    each.isFixed = llvm::all_of(kernel.domain.sizes(), [](Expr size) { return size.isConst(); });
  // In the graph's order, so that the same one of equals is found each time.
  SmallVector<Value> values;
  for (Operation &op : block_)
    llvm::copy_if(op.getResults(), std::back_inserter(values), [&](Value value) { return uses_.contains(value); });
  for (Value value : values) {
    ArrayRef<Use> uses = uses_.find(value)->second;
    double each = workOf(value), elements = elementsOf(value);
    if (each == 0)
      continue;
    llvm::SmallMapVector<unsigned, double, 4> points;
    for (const Use &use : uses)
      points[use.kernel] += pointsOf(value, use) * shareOfValid(use.tracker);
    bool isOnce = isHeld(value) || held_.contains(value) || realized_.contains(value);
    bool isScore = llvm::any_of(uses, [](const Use &use) { return use.isScore; });
    for (auto [kernel, times] : points) {
      if (isOnce)
        times = elements;
      // Kernels that compute the same tensor share its own work.
      double own = isScore ? times : std::min(times, elements / double(points.size())), repeated = each * (times - own);
      work[kernel].own += each * own;
      work[kernel].done += each * times;
      if (repeated > work[kernel].mostRepeated && !isOnce) {
        work[kernel].mostRepeated = repeated;
        work[kernel].repeated = value;
      }
    }
  }
  llvm::SetVector<Value> found;
  for (const Work &each : work) {
    // Work that takes less than a launch is not worth one. With an open size nobody knows how long it takes.
    bool isLittle = each.isFixed && (each.done - each.own) / rates_.getOpsPerNs() < rates_.getLaunchNs();
    if (each.repeated && each.done > kMostWork * each.own && !isLittle)
      found.insert(lastOfElements(each.repeated));
  }
  return found;
}
