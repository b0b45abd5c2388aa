//===- PassScratch.cpp - Give launches the memory that their stages want ---------------===//
// Stage: optimize (host → host).
// A stage of a chunk's own, and held totals, are memory that the kernel takes as its last arguments. A worker runs one
// chunk at a time, so on a CPU such memory belongs to a worker, and there are few: it stays in that core's cache from
// chunk to chunk, and does not grow with the chunks. How many of a GPU's groups run at once is not known. A long row
// that is held until it is stored, element by element, needs no memory of its own: it is held where it will be stored.
// Then the caches keep two rows instead of three, and none is fetched only to be overwritten.
// Expects: opts applied, launches split.
// Guarantees: each launch passes a buffer for each scratch argument: on a CPU host.scratch, else one with a share for
// every work group. No stage that could lie in the result has scratch, where the first cache would not hold it.
// Position: before the memory is planned.
//===----------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/optimize/choose/Product.h"

#include "ir/base/Target.h"
#include "ir/host/Sizes.h"
#include "ir/kernel/MatrixProduct.h"
#include "ir/kernel/Walk.h"

#include "mlir/IR/Builders.h"

using namespace kiln;
using namespace mlir;
using view::Expr;

namespace kiln {
#define GEN_PASS_DEF_PASSSCRATCH
#include "passes/Passes.h.inc"
} // namespace kiln

/// Whether a stage is long enough to keep out of scratch: the first cache does not hold both it and its
/// source.
static bool isLong(kernel::StageOp stage, TargetAttr target) {
  Expr elements = stage.getElements();
  return elements.isConst() &&
         elements.constant() > target.cacheBytes(1) / 2 / int64_t(byteSize(stage.getResult().getType()));
}

/// Whether each element of a stage has a place of its own in a store's target: both move along the same axes, and the
/// store leaves out none.
static bool haveSamePlaces(kernel::StageOp stage, kernel::StoreOp store, kernel::FuncOp func) {
  optimize::Access access = optimize::accessOf(store);
  view::ShapeTracker tracker = store.getTracker().getValue();
  SmallVector<kernel::PartAttr> parts = stage.getParts();
  // If elements are a few apart, lanes also read those between them, which are another chunk's in the result.
  if (parts.empty() || !access.isContiguous(parts.back().getAxis()) || parts.back().getStep() != 1 ||
      !tracker.at().valid.isConst(1) || store.getValue().getType() != stage.getResult().getType())
    return false;
  return llvm::all_of(llvm::enumerate(func.getDomain().getSizes()), [&](auto each) {
    bool isStored = !access.isStill(each.index());
    return each.value().isConst(1) || isStored == kernel::dependsOn(stage, each.index());
  });
}

/// Whether no element of a stage is held again, by another chunk or in a later step of a loop, nor summed up again,
/// after it may have been stored: all loops around the stage, and all parallel axes, move it, and no sum over it is
/// inside loops over the stored elements.
static bool isHeldOnce(kernel::StageOp stage, const kernel::Walk &walk) {
  using kernel::AxisKind;
  llvm::DenseSet<int64_t> moving;
  for (Expr index : stage.getIndex().getSizes())
    moving.insert_range(kernel::axesOf(index));
  auto lastOf = [&](const llvm::DenseSet<int64_t> &ids) {
    size_t end = 0;
    for (auto [position, axis] : llvm::enumerate(walk.axes))
      if (axis.getKind() == AxisKind::Loop && ids.contains(axis.getId()))
        end = position + 1;
    return end;
  };
  size_t around = lastOf(moving);
  for (auto [position, axis] : llvm::enumerate(walk.axes)) {
    bool isParallel = llvm::is_contained({AxisKind::Chunk, AxisKind::Group, AxisKind::Item}, axis.getKind());
    bool isAround = axis.getKind() == AxisKind::Loop && position < around;
    if ((isParallel || isAround) && !axis.getSize().getValue().isConst(1) && !moving.contains(axis.getId()))
      return false;
  }
  for (Operation *op : walk.operations()) {
    auto reduce = dyn_cast<kernel::ReduceOp>(op);
    if (!reduce)
      continue;
    kernel::Walk terms = walk;
    terms.results = {reduce.getInput()};
    size_t inside = lastOf(kernel::axesOf(walk, reduce.getResult()));
    if (terms.operations().contains(stage) &&
        llvm::any_of(reduce.getAxes(), [&](int64_t id) { return walk.positionOf(id) < inside; }))
      return false;
  }
  return true;
}

/// The store whose result can hold a stage's elements until they are stored: the kernel's only one, to a buffer that it
/// does not read. An element is overwritten when everything that needs it is computed, since the stored value needs
/// each sum over the stage that it depends on.
static kernel::StoreOp storeFor(kernel::StageOp stage, kernel::FuncOp func, TargetAttr target) {
  auto stores = func.getBody().getOps<kernel::StoreOp>();
  if (!stage.getBuffer() || stage.getSwizzle() || stage.getBuffers() || !llvm::hasSingleElement(stores) ||
      !isLong(stage, target) || llvm::any_of(kernel::walksOf(func), kernel::hasFragments))
    return nullptr;
  // Nor does another stage need it, which may be filled when some elements have been stored.
  if (llvm::any_of(kernel::walksOf(func), [&](const kernel::Walk &walk) {
        return walk.stage && walk.stage != stage && walk.operations().contains(stage);
      }))
    return nullptr;
  kernel::StoreOp store = *stores.begin();
  kernel::Walk walk = kernel::walkOf(func);
  llvm::SetVector<Operation *> stored = walk.operations();
  bool isRead = stored.contains(stage) && llvm::all_of(stage->getUsers(), [&](Operation *user) {
                  return isa<kernel::AluOp, kernel::ReduceOp>(user) || user == store;
                });
  bool fits = isRead && store.getBuffer().hasOneUse() && haveSamePlaces(stage, store, func);
  return fits && isHeldOnce(stage, walk) ? store : nullptr;
}

/// Holds stages in the kernel's result if they can wait there.
static void holdInResult(kernel::FuncOp func, TargetAttr target) {
  for (auto stage : func.getBody().getOps<kernel::StageOp>()) {
    kernel::StoreOp store = storeFor(stage, func, target);
    if (!store)
      continue;
    auto scratch = cast<BlockArgument>(stage.getBuffer());
    SmallVector<Expr> sizes(func.getScratch().getSizes());
    sizes.erase(sizes.begin() + scratch.getArgNumber() - (func.getNumArguments() - sizes.size()));
    stage.getBufferMutable().assign(store.getBuffer());
    func.getBody().front().eraseArgument(scratch.getArgNumber());
    Builder builder(func.getContext());
    func.setFunctionType(builder.getFunctionType(func.getBody().getArgumentTypes(), {}));
    func.setScratchAttr(DimsAttr::get(func.getContext(), sizes));
    return;
  }
}

static void passScratch(host::LaunchOp launch, kernel::FuncOp func, bool hasGroups) {
  ArrayRef<Expr> scratch = func.getScratch().getSizes();
  if (scratch.empty())
    return;
  OpBuilder builder(launch);
  Type sliceType = host::SliceType::get(builder.getContext());
  Expr groups = 1;
  for (kernel::AxisAttr axis : func.getLoopAxes())
    if (axis.getKind() == kernel::AxisKind::Group)
      groups = groups * axis.getSize().getValue();
  size_t first = func.getNumArguments() - scratch.size();
  for (auto [index, elements] : llvm::enumerate(scratch)) {
    Type element = cast<kernel::BufferType>(func.getArgument(first + index).getType()).getElement();
    Expr bytes = groups * elements * int64_t(byteSize(element));
    Value size = host::evaluate(builder, launch, func.getSizes().getSizes(), bytes);
    if (!hasGroups) {
      auto own = host::ScratchOp::create(builder, launch.getLoc(), sliceType, size);
      launch.getBuffersMutable().append(own.getResult());
      continue;
    }
    Value slice = host::AllocOp::create(builder, launch.getLoc(), sliceType, size);
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
    TargetAttr target = targetOf(getOperation());
    bool hasGroups = target.hasGroups();
    if (!hasGroups)
      for (auto &[name, func] : kernels)
        holdInResult(func, target);
    SmallVector<host::LaunchOp> launches;
    for (auto program : getOperation().getOps<host::ProgramOp>())
      program.walk([&](host::LaunchOp launch) { launches.push_back(launch); });
    for (host::LaunchOp launch : launches)
      if (auto func = kernels.find(launch.getKernel()); func != kernels.end())
        passScratch(launch, func->second, hasGroups);
  }
};
} // namespace
