//===- KernelWork.cpp - How often a kernel computes what it is made of ------------------===//
// A kernel computes a tensor that has no memory wherever it needs it, which may be at more points than the tensor has
// elements. The number of these points goes into the costs.
//===----------------------------------------------------------------------------------===//

#include "passes/schedule/CostPolicy.h"

#include "passes/schedule/Cost.h"

#include "target/Times.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;
using view::Expr;

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
  // Lanes go along the columns. What does not move along them is a number, not a vector.
  llvm::SmallBitVector moves = axesOf(use.tracker);
  bool isVector = !kernel.hasWeight && kernel.columns < moves.size() && moves.test(kernel.columns);
  return isVector ? rates_.getTileReuse() : rates_.getTileReuse() * target::times::kNumberReuse;
}
