//===- ReuseInputs.cpp - Write a result where an input of the kernel was --------------===//
// Stage: optimize (host → host).
// A kernel that reads each element of a temporary only for the element that it writes can write it there, if nobody
// reads the temporary later: that saves the room of one of them. The two become one argument, because kernels'
// arguments do not alias.
// Expects: opts are applied, so that it is known who loads what when.
// Guarantees: a launch whose result may lie in an input's memory passes one buffer for both.
// Position: before the memory is planned.
//===----------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/optimize/choose/OptsFile.h"

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

/// Whether the loaded value reaches the store through arithmetic alone: a reduce or a stage would read elements of
/// other points, which may be overwritten by then.
static bool reachesOnlyStores(kernel::LoadOp load) {
  llvm::SetVector<Operation *> readers(load->user_begin(), load->user_end());
  for (size_t i = 0; i < readers.size(); ++i) {
    if (!isa<kernel::AluOp, kernel::StoreOp>(readers[i]))
      return false;
    readers.insert(readers[i]->user_begin(), readers[i]->user_end());
  }
  return true;
}

/// Whether the kernel, whose first argument is its one output, reads argument `input` only at the element that it then
/// writes.
static bool readsInPlace(kernel::FuncOp func, unsigned input) {
  auto stores = func.getBody().getOps<kernel::StoreOp>();
  // Items that share a reduce reach the store at different times.
  bool isShared = llvm::any_of(func.getOpts().getAsRange<kernel::OptAttr>(),
                               [](kernel::OptAttr opt) { return opt.getKind() == kernel::OptKind::GROUP; });
  if (isShared || !llvm::hasSingleElement(stores) ||
      input + func.getScratch().getSizes().size() >= func.getNumArguments())
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

namespace {
/// The users of a temporary, seen from its own block.
struct Uses {
  Operation *first = nullptr, *last = nullptr;
  SmallVector<Operation *, 1> frees;
  bool isNamedOnce = true; ///< it goes to no slice or control flow that gives it another name
  bool staysInBlock = true;
};
} // namespace

static Uses usesOf(host::AllocOp alloc) {
  Uses uses;
  Block *block = alloc->getBlock();
  for (Operation *user : alloc->getUsers()) {
    Operation *here = block->findAncestorOpInBlock(*user);
    uses.staysInBlock &= here != nullptr;
    if (!here)
      continue;
    if (isa<host::FreeOp>(user) && here == user) {
      uses.frees.push_back(user);
      continue;
    }
    bool isPart = isa<host::OffsetOp>(user) && isa<host::BatchOp>(user->getParentOp()); // no name outside
    uses.isNamedOnce &= isPart || isa<host::LaunchOp, host::CopyOp, host::ReadOp, host::WriteOp>(user);
    if (!uses.first || here->isBeforeInBlock(uses.first))
      uses.first = here;
    if (!uses.last || uses.last->isBeforeInBlock(here))
      uses.last = here;
  }
  return uses;
}

namespace {
/// An argument of a launch: a temporary, or in a batch a sample's part of one.
struct Passed {
  host::AllocOp alloc;       ///< null: something else
  host::OffsetOp part;       ///< null: all of it
  Operation *user = nullptr; ///< the launch, or the batch that it is in: the level of the temporary
};
} // namespace

static Passed passedAs(host::LaunchOp launch, Value buffer) {
  Passed passed{buffer.getDefiningOp<host::AllocOp>(), buffer.getDefiningOp<host::OffsetOp>(), launch};
  if (auto batch = dyn_cast<host::BatchOp>(launch->getParentOp()); batch && passed.part) {
    passed.alloc = passed.part.getSlice().getDefiningOp<host::AllocOp>();
    passed.user = batch;
  }
  if (passed.alloc && passed.alloc->getBlock() != passed.user->getBlock())
    passed.alloc = nullptr;
  return passed;
}

enum class Turn { First, Last };

/// Whether each sample of a batch uses only its own part, and no launch does before this one, or after it. Without a
/// batch, nothing else is checked.
static bool hasTurn(Turn turn, const Passed &passed, host::LaunchOp launch) {
  if (!passed.part)
    return true;
  auto isElsewhere = [&](Operation *user) { return user == passed.part || !passed.user->isProperAncestor(user); };
  auto isInOrder = [&](Operation *user) {
    return user == launch || (turn == Turn::Last ? user->isBeforeInBlock(launch) : launch->isBeforeInBlock(user));
  };
  return llvm::all_of(passed.alloc->getUsers(), isElsewhere) && llvm::all_of(passed.part->getUsers(), isInOrder);
}

namespace {
struct ReuseInputs : kiln::impl::ReuseInputsBase<ReuseInputs> {
  void runOnOperation() override {
    // A pass is run on one recipe after another.
    kernels_.clear();
    launches_.clear();
    uses_.clear();
    variants_.clear();
    for (auto func : getOperation().getOps<kernel::FuncOp>())
      kernels_[func.getName()] = func;
    SmallVector<host::LaunchOp> launches;
    for (auto program : getOperation().getOps<host::ProgramOp>())
      program.walk([&](host::LaunchOp launch) {
        ++launches_[launch.getKernel()];
        launches.push_back(launch);
      });
    for (host::LaunchOp launch : launches)
      if (auto func = kernels_.find(launch.getKernel()); func != kernels_.end())
        reuse(launch, func->second);
    rename();
  }

  /// Kept up to date by hand: a tensor that each kernel of a long chain writes anew has users without end.
  Uses &known(host::AllocOp alloc) {
    auto [slot, fresh] = uses_.try_emplace(alloc);
    if (fresh)
      slot->second = usesOf(alloc);
    return slot->second;
  }

  void reuse(host::LaunchOp launch, kernel::FuncOp func) {
    Passed to = passedAs(launch, launch.getBuffers().front());
    auto isPassedOnce = [&](const Passed &passed) {
      return llvm::count_if(launch.getBuffers(),
                            [&](Value buffer) { return passedAs(launch, buffer).alloc == passed.alloc; }) == 1;
    };
    if (!to.alloc || !isPassedOnce(to))
      return;
    Uses after = known(to.alloc);
    if (after.first != to.user || !after.staysInBlock || !hasTurn(Turn::First, to, launch))
      return;
    for (unsigned input = 1; input < launch.getBuffers().size(); ++input) {
      Passed from = passedAs(launch, launch.getBuffers()[input]);
      if (!from.alloc || !isPassedOnce(from) || bool(from.part) != bool(to.part) ||
          (to.part && !areEqual(from.part.getBytes(), to.part.getBytes())))
        continue;
      Uses &before = known(from.alloc);
      bool endsHere =
          before.last == from.user && before.isNamedOnce && before.staysInBlock && hasTurn(Turn::Last, from, launch);
      bool isEqual =
          areEqual(from.alloc.getBytes(), to.alloc.getBytes()) && from.alloc.getHaloAttr() == to.alloc.getHaloAttr();
      if (!endsHere || !isEqual || !readsInPlace(func, input))
        continue;
      for (Operation *free : before.frees)
        free->erase();
      before.last = after.last;
      before.frees = after.frees;
      before.isNamedOnce = after.isNamedOnce;
      launch.getBuffersMutable().erase(input);
      if (from.part && from.part->use_empty())
        from.part.erase();
      to.alloc.getResult().replaceAllUsesWith(from.alloc);
      uses_.erase(to.alloc);
      to.alloc.erase();
      launch.setKernelAttr(FlatSymbolRefAttr::get(inPlace(func, input).getNameAttr()));
      --launches_[func.getName()];
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
    variant->setAttr(optimize::kInPlaceOf, func.getNameAttr());
    Block &body = variant.getBody().front();
    for (Operation *load : body.getArgument(input).getUsers())
      load->removeAttr("ahead"); // or the same lines would be prefetched twice, for reading and for writing
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
      if (launches_[func.getName()] > 0 || !isOnly)
        continue;
      StringAttr name = names[variant.getNameAttr()] = func.getNameAttr();
      func.erase();
      variant.setName(name);
      variant->removeAttr(optimize::kInPlaceOf);
    }
    for (auto program : getOperation().getOps<host::ProgramOp>())
      program.walk([&](host::LaunchOp launch) {
        if (StringAttr name = names.lookup(launch.getKernelAttr().getAttr()))
          launch.setKernelAttr(FlatSymbolRefAttr::get(name));
      });
  }

  llvm::StringMap<kernel::FuncOp> kernels_;
  llvm::StringMap<int> launches_;          ///< of each kernel
  llvm::DenseMap<Operation *, Uses> uses_; ///< of each temporary
  std::map<std::pair<Operation *, unsigned>, kernel::FuncOp> variants_;
};
} // namespace
