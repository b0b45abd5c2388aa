#include "passes/optimize/choose/Work.h"

#include "ir/base/AluTraits.h"
#include "target/Times.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using namespace kiln::target::times;
using view::Expr;

int64_t optimize::leastOf(Expr size) {
  llvm::DenseMap<Expr, int64_t> values;
  size.forEachVariable([&](Expr symbol) { values[symbol] = std::max<int64_t>(1, symbol.min()); });
  return size.evaluate(values).value_or(1);
}

SmallVector<optimize::Work> optimize::workOf(FuncOp func, TargetAttr target) {
  ArrayRef<Expr> domain = func.getDomain().getSizes();
  llvm::DenseMap<Value, llvm::SmallBitVector> axesOf;
  SmallVector<Work> work;
  for (Operation &op : func.getBody().front()) {
    llvm::SmallBitVector axes(domain.size());
    for (Value operand : op.getOperands())
      if (auto known = axesOf.find(operand); known != axesOf.end())
        axes |= known->second;
    if (auto tracker = op.getAttrOfType<TrackerAttr>("tracker"))
      for (auto [axis, stride] : llvm::enumerate(tracker.getValue().realStrides()))
        if (axis < domain.size() && !(stride && stride->isConst(0)))
          axes.set(axis);
    double points = 1, total = 0;
    for (unsigned axis : axes.set_bits())
      points *= target::typicalSize(domain[axis]);
    Type element = op.getNumResults() ? op.getResult(0).getType() : op.getOperand(0).getType();
    double bits = element.getIntOrFloatBitWidth(), lanes = std::max(1.0, target.vectorBits() / std::max(8.0, bits));
    if (auto tracker = op.getAttrOfType<TrackerAttr>("tracker"); tracker && isa<LoadOp, StoreOp>(op)) {
      double elements = std::min(points, target::typicalSize(tracker.getValue().realSize()));
      total = elements * bits / 8 * kByteNanoseconds;
    } else if (auto alu = dyn_cast<AluOp>(op))
      total = points * aluTraits(alu.getKind().getValue()).steps * kAluNanoseconds / lanes;
    else if (isa<ReduceOp>(op))
      total = points * kAluNanoseconds / lanes;
    work.push_back({&op, axes, total});
    if (auto reduce = dyn_cast<ReduceOp>(op))
      for (int64_t axis : reduce.getAxes())
        axes.reset(axis);
    if (op.getNumResults())
      axesOf[op.getResult(0)] = axes;
  }
  return work;
}

double optimize::nanosecondsOf(FuncOp func, TargetAttr target) {
  double total = 0;
  for (const Work &work : workOf(func, target))
    total += work.nanoseconds;
  return total;
}
