//===- ReuseInputs.cpp - Write a result where an input of the kernel was --------------===//
// Stage: optimize (host → host).  A kernel that reads each element of a temporary only for the element that it writes
// can write it there, if nobody reads the temporary later: that saves the room of one of them. The two become one
// argument, because kernels' arguments do not alias.
// Expects: opts are applied, so that it is known who loads what when.   Guarantees: a launch whose result may lie in an
// input's memory passes one buffer for both. Position: before the memory is planned.
//===----------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/SetVector.h"

#include <map>

using namespace kiln;
using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_REUSEINPUTS
#include "passes/Passes.h.inc"
} // namespace kiln

/// Whether what is loaded goes to the store through arithmetic alone: a reduce or a stage would read elements of other
/// points, which may be overwritten by then.
static bool reachesOnlyStores(kernel::LoadOp load) {
  llvm::SetVector<Operation *> readers(load->user_begin(), load->user_end());
  for (size_t i = 0; i < readers.size(); ++i) {
    if (!isa<kernel::AluOp, kernel::StoreOp>(readers[i]))
      return false;
    readers.insert(readers[i]->user_begin(), readers[i]->user_end());
  }
  return true;
}

/// Whether the kernel, whose first argument is its one output, reads argument `input` nowhere but at the element that
/// it then writes.
static bool readsInPlace(kernel::FuncOp func, unsigned input) {
  auto stores = func.getBody().getOps<kernel::StoreOp>();
  // Items that share a reduce come to the store at times of their own.
  bool isShared = llvm::any_of(func.getOpts().getAsRange<kernel::OptAttr>(),
                               [](kernel::OptAttr opt) { return opt.getKind() == kernel::OptKind::GROUP; });
  if (isShared || !llvm::hasSingleElement(stores) || input + func.getScratch().size() >= func.getNumArguments())
    return false;
  kernel::StoreOp store = *stores.begin();
  return store.getBuffer() == func.getArgument(0) && func.getArgument(0).hasOneUse() &&
         llvm::all_of(func.getArgument(input).getUsers(), [&](Operation *user) {
           auto load = dyn_cast<kernel::LoadOp>(user);
           return load && !load.getRow() && load.getTracker() == store.getTracker() &&
                  load.getType() == store.getValue().getType() && reachesOnlyStores(load);
         });
}

static bool areEqual(Value a, Value b) {
  if (a == b)
    return true;
  Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
  return left && right && isa<arith::ConstantOp, host::EvalOp>(left) &&
         OperationEquivalence::isEquivalentTo(left, right, OperationEquivalence::IgnoreLocations);
}

/// Whether the launch is the last to use the memory, and nobody knows it under another name.
static bool endsAt(host::AllocOp alloc, host::LaunchOp launch) {
  return alloc->getBlock() == launch->getBlock() && llvm::all_of(alloc->getUsers(), [&](Operation *user) {
           if (isa<host::FreeOp>(user) || user == launch)
             return user->getBlock() == launch->getBlock();
           Operation *here = launch->getBlock()->findAncestorOpInBlock(*user);
           return isa<host::LaunchOp, host::CopyOp, host::ReadOp, host::WriteOp>(user) && here &&
                  here->isBeforeInBlock(launch);
         });
}

static bool beginsAt(host::AllocOp alloc, host::LaunchOp launch) {
  return alloc->getBlock() == launch->getBlock() && llvm::all_of(alloc->getUsers(), [&](Operation *user) {
           Operation *here = launch->getBlock()->findAncestorOpInBlock(*user);
           return here && (here == launch || launch->isBeforeInBlock(here));
         });
}

namespace {
struct ReuseInputs : kiln::impl::ReuseInputsBase<ReuseInputs> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<kernel::FuncOp>())
      kernels_[func.getName()] = func;
    SmallVector<host::LaunchOp> launches;
    for (auto program : getOperation().getOps<host::ProgramOp>())
      program.walk([&](host::LaunchOp launch) {
        ++uses_[launch.getKernel()];
        launches.push_back(launch);
      });
    for (host::LaunchOp launch : launches)
      if (auto func = kernels_.find(launch.getKernel()); func != kernels_.end())
        reuse(launch, func->second);
    rename();
  }

  void reuse(host::LaunchOp launch, kernel::FuncOp func) {
    auto output = launch.getBuffers().front().getDefiningOp<host::AllocOp>();
    if (!output || !beginsAt(output, launch))
      return;
    for (unsigned input = 1; input < launch.getBuffers().size(); ++input) {
      auto from = launch.getBuffers()[input].getDefiningOp<host::AllocOp>();
      if (!from || from == output || llvm::count(launch.getBuffers(), from.getResult()) != 1 ||
          llvm::count(launch.getBuffers(), output.getResult()) != 1 || !endsAt(from, launch) ||
          !areEqual(from.getBytes(), output.getBytes()) || !readsInPlace(func, input))
        continue;
      for (Operation *user : llvm::make_early_inc_range(from->getUsers()))
        if (isa<host::FreeOp>(user))
          user->erase();
      launch.getBuffersMutable().erase(input);
      output.getResult().replaceAllUsesWith(from);
      output.erase();
      launch.setKernelAttr(FlatSymbolRefAttr::get(inPlace(func, input).getNameAttr()));
      --uses_[func.getName()];
      return;
    }
  }

  /// The kernel with argument `input` and its output as one.
  kernel::FuncOp inPlace(kernel::FuncOp func, unsigned input) {
    kernel::FuncOp &variant = variants_[{func, input}];
    if (variant)
      return variant;
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(func);
    variant = cast<kernel::FuncOp>(builder.clone(*func));
    variant.setName((func.getName() + "_in_place" + (input > 1 ? llvm::Twine(input) : llvm::Twine())).str());
    Block &body = variant.getBody().front();
    body.getArgument(input).replaceAllUsesWith(body.getArgument(0));
    body.eraseArgument(input);
    variant.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), {}));
    return variant;
  }

  /// A kernel that is only used in place keeps its name.
  void rename() {
    llvm::DenseMap<StringAttr, StringAttr> names;
    for (auto &[key, variant] : variants_) {
      auto func = cast<kernel::FuncOp>(key.first);
      bool isOnly = llvm::count_if(variants_, [&](auto &other) { return other.first.first == key.first; }) == 1;
      if (uses_[func.getName()] > 0 || !isOnly)
        continue;
      StringAttr name = names[variant.getNameAttr()] = func.getNameAttr();
      func.erase();
      variant.setName(name);
    }
    for (auto program : getOperation().getOps<host::ProgramOp>())
      program.walk([&](host::LaunchOp launch) {
        if (StringAttr name = names.lookup(launch.getKernelAttr().getAttr()))
          launch.setKernelAttr(FlatSymbolRefAttr::get(name));
      });
  }

  llvm::StringMap<kernel::FuncOp> kernels_;
  llvm::StringMap<int> uses_; ///< launches
  std::map<std::pair<Operation *, unsigned>, kernel::FuncOp> variants_;
};
} // namespace
