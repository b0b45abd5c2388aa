#include "passes/optimize/choose/LaneWork.h"

#include "passes/optimize/KernelVariants.h"
#include "passes/optimize/choose/Work.h"

#include "ir/base/AluTraits.h"
#include "target/Target.h"

#include "llvm/Support/MathExtras.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using kiln::optimize::Access;
using view::Expr;

/// Adding up the halves of a vector: a move and an addition, which the next one waits for.
static constexpr double kAddHalvesSteps = 4;
/// Loading or storing a lane without a neighbour: the access, and putting it into the vector or taking it out.
static constexpr double kApartSteps = 2;
/// Finding a lane's place if an access has no stride along the axis, which takes a division.
static constexpr double kPlaceSteps = 8;

/// A vector of an access, in instructions.
static double stepsOfVector(const Access &access, size_t axis, int64_t lanes, bool isPacked) {
  if (access.isStill(axis) || access.isContiguous(axis) || isPacked)
    return 1;
  std::optional<int64_t> apart = optimize::strideWithin(access, axis, lanes);
  if (apart == 1)
    return 1;
  // Loaded whole, and picked out; or woven, and stored whole.
  if (isa<LoadOp>(access.op)) {
    if (apart && std::abs(*apart) <= target::kMostApart)
      return kApartSteps * double(std::abs(*apart));
  } else if (std::optional<optimize::Woven> woven = optimize::wovenAxis(access, axis, lanes)) {
    return kApartSteps * double(woven->points) * double(lanes) / double(woven->lanes);
  }
  return double(lanes) * (access.strides[axis] ? kApartSteps : kApartSteps + kPlaceSteps);
}

bool optimize::turnsWith(const Access &access, size_t axis, size_t other) {
  ArrayRef<Expr> domain = access.op->getParentOfType<FuncOp>().getDomain().getSizes();
  bool isApart = access.strides[axis] && !access.isStill(axis) && !access.isContiguous(axis);
  return isApart && access.isContiguous(other) && domain[other].max() >= kTurnedTile &&
         !optimize::trackerOf(access.op).isMasked();
}

double optimize::laneSteps(FuncOp func, TargetAttr target, size_t axis, int64_t lanes,
                           const llvm::SmallBitVector &packed) {
  ArrayRef<Expr> domain = func.getDomain().getSizes();
  double points = target::typicalSize(domain[axis]);
  double vectors =
      domain[axis].isConst() ? double(llvm::divideCeil(domain[axis].constant(), lanes)) : points / double(lanes) + 0.5;
  auto timesOf = [&](const llvm::SmallBitVector &axes) {
    double times = 1;
    for (unsigned each : axes.set_bits())
      times *= each == axis ? vectors : target::typicalSize(domain[each]);
    return times;
  };
  double total = 0;
  for (const Work &work : optimize::workOf(func, target)) {
    double times = timesOf(work.axes);
    if (auto load = dyn_cast<LoadOp>(work.op)) {
      Access access = optimize::accessOf(load);
      total += times * stepsOfVector(access, axis, lanes, packed.test(access.buffer));
    } else if (auto store = dyn_cast<StoreOp>(work.op)) {
      total += times * stepsOfVector(optimize::accessOf(store), axis, lanes, /*isPacked=*/false);
    } else if (auto alu = dyn_cast<AluOp>(work.op)) {
      total += times * aluTraits(alu.getKind().getValue()).steps;
    } else if (auto reduce = dyn_cast<ReduceOp>(work.op)) {
      total += times;
      llvm::SmallBitVector results = work.axes;
      for (int64_t reduced : reduce.getAxes())
        results.reset(reduced);
      if (llvm::is_contained(reduce.getAxes(), int64_t(axis)) && work.axes.test(axis))
        total += timesOf(results) * kAddHalvesSteps * llvm::Log2_64(lanes);
    }
  }
  return total;
}

std::optional<optimize::Woven> optimize::wovenAxis(const Access &access, size_t axis, int64_t lanes) {
  ArrayRef<Expr> domain = access.op->getParentOfType<FuncOp>().getDomain().getSizes();
  for (; lanes > 1; lanes /= 2) {
    std::optional<int64_t> apart = strideWithin(access, axis, lanes);
    if (!apart || *apart < 2 || *apart > target::kMostApart)
      continue;
    for (auto [other, size] : llvm::enumerate(domain))
      if (other != axis && size.isConst() && size.constant() > 0 && size.constant() % *apart == 0 &&
          strideWithin(access, other, *apart) == 1)
        return Woven{other, *apart, lanes};
  }
  return std::nullopt;
}

double optimize::elementsOf(const Access &access) {
  ArrayRef<Expr> domain = access.op->getParentOfType<FuncOp>().getDomain().getSizes();
  double points = 1;
  for (auto [axis, size] : llvm::enumerate(domain))
    points *= access.isStill(axis) ? 1 : target::typicalSize(size);
  return std::min(points, target::typicalSize(optimize::trackerOf(access.op).realSize()));
}
