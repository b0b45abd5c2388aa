//===- Cuts.cpp - Choose the axes along which a launch is cut into chunks -------------===//
// The number of threads is known at run time, that of chunks at compile time. So cuts are judged by their times on one
// thread, two, four and so on, added up, so that few threads weigh more than many:
// - the slowest thread has the most chunks, and chunks of the largest size;
// - each chunk computes values that do not change along the cut axis itself, and reads their operands again;
// - each thread has neighbouring chunks, and the same share of every launch: if those are neighbours in memory too, it
//   finds in its cache the data that it wrote before. Data that other threads wrote comes from theirs, line by line.
//===--------------------------------------------------------------------------------===//

#include "passes/optimize/choose/Cuts.h"

#include "passes/optimize/choose/Product.h"
#include "passes/optimize/choose/Work.h"

#include "target/Times.h"

#include <limits>

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using namespace kiln::target::times;
using kiln::optimize::Cut;
using kiln::optimize::CutAxis;
using kiln::optimize::Work;

namespace {

/// The effect of a cut along each axis on one op.
struct CutWork {
  double nanoseconds;
  bool isLoad, isRemote;           ///< of memory that threads share
  llvm::SmallBitVector moves;      ///< axes
  llvm::SmallBitVector neighbours; ///< axes along which a share of the memory is in one piece
};

class Judge {
public:
  Judge(FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights, ArrayRef<CutAxis> axes,
        ArrayRef<double> open);

  /// The times on each number of threads, added up.
  double costOf(ArrayRef<Cut> cuts) const;
  double alone() const { return alone_; }

private:
  double nanosecondsOf(ArrayRef<Cut> cuts, int64_t threads) const;
  int64_t countOf(size_t axis) const {
    return llvm::find_if(axes_, [&](const CutAxis &each) { return each.axis == axis; })->count;
  }

  ArrayRef<CutAxis> axes_;
  SmallVector<CutWork> works_;
  double alone_ = 0;
};

} // namespace

/// The axes along which no other goes further in memory: a piece along one is a piece of memory.
static llvm::SmallBitVector neighboursOf(const optimize::Access &access) {
  llvm::SmallBitVector axes(access.strides.size(), true);
  int64_t widest = 0;
  for (auto stride : access.strides)
    if (stride && stride->isConst())
      widest = std::max(widest, std::abs(stride->constant()));
  for (auto [axis, stride] : llvm::enumerate(access.strides))
    if (stride && stride->isConst() && std::abs(stride->constant()) < widest)
      axes.reset(axis);
  return axes;
}

Judge::Judge(FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights, ArrayRef<CutAxis> axes,
             ArrayRef<double> open)
    : axes_(axes) {
  for (const Work &work : optimize::workOf(func, target)) {
    CutWork cut{work.nanoseconds, isa<LoadOp>(work.op), false, work.axes, {}};
    for (auto [axis, chunks] : llvm::enumerate(open))
      if (work.axes.test(axis))
        cut.nanoseconds /= chunks;
    std::optional<optimize::Access> access;
    if (auto load = dyn_cast<LoadOp>(work.op))
      access = optimize::accessOf(load);
    if (auto store = dyn_cast<StoreOp>(work.op))
      access = optimize::accessOf(store);
    if (access && !(access->buffer < weights.size() && weights.test(access->buffer))) {
      cut.isRemote = true;
      cut.neighbours = neighboursOf(*access);
    }
    works_.push_back(cut);
    alone_ += cut.nanoseconds;
  }
}

double Judge::nanosecondsOf(ArrayRef<Cut> cuts, int64_t threads) const {
  int64_t chunks = 1;
  for (const Cut &cut : cuts)
    chunks *= cut.parts;
  double most = llvm::divideCeil(chunks, threads); // chunks of one thread
  double total = (kLaunchNanoseconds + kCountNanoseconds * chunks) * (threads > 1) + kChunkNanoseconds * most;
  for (const CutWork &work : works_) {
    double chunk = work.nanoseconds, repeats = 1; // of the same reads
    bool isShared = false, isStill = false;
    for (auto [number, cut] : llvm::enumerate(cuts)) {
      int64_t count = countOf(cut.axis), step = llvm::divideCeil(count, cut.parts);
      bool moves = work.moves.test(cut.axis);
      if (moves)
        chunk *= double(step) / double(count) * (count % step ? kUneven : 1.0);
      else if (work.isLoad && cut.axis == axes_.front().axis)
        chunk /= cut.parts; // each step of the outermost loop reads it again anyway
      else if (work.isLoad)
        repeats *= double(cut.parts);
      isStill |= !moves;
      // If the first cut alone gives each thread its share, the others are within it.
      bool isFirst = number == 0 || cuts.front().parts < threads;
      isShared |= work.isRemote && isFirst && !(moves && work.neighbours.test(cut.axis));
    }
    double first = std::max(1.0, most / repeats);
    total += chunk * (first + kReadAgain * (most - first) + (threads > 1 ? kWaitForSlowest : 0));
    if (isShared && threads > 1) {
      double share = isStill ? 1 : 1.0 / threads;
      total += work.nanoseconds * kReadRemote * share * (threads - 1) / threads;
    }
  }
  return total;
}

double Judge::costOf(ArrayRef<Cut> cuts) const {
  double cost = 0;
  double worth = std::max(2.0, alone_ / kThreadNanoseconds);
  for (int64_t threads = 1; threads <= std::min<double>(worth, target::kJudgedThreads); threads *= 2)
    cost += nanosecondsOf(cuts, threads);
  return cost;
}

SmallVector<Cut, 2> optimize::chooseCuts(FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights,
                                         ArrayRef<CutAxis> axes, int64_t most, ArrayRef<double> open) {
  Judge judge(func, target, weights, axes, open);
  if (judge.alone() < 2 * kThreadNanoseconds)
    return {};
  SmallVector<Cut, 2> best;
  double least = std::numeric_limits<double>::infinity();
  auto consider = [&](SmallVector<Cut, 2> cuts) {
    bool isCutEnough = llvm::all_of(axes, [&](const CutAxis &axis) {
      return axis.least <= 1 ||
             llvm::any_of(cuts, [&](const Cut &cut) { return cut.axis == axis.axis && cut.parts >= axis.least; });
    });
    if (double cost = judge.costOf(cuts); isCutEnough && cost < least) {
      least = cost;
      best = std::move(cuts);
    }
  };
  consider({});
  // Among numbers of parts with the same steps, the smallest.
  auto eachCut = [](const CutAxis &axis, int64_t most, auto body) {
    for (int64_t parts = 2; parts <= std::min(axis.count, most); ++parts)
      if ((!axis.evenly || axis.count % parts == 0) &&
          llvm::divideCeil(axis.count, llvm::divideCeil(axis.count, parts)) == uint64_t(parts))
        body(Cut{axis.axis, parts});
  };
  for (auto [number, axis] : llvm::enumerate(axes))
    eachCut(axis, most, [&](Cut first) {
      consider({first});
      for (const CutAxis &inner : axes.drop_front(number + 1))
        eachCut(inner, most / first.parts, [&](Cut second) { consider({first, second}); });
    });
  return best;
}
