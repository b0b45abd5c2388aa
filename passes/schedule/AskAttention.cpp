//===- AskAttention.cpp - Whether a kernel can hold the rows that it is to hold --------===//
// A mark says that a kernel computes a tensor once and holds it. If optimize then held nothing, the kernel would
// compute it again for each element of its result, hundreds of times. So each kernel with marks is built as optimize
// will see it, and asked, before the marks are believed.
//===----------------------------------------------------------------------------------===//

#include "passes/schedule/AskAttention.h"

#include "passes/schedule/KernelBuilder.h"
#include "passes/schedule/MarkAttention.h"

#include "ir/kernel/Attention.h"
#include "ir/kernel/Normalize.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"

using namespace kiln;
using namespace kiln::schedule;
using namespace mlir;

/// The results of the attentions whose rows a group's kernel computes.
static llvm::SetVector<Operation *> resultsOf(const KernelGroup &group, llvm::function_ref<bool(Value)> isMemory) {
  llvm::SetVector<Operation *> results;
  llvm::SetVector<Value> open(group.outputs.begin(), group.outputs.end());
  for (size_t i = 0; i < open.size(); ++i) {
    auto reduce = open[i].getDefiningOp<graph::ReduceOp>();
    if (reduce && roleOf(reduce))
      results.insert(resultOf(reduce));
    for (const Edge &edge : sourcesOf(open[i]))
      if (isComputed(edge.base) && !isMemory(edge.base))
        open.insert(edge.base);
  }
  return results;
}

static bool holdsRows(kernel::FuncOp func, TargetAttr target) {
  kernel::applyNormalization(func, kernel::planNormalization(func));
  kernel::splitReducedAxes(func);
  std::optional<kernel::Attention> found = kernel::attentionOf(func);
  if (!found)
    return false;
  ArrayRef<view::Expr> domain = func.getDomain().getSizes();
  int64_t columns = domain[found->column()].constant(), bytes = byteSize(found->scores.getResult().getType());
  return target::heldRows(target, target::countedKeys(target, domain[found->key], columns, bytes), columns, bytes) > 0;
}

bool schedule::unmarkWhatIsNotHeld(Block &block, const Partition &partition, TargetAttr target,
                                   llvm::function_ref<bool(Value)> isMemory) {
  bool isAny = llvm::any_of(block.getOps<graph::ReduceOp>(), [](graph::ReduceOp reduce) { return roleOf(reduce); });
  if (!isAny)
    return false;
  OwningOpRef<ModuleOp> tried = ModuleOp::create(UnknownLoc::get(block.getParentOp()->getContext()));
  OpBuilder builder = OpBuilder::atBlockEnd(tried->getBody());
  bool found = false;
  for (const KernelGroup &group : partition.groups) {
    llvm::SetVector<Operation *> results = resultsOf(group, isMemory);
    if (results.empty() || holdsRows(buildKernel(builder, group, isMemory, /*classic=*/false).func, target))
      continue;
    for (Operation *result : results)
      unmarkAttention(cast<graph::ReduceOp>(result));
    found = true;
  }
  return found;
}
