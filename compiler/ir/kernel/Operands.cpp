#include "ir/kernel/Operands.h"

#include "llvm/ADT/SetVector.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;

bool kernel::dependsOn(Value value, size_t axis) {
  llvm::SetVector<Value> work;
  work.insert(value);
  for (size_t i = 0; i < work.size(); ++i) {
    Operation *op = work[i].getDefiningOp();
    auto reduce = dyn_cast_or_null<ReduceOp>(op);
    if (!op || (reduce && llvm::is_contained(reduce.getAxes(), axis)))
      continue;
    if (auto tracker = op->getAttrOfType<TrackerAttr>("tracker")) {
      auto stride = tracker.getValue().realStrides()[axis];
      if (!stride || !stride->isConst(0))
        return true;
    }
    work.insert(op->operand_begin(), op->operand_end());
  }
  return false;
}

bool kernel::isComputedFrom(Value value, Value source) {
  llvm::SetVector<Value> work;
  work.insert(value);
  for (size_t i = 0; i < work.size() && !work.contains(source); ++i)
    if (Operation *op = work[i].getDefiningOp())
      work.insert(op->operand_begin(), op->operand_end());
  return work.contains(source);
}
