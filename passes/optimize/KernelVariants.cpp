#include "passes/optimize/KernelVariants.h"

#include "ir/kernel/Normalize.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using view::Expr;
using view::ShapeTracker;

Value optimize::bufferOf(Operation *access) {
  if (auto load = dyn_cast<LoadOp>(access))
    return load.getBuffer();
  if (auto store = dyn_cast<StoreOp>(access))
    return store.getBuffer();
  return nullptr;
}

ShapeTracker optimize::trackerOf(Operation *access) { return access->getAttrOfType<TrackerAttr>("tracker").getValue(); }

SmallVector<Operation *> optimize::accessesOf(FuncOp func) {
  SmallVector<Operation *> accesses;
  for (Operation &op : func.getBody().front())
    if (bufferOf(&op))
      accesses.push_back(&op);
  return accesses;
}

SmallVector<Operation *> optimize::accessesOf(FuncOp func, unsigned buffer) {
  SmallVector<Operation *> accesses = accessesOf(func);
  llvm::erase_if(accesses, [&](Operation *access) { return bufferOf(access) != func.getArgument(buffer); });
  return accesses;
}

Value optimize::memoryOf(host::LaunchOp launch, Operation *access) {
  return launch.getBuffers()[cast<BlockArgument>(bufferOf(access)).getArgNumber()];
}

llvm::StringMap<SmallVector<host::LaunchOp>> optimize::launchesOf(ModuleOp module) {
  llvm::StringMap<SmallVector<host::LaunchOp>> launches;
  for (auto program : module.getOps<host::ProgramOp>())
    program.walk([&](host::LaunchOp launch) { launches[launch.getKernel()].push_back(launch); });
  return launches;
}

llvm::StringSet<> optimize::kernelNames(ModuleOp module) {
  llvm::StringSet<> names;
  for (auto func : module.getOps<FuncOp>())
    names.insert(func.getName());
  return names;
}

void optimize::replaceSymbol(FuncOp func, Expr symbol, Expr by) {
  MLIRContext *context = func.getContext();
  llvm::DenseMap<Expr, Expr> values{{symbol, by}};
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](ExprAttr attr) { return ExprAttr::get(context, attr.getValue().substitute(values)); });
  replacer.addReplacement(
      [&](TrackerAttr attr) { return TrackerAttr::get(context, attr.getValue().substitute(values)); });
  replacer.addReplacement([&](DimsAttr attr) {
    return DimsAttr::get(context, llvm::map_to_vector(attr.getSizes(), [&](Expr e) { return e.substitute(values); }));
  });
  replacer.recursivelyReplaceElementsIn(func);
  SmallVector<Expr> domain(func.getDomain().getSizes());
  setDomain(func, domain); // axes are bounded by its sizes
}

host::LaunchOp optimize::launchIf(Value condition, FuncOp kernel, host::LaunchOp otherwise) {
  OpBuilder builder(otherwise);
  auto branch = scf::IfOp::create(builder, otherwise.getLoc(), condition, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(&branch.getThenRegion().front());
  auto launch = cast<host::LaunchOp>(builder.clone(*otherwise));
  launch.setKernel(kernel.getName());
  launch.removeTensorsAttr();
  otherwise->moveBefore(branch.elseBlock(), branch.elseBlock()->begin());
  return launch;
}

optimize::KernelVariants::KernelVariants(ModuleOp module) : module_(module) {
  for (auto func : module.getOps<FuncOp>())
    kernels_[func.getName()] = func;
}

void optimize::KernelVariants::launchWith(host::LaunchOp launch, ArrayRef<ShapeTracker> trackers,
                                          llvm::function_ref<void(FuncOp)> finish) {
  FuncOp func = kernelOf(launch);
  auto attrs = llvm::map_to_vector(
      trackers, [&](const ShapeTracker &tracker) -> Attribute { return TrackerAttr::get(func.getContext(), tracker); });
  StringAttr &name = variants_[{launch.getKernelAttr(), ArrayAttr::get(func.getContext(), attrs)}];
  if (!name) {
    OpBuilder builder(func);
    auto variant = cast<FuncOp>(builder.clone(*func));
    for (auto [access, tracker] : llvm::zip(accessesOf(variant), attrs))
      access->setAttr("tracker", tracker);
    finish(variant);
    variant.setName("variant." + std::to_string(variants_.size())); // until it is known which names become free
    name = variant.getNameAttr();
    kernels_[name] = variant;
    made_.push_back(variant);
  }
  launch.setKernel(name);
}

void optimize::KernelVariants::nameKernels() {
  llvm::StringMap<SmallVector<host::LaunchOp>> launches = launchesOf(module_);
  llvm::StringSet<> names;
  llvm::erase_if(made_, [&](FuncOp func) { return !launches.contains(func.getName()); });
  for (auto func : llvm::make_early_inc_range(module_.getOps<FuncOp>())) {
    if (!launches.contains(func.getName()))
      func.erase();
    else if (!llvm::is_contained(made_, func))
      names.insert(func.getName());
  }
  for (FuncOp func : made_) {
    std::string name = freshNameOf(func, names);
    for (host::LaunchOp launch : launches[func.getName()])
      launch.setKernel(name);
    func.setName(name);
  }
}
