#include "passes/optimize/GroupSize.h"

#include "ir/base/Base.h"

using namespace kiln;
using namespace kiln::kernel;

optimize::GroupSize optimize::groupSizeOf(FuncOp func) {
  GroupSize size;
  for (AxisAttr axis : func.getLoopAxes())
    if (axis.getKind() == AxisKind::Item)
      size.items *= axis.getSize().getValue().constant();
  for (auto stage : func.getBody().getOps<StageOp>())
    if (size.items > 1 && !stage.getBuffer())
      size.bytes += stage.getElements().max() * int64_t(byteSize(stage.getResult().getType()));
  for (auto reduce : func.getBody().getOps<ReduceOp>()) {
    bool meets = false;
    int64_t totals = 1; // of an item
    for (AxisAttr axis : func.getLoopAxes()) {
      bool isReduced = llvm::is_contained(reduce.getAxes(), axis.getId());
      meets |= isReduced && axis.getKind() == AxisKind::Item;
      if (!isReduced && (axis.getKind() == AxisKind::Upcast || axis.getKind() == AxisKind::Lane))
        totals *= axis.getSize().getValue().constant();
    }
    if (meets) // they are exchanged twice
      size.bytes += 2 * size.items * totals * int64_t(byteSize(reduce.getResult().getType()));
  }
  return size;
}
