#include "Debug.h"

#include "Render.h"
#include "ir/kernel/Kernel.h"
#include "ir/uop/UOp.h"
#include "render/Listing.h"

#include "llvm/Support/raw_ostream.h"

using namespace kiln;
using namespace kiln::driver;

static void printTrees(mlir::ModuleOp module) {
  for (kernel::FuncOp function : module.getOps<kernel::FuncOp>()) {
    llvm::errs() << function.getSymName() << "\n";
    kernel::printTree(function, llvm::errs());
  }
}

static void printOpts(mlir::ModuleOp module) {
  for (kernel::FuncOp function : module.getOps<kernel::FuncOp>()) {
    llvm::errs() << function.getSymName() << " [";
    llvm::interleaveComma(function.getOpts().getAsRange<kernel::OptAttr>(), llvm::errs(), [](kernel::OptAttr opt) {
      llvm::errs() << "Opt(op=OptOps." << kernel::stringifyOptKind(opt.getKind()) << ", axis=" << opt.getAxis()
                   << ", amt=" << opt.getAmount() << ")";
    });
    llvm::errs() << "]\n";
  }
}

void driver::printStage(mlir::ModuleOp module, Stage stage, int debug) {
  if (stage == Stage::Schedule && debug >= kDebugUOps)
    printTrees(module);
  if (stage == Stage::Optimize && debug >= kDebugKernels) {
    printTrees(module);
    printOpts(module);
  }
  if (stage == Stage::Lower && debug >= kDebugUOps)
    for (uop::FuncOp function : module.getOps<uop::FuncOp>())
      llvm::errs() << function.getSymName() << "\n" << render::listing(function);
}

llvm::Error driver::printRendering(const Rendering &rendering, int debug) {
  if (debug >= kDebugSource)
    if (llvm::Error error = rendering.source(llvm::errs()))
      return error;
  return debug >= kDebugMachineCode ? rendering.assembly(llvm::errs()) : llvm::Error::success();
}

void driver::printRewrites(mlir::PassManager &passes) {
  passes.enableIRPrinting([](mlir::Pass *, mlir::Operation *) { return false; },
                          [](mlir::Pass *, mlir::Operation *) { return true; },
                          /*printModuleScope=*/true, /*printAfterOnlyOnChange=*/true,
                          /*printAfterOnlyOnFailure=*/false, llvm::errs());
}
