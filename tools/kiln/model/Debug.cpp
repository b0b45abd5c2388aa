#include "Debug.h"

#include "Render.h"
#include "ir/graph/Graph.h"
#include "ir/host/Host.h"
#include "ir/kernel/AxisLetters.h"
#include "ir/kernel/Kernel.h"
#include "ir/uop/LaunchCost.h"
#include "ir/uop/UOp.h"
#include "render/kernel/Listing.h"
#include "support/DebugStream.h"
#include "support/Quote.h"
#include "tools/kiln/inspect/KernelFilter.h"
#include "tools/kiln/inspect/LaunchRecords.h"
#include "tools/kiln/inspect/Log.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln;
using namespace kiln::driver;

static void printTrees(mlir::ModuleOp module, const KernelFilter &filter) {
  for (kernel::FuncOp function : module.getOps<kernel::FuncOp>()) {
    if (!filter.passes(function.getSymName()))
      continue;
    listKernel(function.getSymName(), kernel::axisLetters(function));
    kernel::printTree(function, debugStream());
  }
}

static void printOpts(mlir::ModuleOp module, const KernelFilter &filter) {
  for (kernel::FuncOp function : module.getOps<kernel::FuncOp>()) {
    if (!filter.passes(function.getSymName()))
      continue;
    std::string text;
    llvm::raw_string_ostream opts(text);
    llvm::interleaveComma(function.getOpts().getAsRange<kernel::OptAttr>(), opts, [&](kernel::OptAttr opt) {
      opts << "Opt(op=OptOps." << kernel::stringifyOptKind(opt.getKind()) << ", axis=" << opt.getAxis()
           << ", amt=" << opt.getAmount() << ")";
    });
    listKernel(function.getSymName(), kernel::axisLetters(function), " [" + text + "]");
  }
  printOptsOf(module, filter, debugStream());
}

void driver::printStage(mlir::ModuleOp module, Stage stage, int debug, const KernelFilter &filter) {
  if (stage == Stage::Schedule && debug >= kDebugKernels && filter.isEmpty())
    printRecipes(module, "*", debugStream());
  if (stage == Stage::Schedule && debug >= kDebugUOps)
    printTrees(module, filter);
  if (stage == Stage::Optimize && debug >= kDebugKernels) {
    printTrees(module, filter);
    printOpts(module, filter);
  }
  if (stage == Stage::Lower && debug >= kDebugUOps)
    for (uop::FuncOp function : module.getOps<uop::FuncOp>())
      if (filter.passes(function.getSymName())) {
        listKernel(function.getSymName(), uop::axesOf(function));
        debugStream() << render::listing(function);
      }
}

llvm::Error driver::printRendering(const Rendering &rendering, int debug, const KernelFilter &filter) {
  if (debug >= kDebugSource)
    if (llvm::Error error = rendering.kernels(KernelText::Source, filter, debugStream()))
      return error;
  return debug >= kDebugMachineCode ? rendering.kernels(KernelText::MachineCode, filter, debugStream())
                                    : llvm::Error::success();
}

namespace {
/// Kernels that a filter passes, each whenever a pass has changed it.
class KernelPrinter final : public mlir::PassManager::IRPrinterConfig {
public:
  explicit KernelPrinter(const KernelFilter &filter)
      : IRPrinterConfig(/*printModuleScope=*/false, /*printAfterOnlyOnChange=*/true), filter_(filter) {}

  void printAfterIfEnabled(mlir::Pass *pass, mlir::Operation *op, PrintCallbackFn) override {
    op->walk([&](mlir::Operation *kernel) {
      if (!llvm::isa<kernel::FuncOp, uop::FuncOp>(kernel))
        return;
      llvm::StringRef name = mlir::SymbolTable::getSymbolName(kernel).getValue();
      if (!filter_.passes(name))
        return;
      std::string text;
      llvm::raw_string_ostream(text) << *kernel;
      std::string &last = last_[name];
      if (text != last)
        debugStream() << "// -----// IR Dump After " << pass->getName() << " //----- //\n" << text << "\n\n";
      last = std::move(text);
    });
  }

private:
  const KernelFilter &filter_;
  llvm::StringMap<std::string> last_;
};
} // namespace

void driver::printRewrites(mlir::PassManager &passes, const KernelFilter &filter) {
  if (!filter.isEmpty())
    return passes.enableIRPrinting(std::make_unique<KernelPrinter>(filter));
  passes.enableIRPrinting([](mlir::Pass *, mlir::Operation *) { return false; },
                          [](mlir::Pass *, mlir::Operation *) { return true; },
                          /*printModuleScope=*/true, /*printAfterOnlyOnChange=*/true,
                          /*printAfterOnlyOnFailure=*/false, debugStream());
}
