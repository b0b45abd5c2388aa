//===- PassScratch.cpp - Give launches the memory that their stages want ---------------===//
// Stage: optimize (host → host).
// A stage of a chunk's own, and totals that are held, are memory that the kernel takes as its last arguments. A worker
// runs one chunk at a time, so on a CPU such memory is a worker's, of whom there are few: it stays in that core's cache
// from chunk to chunk, and does not grow with the chunks. Of a GPU's groups nobody knows how many run at once.
// Expects: opts applied, launches split.
// Guarantees: each launch passes a buffer for each scratch argument: on a CPU host.scratch, else one with a share for
// every work group.
// Position: before the memory is planned.
//===----------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/base/Target.h"
#include "ir/host/LaunchSizes.h"

#include "mlir/IR/Builders.h"

using namespace kiln;
using namespace mlir;
using view::Expr;

namespace kiln {
#define GEN_PASS_DEF_PASSSCRATCH
#include "passes/Passes.h.inc"
} // namespace kiln

static void passScratch(host::LaunchOp launch, kernel::FuncOp func, bool hasGroups) {
  ArrayRef<Expr> scratch = func.getScratch().getSizes();
  if (scratch.empty())
    return;
  OpBuilder builder(launch);
  Type sliceType = host::SliceType::get(builder.getContext());
  Expr groups = 1;
  for (kernel::AxisAttr axis : func.getLoopAxes())
    if (axis.getKind() == kernel::AxisKind::Group)
      groups = groups * axis.getSize().getValue();
  size_t first = func.getNumArguments() - scratch.size();
  for (auto [index, elements] : llvm::enumerate(scratch)) {
    Type element = cast<kernel::BufferType>(func.getArgument(first + index).getType()).getElement();
    Expr bytes = groups * elements * int64_t(byteSize(element));
    Value size = host::evaluate(builder, launch, func.getSizes().getSizes(), bytes);
    if (!hasGroups) {
      auto own = host::ScratchOp::create(builder, launch.getLoc(), sliceType, size);
      launch.getBuffersMutable().append(own.getResult());
      continue;
    }
    Value slice = host::AllocOp::create(builder, launch.getLoc(), sliceType, size);
    launch.getBuffersMutable().append(slice);
    if (!isa<host::ProgramOp>(launch->getParentOp())) {
      builder.setInsertionPointAfter(launch);
      host::FreeOp::create(builder, launch.getLoc(), slice);
      builder.setInsertionPoint(launch);
    }
  }
}

namespace {
struct PassScratch : kiln::impl::PassScratchBase<PassScratch> {
  void runOnOperation() override {
    llvm::StringMap<kernel::FuncOp> kernels;
    for (auto func : getOperation().getOps<kernel::FuncOp>())
      kernels[func.getName()] = func;
    bool hasGroups = targetOf(getOperation()).getGroups() != nullptr;
    SmallVector<host::LaunchOp> launches;
    for (auto program : getOperation().getOps<host::ProgramOp>())
      program.walk([&](host::LaunchOp launch) { launches.push_back(launch); });
    for (host::LaunchOp launch : launches)
      if (auto func = kernels.find(launch.getKernel()); func != kernels.end())
        passScratch(launch, func->second, hasGroups);
  }
};
} // namespace
