//===- PassScratch.cpp - Give launches the memory that their stages want ---------------===//
// Stage: optimize (host → host).
// A stage of a chunk's own, and totals that are held, are memory that the kernel takes as its last arguments.
// Expects: opts applied, launches split.
// Guarantees: each launch passes a buffer for each scratch argument, a share for every chunk or work group.
// Position: before the memory is planned.
//===----------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "ir/host/LaunchSizes.h"

#include "mlir/IR/Builders.h"

using namespace kiln;
using namespace mlir;
using view::Expr;

namespace kiln {
#define GEN_PASS_DEF_PASSSCRATCH
#include "passes/Passes.h.inc"
} // namespace kiln

static void passScratch(host::LaunchOp launch, kernel::FuncOp func) {
  ArrayRef<Expr> scratch = func.getScratch().getSizes();
  if (scratch.empty())
    return;
  OpBuilder builder(launch);
  Expr chunks = 1;
  for (kernel::AxisAttr axis : func.getLoopAxes())
    if (axis.getKind() == kernel::AxisKind::Chunk || axis.getKind() == kernel::AxisKind::Group)
      chunks = chunks * axis.getSize().getValue();
  size_t first = func.getNumArguments() - scratch.size();
  for (auto [index, elements] : llvm::enumerate(scratch)) {
    Type element = cast<kernel::BufferType>(func.getArgument(first + index).getType()).getElement();
    Expr bytes = chunks * elements * int64_t(byteSize(element));
    Value size = host::evaluate(builder, launch, func.getSizes().getSizes(), bytes);
    Value slice = host::AllocOp::create(builder, launch.getLoc(), host::SliceType::get(builder.getContext()), size);
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
    SmallVector<host::LaunchOp> launches;
    for (auto program : getOperation().getOps<host::ProgramOp>())
      program.walk([&](host::LaunchOp launch) { launches.push_back(launch); });
    for (host::LaunchOp launch : launches)
      if (auto func = kernels.find(launch.getKernel()); func != kernels.end())
        passScratch(launch, func->second);
  }
};
} // namespace
