//===- SplitByRepeats.cpp - Kernels for axes that a run may repeat --------------------------===//
// Stage: optimize (host + kernels → host + kernels).
// Why: where only the run knows whether an operand has all elements along an axis or one that is repeated, its stride
// there is multiplied by a step of 1 or 0 (import/CommonSizes.h). No vector is loaded at such a stride, and axes do not
// merge. Mostly nothing is repeated. So there is a kernel for steps of 1, which has no such symbol any more, and one
// for the others.
// Expects: kernels without opts.
// Guarantees: a kernel that moves by steps is launched only where one of them is 0.
// Position: before axes are normalized, which merge where a stride is known.
//===----------------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/optimize/KernelVariants.h"

#include "ir/host/Host.h"
#include "ir/kernel/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;

namespace kiln {
#define GEN_PASS_DEF_SPLITBYREPEATS
#include "passes/Passes.h.inc"
} // namespace kiln

/// Which of a kernel's sizes are 0 or 1 and multiply a stride.
static llvm::SmallBitVector stepsOf(FuncOp func) {
  ArrayRef<Expr> sizes = func.getSizes().getSizes();
  llvm::SmallBitVector steps(sizes.size());
  for (Operation *access : optimize::accessesOf(func)) {
    view::ShapeTracker tracker = optimize::trackerOf(access); // holds what is visited
    for (const view::View &view : tracker.views())
      for (Expr stride : view.strides())
        stride.forEachVariable([&](Expr symbol) {
          if (symbol.min() == 0 && symbol.max() == 1)
            steps.set(llvm::find(sizes, symbol) - sizes.begin());
        });
  }
  return steps;
}

/// Takes all steps for a number: they are no sizes of the kernel's any more.
static void takeFor(FuncOp func, const llvm::SmallBitVector &steps, int64_t number) {
  SmallVector<Expr> sizes(func.getSizes().getSizes()), rest;
  for (auto [index, size] : llvm::enumerate(sizes))
    if (steps.test(index))
      optimize::replaceSymbol(func, size, number);
    else
      rest.push_back(size);
  func.setSizesAttr(DimsAttr::get(func.getContext(), rest));
  for (Operation *access : optimize::accessesOf(func))
    access->setAttr("tracker", TrackerAttr::get(func.getContext(), optimize::trackerOf(access).simplify()));
}

/// Launches the kernel for steps of 1, which it does not take, where they are 1.
static void launchEither(host::LaunchOp launch, FuncOp repeating, const llvm::SmallBitVector &steps) {
  OpBuilder builder(launch);
  Location loc = launch.getLoc();
  Value one = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(1)), repeats;
  SmallVector<Value> rest;
  for (auto [index, size] : llvm::enumerate(launch.getSizes())) {
    if (!steps.test(index)) {
      rest.push_back(size);
      continue;
    }
    Value isZero = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, size, one);
    repeats = repeats ? arith::OrIOp::create(builder, loc, repeats, isZero).getResult() : isZero;
  }
  host::LaunchOp other = optimize::launchIf(repeats, repeating, launch);
  launch.getSizesMutable().assign(rest);
  if (steps.count() == 1)
    other.getSizesMutable().assign(rest);
}

namespace {
struct SplitByRepeats : kiln::impl::SplitByRepeatsBase<SplitByRepeats> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<SmallVector<host::LaunchOp>> launches = optimize::launchesOf(module);
    llvm::StringSet<> names = optimize::kernelNames(module);
    for (auto func : llvm::make_early_inc_range(module.getOps<FuncOp>())) {
      llvm::SmallBitVector steps = stepsOf(func);
      bool isOfBatch = llvm::any_of(launches[func.getName()], [](host::LaunchOp launch) {
        return launch->getParentOfType<host::BatchOp>() != nullptr;
      });
      if (steps.none() || isOfBatch || !func.getOpts().empty())
        continue;
      auto repeating = cast<FuncOp>(func->clone());
      module.insert(std::next(func->getIterator()), repeating);
      repeating.setName(freshNameOf(repeating, names));
      takeFor(func, steps, 1);
      if (steps.count() == 1) // so it is 0 there
        takeFor(repeating, steps, 0);
      for (host::LaunchOp launch : launches[func.getName()])
        launchEither(launch, repeating, steps);
    }
  }
};
} // namespace
