#include "Debug.h"

#include "Render.h"
#include "ir/graph/Graph.h"
#include "ir/host/Host.h"
#include "ir/kernel/Kernel.h"
#include "ir/uop/UOp.h"
#include "passes/optimize/choose/OptsFile.h"
#include "render/kernel/Listing.h"
#include "support/DebugStream.h"
#include "support/Quote.h"

#include "llvm/Support/raw_ostream.h"

using namespace kiln;
using namespace kiln::driver;

static void printTrees(mlir::ModuleOp module) {
  for (kernel::FuncOp function : module.getOps<kernel::FuncOp>()) {
    debugStream() << function.getSymName() << "\n";
    kernel::printTree(function, debugStream());
  }
}

static void printOpts(mlir::ModuleOp module) {
  for (kernel::FuncOp function : module.getOps<kernel::FuncOp>()) {
    debugStream() << function.getSymName() << " [";
    llvm::interleaveComma(function.getOpts().getAsRange<kernel::OptAttr>(), debugStream(), [](kernel::OptAttr opt) {
      debugStream() << "Opt(op=OptOps." << kernel::stringifyOptKind(opt.getKind()) << ", axis=" << opt.getAxis()
                    << ", amt=" << opt.getAmount() << ")";
    });
    debugStream() << "]\n";
  }
  optimize::printOptsFile(module, debugStream());
}

/// One line for each weight that is computed at compile time, with the kernels that compute it.
static void printRecipes(mlir::ModuleOp module) {
  for (auto program : module.getOps<host::ProgramOp>())
    for (auto weight : program.getWeights().getAsRange<host::WeightAttr>()) {
      auto data = llvm::dyn_cast<graph::RecipeAttr>(weight.getData());
      if (!data)
        continue;
      auto recipe = module.lookupSymbol<mlir::ModuleOp>(data.getModel());
      debugStream() << data.getModel() << " makes weight " << plainText(weight.getName()) << " by";
      recipe.walk([](host::LaunchOp launch) {
        debugStream() << " " << launch.getKernel() << " " << plainText(launch.getOrigin());
      });
      debugStream() << "\n";
    }
}

void driver::printStage(mlir::ModuleOp module, Stage stage, int debug) {
  if (stage == Stage::Schedule && debug >= kDebugKernels)
    printRecipes(module);
  if (stage == Stage::Schedule && debug >= kDebugUOps)
    printTrees(module);
  if (stage == Stage::Optimize && debug >= kDebugKernels) {
    printTrees(module);
    printOpts(module);
  }
  if (stage == Stage::Lower && debug >= kDebugUOps)
    for (uop::FuncOp function : module.getOps<uop::FuncOp>())
      debugStream() << function.getSymName() << "\n" << render::listing(function);
}

llvm::Error driver::printRendering(const Rendering &rendering, int debug) {
  if (debug >= kDebugSource)
    if (llvm::Error error = rendering.source(debugStream()))
      return error;
  return debug >= kDebugMachineCode ? rendering.machineCode(debugStream()) : llvm::Error::success();
}

void driver::printRewrites(mlir::PassManager &passes) {
  passes.enableIRPrinting([](mlir::Pass *, mlir::Operation *) { return false; },
                          [](mlir::Pass *, mlir::Operation *) { return true; },
                          /*printModuleScope=*/true, /*printAfterOnlyOnChange=*/true,
                          /*printAfterOnlyOnFailure=*/false, debugStream());
}
