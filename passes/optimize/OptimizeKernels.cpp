//===- OptimizeKernels.cpp - Choose each kernel's opts and apply them ----------------===//
// Stage: optimize (kernel → kernel).  The order in which a kernel walks its domain decides how fast it is. A list of
// opts is chosen, by hand or from the kernel's structure, and applied one by one; the list stays on the kernel as data.
// Expects: normalized axes.   Guarantees: axes, index and stages say all that lower needs.
// Position: before launches are split, because that goes by the stages that opts make.
//===----------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/optimize/ApplyOpts.h"
#include "passes/optimize/Heuristic.h"

#include "support/Error.h"

using namespace kiln;
using namespace mlir;
using kernel::AxisKind;
using view::Expr;

namespace kiln {
#define GEN_PASS_DEF_OPTIMIZEKERNELS
#include "passes/Passes.h.inc"
} // namespace kiln

/// A group of more items, or with more local memory, than the device has would fail only when it is launched.
static llvm::Error checkGroup(kernel::FuncOp func, TargetAttr target) {
  if (target.maxItems() == 0)
    return llvm::Error::success();
  int64_t items = 1, bytes = 0;
  for (kernel::AxisAttr axis : func.getLoopAxes())
    if (axis.getKind() == kernel::AxisKind::Item)
      items *= axis.getSize().getValue().constant();
  for (auto stage : func.getBody().getOps<kernel::StageOp>())
    if (items > 1 && !stage.getBuffer())
      bytes += stage.getElements().max() * int64_t(byteSize(stage.getResult().getType()));
  for (auto reduce : func.getBody().getOps<kernel::ReduceOp>()) {
    bool meets = false;
    int64_t totals = 1; // of an item
    for (kernel::AxisAttr axis : func.getLoopAxes()) {
      bool isReduced = llvm::is_contained(reduce.getAxes(), axis.getId());
      meets |= isReduced && axis.getKind() == AxisKind::Item;
      if (!isReduced && (axis.getKind() == AxisKind::Upcast || axis.getKind() == AxisKind::Lane))
        totals *= axis.getSize().getValue().constant();
    }
    bytes += meets ? 2 * items * totals * int64_t(byteSize(reduce.getResult().getType())) : 0; // they meet twice
  }
  if (items > target.maxItems())
    return failure("kernel " + func.getName() + ": its groups have " + llvm::Twine(items) + " items, the device's " +
                       llvm::Twine(target.maxItems()) + " at most",
                   "split by less with LOCAL or GROUP");
  if (bytes > target.localBytes())
    return failure("kernel " + func.getName() + ": its groups want " + llvm::Twine(bytes) +
                       " bytes of local memory, the device has " + llvm::Twine(target.localBytes()),
                   "split by less with LOCAL or GROUP, or STAGE less");
  return llvm::Error::success();
}

/// For each kernel, which of its buffers are weights wherever it is launched.
static llvm::StringMap<llvm::SmallBitVector> weightsOf(ModuleOp module) {
  llvm::StringMap<llvm::SmallBitVector> weights;
  for (auto program : module.getOps<host::ProgramOp>())
    program.walk([&](host::LaunchOp launch) {
      auto [known, isNew] = weights.try_emplace(launch.getKernel(), launch.getBuffers().size(), true);
      for (auto [index, buffer] : llvm::enumerate(launch.getBuffers()))
        if (!buffer.getDefiningOp<host::WeightOp>())
          known->second.reset(index);
    });
  return weights;
}

namespace {
struct OptimizeKernels : kiln::impl::OptimizeKernelsBase<OptimizeKernels> {
  using Base::Base;

  void runOnOperation() override {
    TargetAttr target = targetOf(getOperation());
    weights_ = weightsOf(getOperation());
    for (auto func : getOperation().getOps<kernel::FuncOp>()) {
      if (!func.getOpts().empty())
        continue;
      llvm::Expected<SmallVector<kernel::OptAttr>> opts = optsOf(func, target);
      llvm::Error error = opts ? apply(func, *opts) : opts.takeError();
      if (!error)
        error = checkGroup(func, target);
      if (error) {
        func.emitError() << llvm::toString(std::move(error));
        return signalPassFailure();
      }
    }
  }

  llvm::Error apply(kernel::FuncOp func, ArrayRef<kernel::OptAttr> opts) {
    for (kernel::OptAttr opt : opts)
      if (llvm::Error error = optimize::applyOpt(func, opt))
        return failure("kernel " + func.getName() + ": " + llvm::toString(std::move(error)));
    return llvm::Error::success();
  }

  /// By hand where the opts text has a line for the kernel, else by the heuristic.
  llvm::Expected<SmallVector<kernel::OptAttr>> optsOf(kernel::FuncOp func, TargetAttr target) {
    SmallVector<llvm::StringRef> lines;
    llvm::StringRef(opts).split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef line : lines) {
      auto [name, list] = line.split(':');
      if (name.trim() == func.getName())
        return optimize::parseOpts(&getContext(), list);
    }
    if (noOpt)
      return SmallVector<kernel::OptAttr>();
    llvm::SmallBitVector weights = weights_.lookup(func.getName());
    weights.resize(func.getNumArguments());
    return optimize::chooseOpts(func, target, weights);
  }

  llvm::StringMap<llvm::SmallBitVector> weights_;
};
} // namespace
