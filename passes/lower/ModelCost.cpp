//===- ModelCost.cpp - A kernel's computation, and its expected time --------------===//
// The time of a launch is one thing, its expected time another; where they differ most, the cost model or the kernel is
// wrong. Both count the same work: the operations of the model, at the points of the domain that each value moves
// along, not as the opts walk them. So recomputation in a stage, packing of operands and tests for an edge are not work
// of the model, and a kernel that does much of them shows as slow.
//
// The rates are the module's, and so are the rules: an element-wise operation has its row's steps, a sum of products
// the rate of products, each buffer is moved once, and a launch takes its time. A cache that holds all buffers gives
// them at its own rate: they were there before, or in the run before.
//===----------------------------------------------------------------------------===//

#include "passes/lower/ModelCost.h"

#include "passes/lower/Estimate.h"

#include "ir/base/AluTraits.h"
#include "ir/kernel/Walk.h"
#include "target/Target.h"

#include "llvm/ADT/SmallBitVector.h"

#include <cmath>

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;

namespace {
/// A value as a function of the domain.
struct Known {
  llvm::SmallBitVector axes; ///< of the domain, that it moves along
  bool isPosition = true;    ///< it says where a point is, or whether it exists
};
} // namespace

/// The axis of the domain that each loop axis, by id, is a part of.
static llvm::DenseMap<int64_t, size_t> domainAxesOf(FuncOp func) {
  llvm::DenseMap<int64_t, size_t> axes;
  for (const Walk &walk : walksOf(func))
    for (auto [domainAxis, index] : llvm::enumerate(walk.index))
      for (int64_t id : axesOf(index))
        axes.try_emplace(id, domainAxis);
  return axes;
}

/// Two factors; each stands still along an axis that the other moves along: a matrix product, a convolution.
static bool isProduct(Value value, const llvm::DenseMap<Value, Known> &known) {
  auto alu = value.getDefiningOp<AluOp>();
  if (!alu || alu.getKind().getValue() != Alu::MUL)
    return false;
  const llvm::SmallBitVector &a = known.at(alu->getOperand(0)).axes, &b = known.at(alu->getOperand(1)).axes;
  return a.test(b) && b.test(a);
}

/// In picoseconds; caches are smaller and faster than what comes after them.
static Expr timeToMove(Expr bytes, TargetAttr target) {
  auto ofByte = [](double bytesPerNs) { return int64_t(std::llround(1000 / bytesPerNs)); };
  int64_t slower = ofByte(target.getRates().getBytesPerNs());
  Expr time = bytes * slower;
  for (auto [size, rate] : llvm::reverse(target::cacheRates(target))) {
    int64_t cached = ofByte(rate);
    if (size && cached < slower) {
      time = time - bytes * view::less(bytes, size + 1) * (slower - cached);
      slower = cached;
    }
  }
  return time;
}

lower::ModelCost lower::modelCostOf(FuncOp func, TargetAttr target) {
  RatesAttr rates = target.getRates();
  // Whole numbers, so that they are expressions over sizes.
  auto picoseconds = [](double steps, double perNanosecond) {
    return int64_t(std::llround(1000 * steps / perNanosecond));
  };
  ArrayRef<Expr> domain = func.getDomain().getSizes();
  llvm::DenseMap<int64_t, size_t> domainAxes = domainAxesOf(func);
  llvm::DenseMap<Value, Known> known;
  Expr operations = 0, time = 0;
  for (Operation &op : func.getBody().front()) {
    Known value{llvm::SmallBitVector(domain.size()), !isa<LoadOp, ReduceOp>(op)};
    for (Value operand : op.getOperands())
      if (auto each = known.find(operand); each != known.end()) {
        value.axes |= each->second.axes;
        value.isPosition &= each->second.isPosition;
      }
    if (auto tracker = op.getAttrOfType<TrackerAttr>("tracker"))
      for (auto [axis, stride] : llvm::enumerate(tracker.getValue().realStrides(/*ignoreValid=*/isa<LoadOp>(op))))
        if (axis < domain.size() && !(stride && stride->isConst(0)))
          value.axes.set(axis);
    auto reduce = dyn_cast<ReduceOp>(op);
    llvm::SmallBitVector reduced(domain.size());
    for (int64_t axis : reduce ? reduce.getAxes() : ArrayRef<int64_t>())
      if (auto at = domainAxes.find(axis); at != domainAxes.end())
        reduced.set(at->second);
    value.axes |= reduced;
    Expr points = 1;
    for (unsigned axis : value.axes.set_bits())
      points = points * domain[axis];
    if (reduce) {
      // A scored sum multiplies each input by the exponential of its score.
      int64_t steps = reduce.getScore() ? 3 : 1;
      operations = operations + points * steps;
      bool isSum = isProduct(reduce.getInput(), known);
      time = time + points * (isSum ? picoseconds(2, rates.getProductOpsPerNs())
                                    : picoseconds(double(steps), rates.getOpsPerNs()));
      value.axes.reset(reduced);
    } else if (auto alu = dyn_cast<AluOp>(op)) {
      Alu kind = alu.getKind().getValue();
      bool isMask = kind == Alu::WHERE && known.at(alu->getOperand(0)).isPosition;
      if (!value.isPosition && !isMask && kind != Alu::CAST && kind != Alu::BITCAST) {
        operations = operations + points;
        // The product's time counts for the sum.
        bool isSummed = alu->hasOneUse() && isa<ReduceOp>(*alu->getUsers().begin()) && isProduct(alu, known);
        if (!isSummed)
          time = time + points * picoseconds(aluTraits(kind).steps, rates.getOpsPerNs());
      }
    }
    if (op.getNumResults())
      known[op.getResult(0)] = value;
  }
  time = time + timeToMove(countBytes(func), target) + picoseconds(rates.getLaunchNs(), 1);
  return {operations, time};
}
