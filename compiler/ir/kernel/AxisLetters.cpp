#include "ir/kernel/AxisLetters.h"

#include "ir/kernel/Walk.h"

#include "llvm/ADT/DenseSet.h"

using namespace kiln;
using namespace kiln::kernel;

std::string kernel::axisLetters(FuncOp func) {
  llvm::DenseSet<int64_t> reduced;
  for (auto reduce : func.getBody().getOps<ReduceOp>())
    for (int64_t axis : reduce.getAxes())
      reduced.insert(axis);
  std::string letters;
  for (auto [size, index] : llvm::zip(func.getDomain().getSizes(), func.getIndex().getSizes())) {
    if (size.isConst(1))
      continue;
    bool isReduced = false, isUnrolled = true, isSpread = false, isItem = false;
    for (int64_t id : axesOf(index)) {
      AxisKind kind = func.getLoopAxis(id).getKind();
      isReduced |= reduced.contains(id);
      isUnrolled &= kind == AxisKind::Upcast || kind == AxisKind::Lane || kind == AxisKind::Fragment;
      isSpread |= kind == AxisKind::Group || kind == AxisKind::Chunk;
      isItem |= kind == AxisKind::Item;
    }
    letters += isReduced ? (isUnrolled ? 'm' : 'r') : isSpread ? 'g' : isItem ? 'i' : isUnrolled ? 'u' : 'l';
  }
  return letters;
}
