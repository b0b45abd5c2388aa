//===- StoreParts.cpp - Store no more of a tensor than is copied ---------------------------===//
// Stage: optimize (host + kernels → host + kernels).
// A tensor that is computed in whole steps may be more than is wanted: a picture that grows by a half has three rows
// for every two of its own, and the last may be one too many. A kernel would copy the part that is wanted. If nothing
// else reads the tensor, the kernel that computes it stores that part where it is wanted, and the rest nowhere.
// Expects: kernels without opts; layouts are assigned.
// Guarantees: a store's place takes no division.
// Position: after parts are placed, before axes are normalized.
//===------------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/optimize/KernelVariants.h"
#include "passes/optimize/ProgramSizes.h"

#include "ir/kernel/Normalize.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using optimize::trackerOf;
using view::Expr;
using view::ShapeTracker;
using view::View;

namespace kiln {
#define GEN_PASS_DEF_STOREPARTS
#include "passes/Passes.h.inc"
} // namespace kiln

/// A kernel's only access of this kind; null: it has others.
template <typename Op> static Op onlyOne(FuncOp func) {
  auto ops = func.getBody().getOps<Op>();
  return llvm::hasSingleElement(ops) ? *ops.begin() : Op();
}

/// Where the elements of a tensor of so many are, for a kernel that only copies a part of it; nullopt: it does more.
static std::optional<ShapeTracker> placeOfPart(FuncOp copy, Expr elements) {
  auto load = onlyOne<LoadOp>(copy);
  auto store = onlyOne<StoreOp>(copy);
  if (!load || !store || load.getRow() || store.getValue() != load.getResult())
    return std::nullopt;
  ShapeTracker read = trackerOf(load), written = trackerOf(store);
  if (read.views().size() != 1 || written.views().size() != 1)
    return std::nullopt;
  const View &from = read.views().front(), &to = written.views().front();
  if (from.mask() || to.mask() || !from.offset().isConst(0) || from.shape() != to.shape())
    return std::nullopt;
  // Each axis of the tensor, from its stride and that of the one around it.
  SmallVector<Expr> shape(from.shape());
  SmallVector<view::Range, 4> mask;
  Expr around = elements;
  for (auto [axis, size] : llvm::enumerate(from.shape())) {
    mask.push_back({0, size});
    if (size.isConst(1))
      continue;
    std::optional<Expr> whole = view::exactQuotient(around, from.strides()[axis]);
    if (!whole || !view::provablyLessEqual(size, *whole))
      return std::nullopt;
    shape[axis] = *whole;
    around = from.strides()[axis];
  }
  if (!around.isConst(1))
    return std::nullopt;
  return ShapeTracker(View::make(shape, to.strides(), to.offset(), ArrayRef<view::Range>(mask)));
}

/// Whether each axis of a store moves it by a stride, where it stores.
static bool movesByStrides(const ShapeTracker &tracker) {
  return llvm::all_of(tracker.realStrides(/*ignoreValid=*/true), [](const auto &stride) { return stride.has_value(); });
}

/// Finds an op, and those that its operands come from, as far as they come after `place`. False if one cannot be moved.
static bool gatherAfter(Operation *op, Operation *place, SmallVectorImpl<Operation *> &found) {
  for (Value operand : op->getOperands()) {
    Operation *made = operand.getDefiningOp();
    if (!made || made->getBlock() != place->getBlock() || made->isBeforeInBlock(place))
      continue;
    if (!isPure(made) || !gatherAfter(made, place, found))
      return false;
  }
  found.push_back(op);
  return true;
}

/// Whether the copy is not needed, because what computes the tensor stores the part.
static bool replace(host::LaunchOp copy, optimize::KernelVariants &variants, const optimize::ProgramSizes &sizes) {
  FuncOp func = variants.kernelOf(copy);
  auto load = onlyOne<LoadOp>(func);
  auto store = onlyOne<StoreOp>(func);
  auto alloc = load ? optimize::memoryOf(copy, load).getDefiningOp<host::AllocOp>() : host::AllocOp();
  Operation *part = store ? optimize::memoryOf(copy, store).getDefiningOp() : nullptr;
  if (!alloc || !isa_and_nonnull<host::AllocOp, host::OutputOp>(part) || alloc.getHaloAttr() ||
      part->getBlock() != copy->getBlock())
    return false;
  host::LaunchOp maker;
  SmallVector<Operation *> frees;
  for (Operation *user : alloc->getUsers()) {
    auto launch = dyn_cast<host::LaunchOp>(user);
    if (user->getBlock() != copy->getBlock() || (!launch && !isa<host::FreeOp>(user)) ||
        (launch && maker && launch != copy))
      return false;
    if (!launch)
      frees.push_back(user);
    else if (launch != copy)
      maker = launch;
  }
  if (!maker || !maker->isBeforeInBlock(copy))
    return false;
  FuncOp made = variants.kernelOf(maker);
  auto result = onlyOne<StoreOp>(made);
  std::optional<Expr> bytes = sizes.exprOf(alloc.getBytes());
  std::optional<Expr> elements = bytes ? view::exactQuotient(*bytes, int64_t(byteSize(load.getType()))) : std::nullopt;
  std::optional<ShapeTracker> place = elements ? placeOfPart(func, *elements) : std::nullopt;
  auto areNamed = [&](host::LaunchOp launch, FuncOp kernel) {
    return llvm::all_of(llvm::zip(launch.getSizes(), kernel.getSizes().getSizes()),
                        [&](auto pair) { return sizes.valueOf(std::get<1>(pair)) == std::get<0>(pair); });
  };
  if (!result || !place || optimize::memoryOf(maker, result) != alloc || !areNamed(copy, func) ||
      !areNamed(maker, made))
    return false;
  ShapeTracker stored = place->compose(trackerOf(result)).simplify();
  bool fits = movesByStrides(stored);
  auto check = [&](Expr expr) {
    expr.forEachVariable([&](Expr size) { fits &= llvm::is_contained(made.getSizes().getSizes(), size); });
  };
  for (const View &view : stored.views()) {
    llvm::for_each(view.shape(), check);
    llvm::for_each(view.strides(), check);
    check(view.offset());
  }
  // Memory is made after the checks before it.
  for (Operation *op = maker; op != part && fits && maker->isBeforeInBlock(part); op = op->getNextNode())
    fits &= !isa<host::CheckOp>(op);
  SmallVector<Operation *> moved;
  if (!fits || !gatherAfter(part, maker, moved))
    return false;
  for (Operation *op : moved)
    if (maker->isBeforeInBlock(op))
      op->moveBefore(maker);
  SmallVector<ShapeTracker> trackers;
  for (Operation *access : optimize::accessesOf(made))
    trackers.push_back(access == result ? stored : trackerOf(access));
  variants.launchWith(maker, trackers, splitAxes);
  if (ArrayAttr tensors = maker.getTensorsAttr(), copied = copy.getTensorsAttr(); tensors && copied) {
    SmallVector<Attribute> all(tensors.getValue());
    llvm::copy_if(copied, std::back_inserter(all), [](Attribute each) {
      auto tensor = cast<host::TensorAttr>(each);
      return tensor.getPlacement() && tensor.getMemory() != 0;
    });
    maker.setTensorsAttr(ArrayAttr::get(maker.getContext(), all));
  }
  copy.erase();
  for (Operation *free : frees)
    free->erase();
  alloc.getResult().replaceAllUsesWith(part->getResult(0));
  alloc.erase();
  return true;
}

namespace {
struct StoreParts : kiln::impl::StorePartsBase<StoreParts> {
  void runOnOperation() override {
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<host::ProgramOp>())) {
      optimize::ProgramSizes sizes(program);
      optimize::KernelVariants variants(getOperation());
      SmallVector<host::LaunchOp> launches;
      program.walk([&](host::LaunchOp launch) { launches.push_back(launch); });
      bool isChanged = false;
      for (host::LaunchOp launch : launches)
        isChanged |= replace(launch, variants, sizes);
      if (isChanged)
        variants.nameKernels();
    }
  }
};
} // namespace
