#include "KernelFilter.h"

#include "ir/host/Host.h"
#include "ir/host/Roles.h"
#include "ir/kernel/Kernel.h"
#include "ir/uop/UOp.h"
#include "passes/optimize/choose/OptsFile.h"
#include "support/Error.h"
#include "support/Nearest.h"
#include "support/Pattern.h"

#include "mlir/IR/Builders.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/DenseSet.h"

using namespace kiln;
using namespace kiln::driver;
using llvm::StringRef;

bool KernelFilter::passes(StringRef kernel) const {
  return isEmpty() || scheduled_.contains(kernel) ||
         llvm::any_of(patterns_, [&](const std::string &pattern) { return matchesPattern(kernel, pattern); });
}

/// The kernels of a module and of its recipes.
static llvm::SmallVector<mlir::Operation *> kernelsOf(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::Operation *> kernels;
  module.walk([&](mlir::Operation *op) {
    if (llvm::isa<kernel::FuncOp, uop::FuncOp>(op))
      kernels.push_back(op);
  });
  return kernels;
}

static StringRef nameOf(mlir::Operation *kernel) { return mlir::SymbolTable::getSymbolName(kernel).getValue(); }

llvm::Error KernelFilter::check(mlir::ModuleOp module, StringRef model) const {
  std::vector<StringRef> names;
  for (mlir::Operation *kernel : kernelsOf(module))
    names.push_back(nameOf(kernel));
  for (const std::string &pattern : patterns_)
    if (scheduled_.empty() && llvm::none_of(names, [&](StringRef name) { return matchesPattern(name, pattern); }))
      return usageError(model + ": --kernel " + pattern + ": no kernel has this name",
                        didYouMean(pattern, names, "--stats lists them"));
  return llvm::Error::success();
}

/// Calls `see` with each kernel and the number of memory that one of its launches writes.
static void forEachWritten(mlir::ModuleOp module, llvm::function_ref<void(StringRef kernel, int64_t memory)> see) {
  module.walk([&](host::LaunchOp launch) {
    if (mlir::ArrayAttr tensors = launch.getTensorsAttr())
      for (auto tensor : tensors.getAsRange<host::TensorAttr>())
        if (tensor.getMemory() && !host::role::isRead(tensor.getOp()))
          see(launch.getKernel(), tensor.getMemory());
  });
}

llvm::Error KernelFilter::resolve(mlir::ModuleOp module, StringRef model, const PipelineOptions &pipeline) {
  mlir::OwningOpRef<mlir::ModuleOp> later = module.clone();
  mlir::PassManager manager(module.getContext());
  addStage(manager, Stage::Optimize, pipeline);
  if (mlir::failed(manager.run(*later)))
    return failure(model + ": stage optimize failed");
  llvm::DenseSet<int64_t> wanted;
  forEachWritten(*later, [&](StringRef kernel, int64_t memory) {
    if (passes(kernel))
      wanted.insert(memory);
  });
  llvm::StringSet<> found;
  forEachWritten(module, [&](StringRef kernel, int64_t memory) {
    if (wanted.contains(memory))
      found.insert(kernel);
  });
  // Names of this stage are taken, too.
  bool isNamed = llvm::any_of(kernelsOf(module), [&](mlir::Operation *kernel) { return passes(nameOf(kernel)); });
  if (!isNamed)
    if (llvm::Error error = check(*later, model))
      return error;
  scheduled_ = std::move(found);
  return llvm::Error::success();
}

llvm::Error KernelFilter::checkShown(mlir::ModuleOp module, StringRef model) const {
  if (llvm::any_of(kernelsOf(module), [&](mlir::Operation *kernel) { return passes(nameOf(kernel)); }))
    return llvm::Error::success();
  return usageError(model + ": --kernel " + patterns_.front() + ": stage optimize makes this kernel",
                    "give --emit optimize or a later stage");
}

mlir::OwningOpRef<mlir::ModuleOp> KernelFilter::select(mlir::ModuleOp module) const {
  mlir::OpBuilder builder(module.getContext());
  mlir::OwningOpRef<mlir::ModuleOp> selected = mlir::ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(selected->getBody());
  for (mlir::Operation *kernel : kernelsOf(module))
    if (passes(nameOf(kernel)))
      builder.clone(*kernel);
  return selected;
}

void driver::printOptsOf(mlir::ModuleOp module, const KernelFilter &filter, llvm::raw_ostream &out) {
  if (filter.isEmpty())
    return optimize::printOptsFile(module, out);
  mlir::OwningOpRef<mlir::ModuleOp> selected = filter.select(module);
  optimize::printOptsFile(*selected, out);
}
