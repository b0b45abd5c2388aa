//===- ChooseLanes.cpp - Lanes without a product, and lines that are added up ---------------===//
// If each element is read once, a kernel takes as long as memory takes. Then it matters that neighbouring elements are
// read together, that several streams of memory are read at a time, and that a line which was fetched is used
// completely before it is evicted.
//===--------------------------------------------------------------------------------===//

#include "passes/optimize/choose/Chooser.h"

#include "passes/optimize/KernelVariants.h"
#include "passes/optimize/choose/LaneWork.h"
#include "passes/optimize/choose/RegisterTile.h"
#include "passes/optimize/choose/RowStages.h"
#include "passes/optimize/choose/Work.h"

#include "ir/uop/PastCaches.h"

#include <limits>

using namespace kiln;
using namespace kiln::kernel;
using namespace kiln::optimize;
using namespace mlir;

/// Points of one lane that are reduced together: their totals and shared operands fit the registers.
static constexpr int64_t kMostRowsOfLanes = 14;
/// The same for an axis of unknown size, whose points may each be past the end, if they lie apart by a number and if
/// each needs an address; and for a window in an input of unknown size, whose points each need an address.
static constexpr int64_t kOpenRowsOfLanes = 8, kOpenRowsApart = 4, kMostOpenWindows = 4;
/// Open rows that are each added up along their own lanes at a time, so that additions do not wait for each other.
static constexpr int64_t kOpenSums = 4;
/// Of rows shorter than a vector, code lane by lane takes so many times the instructions: LLVM finds some vectors in
/// it.
static constexpr double kGainOfFewLanes = 3;
/// Lines that are added up together.
static constexpr int64_t kLinesAtOnce = 8;
/// If lines are cut into more chunks than there may be threads, each has so many pages of a line.
static constexpr int64_t kPagesOfChunk = 4;
/// So many matrices of short lines are chunks enough.
static constexpr int64_t kFewestMatrices = 8;
/// With so many rows, adding a page of lines to their totals takes longer than reading that page.
static constexpr int64_t kRowsOfPage = 2;
/// If tiles of what is contiguous along two axes are more than the second cache holds, tiles write whole lines, in
/// blocks of several lines each way: rows of memory far apart evict each other from a cache, and the TLB holds few of
/// their pages.
static constexpr int64_t kTurnedBlock = 32, kMostTurned = 16;
/// So many rows of blocks are chunks enough.
static constexpr int64_t kEnoughBlocks = 16;
/// Lines a multiple of this apart share few sets of the first cache.
static constexpr int64_t kSharedBytes = 1024;
/// The factor of memory from which it matters along which axis it is contiguous.
static constexpr double kAlike = 3;
/// Walks through tables that are under way at a time: each step of one waits for the step before, so that others fill
/// the time. At least the fewest, where their number can be cut so.
static constexpr int64_t kMostWalks = 16, kFewestWalks = 8;
/// An element-wise kernel, in which no additions wait for each other, walks an axis of unknown size in several vectors
/// at a time if that typically has so many.
static constexpr int64_t kManyVectors = 16;
/// A loop of so few vectors is unrolled.
static constexpr int64_t kFewVectors = 4;
/// Other loops are walked innermost where so many times fewer elements are then loaded one by one.
static constexpr double kFewerTimes = 2;
/// A reduced axis of so few points is not a loop, of more if rows read what others have read a step before; nor are two
/// of so few together, if they have masks.
static constexpr int64_t kMostUnrolled = 8, kMostSharedTaps = 16, kMostMaskedTaps = 9;

/// Whether a window slides: a step along its axis reads what the next point along `rows` reads.
static bool slides(const Access &load, size_t rows, size_t step) {
  return load.strides[rows] && !load.strides[rows]->isConst(0) && load.strides[rows] == load.strides[step];
}

std::optional<optimize::Woven> Chooser::wovenWith(size_t axis) const {
  int64_t lanes = target_.vectorBits() / elementBits(func_);
  for (const Access &store : stores_)
    if (std::optional<optimize::Woven> woven = optimize::wovenAxis(store, axis, lanes);
        woven && !reduced_.contains(woven->axis))
      return woven;
  return std::nullopt;
}

std::optional<size_t> Chooser::rowsBeside(size_t axis) const {
  auto reduces = func_.getBody().getOps<ReduceOp>();
  if (!llvm::hasSingleElement(reduces) || reduced_.contains(axis))
    return std::nullopt;
  ReduceOp reduce = *reduces.begin();
  if (!optimize::dependsOn(reduce.getResult(), axis))
    return std::nullopt;
  if (std::optional<optimize::Woven> woven = wovenWith(axis);
      woven && optimize::dependsOn(reduce.getResult(), woven->axis))
    return woven->axis;
  // Sums at neighbouring points share what stands still between them, and what a step of the sum moves by as well.
  auto shares = [&](size_t rows) {
    return llvm::any_of(loads_, [&](const Access &load) {
      if (load.isStill(rows))
        return llvm::any_of(reduced_, [&](size_t step) { return !load.isStill(step); });
      return llvm::any_of(reduced_, [&](size_t step) { return slides(load, rows, step); });
    });
  };
  // Of several axes the innermost that shares.
  std::optional<size_t> known, open;
  for (size_t other : keptAxes({axis}))
    if (optimize::dependsOn(reduce.getResult(), other) && mostOf(other) > 1)
      if (std::optional<size_t> &best = fixedSize(other) > 0 ? known : open; !best || shares(other) || !shares(*best))
        best = other;
  // Points whose number is known need no test. But lanes apart are stored together only with points that lie side by
  // side.
  bool areTurned = open && known && !isWrittenAlong(axis) && isWrittenAlong(*open);
  bool isOpenBetter = open && shares(*open) && (areTurned || !(known && shares(*known)));
  std::optional<size_t> best = isOpenBetter ? open : known;
  // If the distance of lines is known only at run time, each has an address of its own, which costs more than it gains
  // if nothing is shared and no window is walked.
  bool isWindow =
      llvm::any_of(loads_, [](const Access &load) { return optimize::trackerOf(load.op).views().size() > 1; });
  bool isOpenApart = best && llvm::any_of(loads_, [&](const Access &load) {
                       return load.strides[*best] && !load.strides[*best]->isConst();
                     });
  bool pays = best && ((fixedSize(axis) > 0 && !isOpenApart) || isWindow || shares(*best));
  return pays ? best : std::nullopt;
}

void Chooser::unrollTaps(size_t inner, size_t rows) {
  add(OptKind::UNROLL, inner, fixedSize(inner));
  if (fixedSize(rows) > 0)
    return;
  // Of few rows, those that share taps share their masks, too, if all of the window is in sight.
  for (size_t axis : reduced_) {
    bool areShared =
        llvm::any_of(loads_, [&](const Access &load) { return !isWhole(load) && slides(load, rows, axis); });
    int64_t taps = fixedSize(axis) * fixedSize(inner);
    if (axis != inner && areShared && taps > 0 && taps <= kMostMaskedTaps)
      add(OptKind::UNROLL, axis, fixedSize(axis));
  }
}

int64_t Chooser::lanesOfRow(size_t axis, int64_t lanes) const {
  // An open row that strides have made short is typically half a vector. Of a longer one, whole vectors are halves too.
  bool isShort = fixedSize(axis) < 0 && target::typicalSize(func_.getDomain().getSizes()[axis]) <= double(lanes) / 2;
  return isShort ? lanes / 2 : lanes;
}

bool Chooser::chooseRowsOfLanes(size_t axis, int64_t lanes) {
  std::optional<size_t> rows = rowsBeside(axis);
  if (!rows)
    return false;
  add(OptKind::VECTOR, axis, lanesOfRow(axis, lanes));
  bool isOpenWindow = llvm::any_of(loads_, [&](const Access &load) {
    view::ShapeTracker tracker = optimize::trackerOf(load.op);
    return tracker.views().size() > 1 && !tracker.realSize().isConst();
  });
  bool areApart =
      llvm::all_of(loads_, [&](const Access &load) { return load.strides[*rows] && load.strides[*rows]->isConst(); });
  int64_t most = isOpenWindow && !areApart ? kMostOpenWindows : kMostRowsOfLanes;
  int64_t mostOpen = areApart ? kOpenRowsOfLanes : kOpenRowsApart;
  add(OptKind::UPCAST, *rows, fixedSize(*rows) < 0 ? mostOpen : bestRows(fixedSize(*rows), most));
  windows_ = {*rows, axis};
  ReduceOp reduce = *func_.getBody().getOps<ReduceOp>().begin();
  int64_t inner = reduce.getAxes().back();
  bool areShared = llvm::any_of(loads_, [&](const Access &load) { return slides(load, *rows, inner); });
  if (int64_t taps = fixedSize(inner); taps > 0 && taps <= (areShared ? kMostSharedTaps : kMostUnrolled))
    unrollTaps(inner, *rows);
  // Weights are laid out such that lanes find theirs contiguous.
  for (const Access &load : loads_)
    if (isRunOften() && weights_.test(load.buffer) && isReadOnce(load) && !load.isStill(axis) &&
        !load.isContiguous(axis))
      packed_ = load.buffer;
  return true;
}

void Chooser::askForWindows(size_t rows, size_t lanes) {
  SmallVector<const Access *> read;
  int64_t bytes = 0;
  for (const Access &load : loads_)
    if (!weights_.test(load.buffer) && isReadOnce(load) && !cast<LoadOp>(load.op).getRow())
      read.push_back(&load), bytes += extentOf(load);
  for (const Access &store : stores_)
    bytes += extentOf(store);
  std::optional<int64_t> loop = walkedLoop(rows, lanes);
  if (bytes <= 2 * target_.cacheBytes(2) || !loop) // with less, each thread's part may still be in its own
    return;
  askForResults(rows, lanes);
  for (const Access *load : read)
    add(OptKind::PREFETCH, *loop, load->buffer);
}

bool Chooser::chooseLines(const Access &matrix, size_t columns, std::optional<size_t> rows) {
  int64_t lanes = target_.vectorBits() / elementBits(func_), bytes = fixedSize(columns) * bytesOfElement(matrix);
  size_t lines = *reduced_.begin();
  SmallVector<size_t> kept = keptAxes();
  bool isLast = columns == kept.back() && reduced_.size() == 1 && columns < lines;
  if (!isLast || !matrix.isContiguous(columns) || fixedSize(lines) < kLinesAtOnce)
    return false;
  int64_t least = 1;
  if (bytes < kPageBytes) {
    // Short lines are read in the order of memory if they follow each other and a chunk has whole ones; there must then
    // be many lines.
    std::optional<view::Expr> apart = matrix.strides[lines];
    int64_t matrices = 1;
    for (size_t axis : keptAxes({columns}))
      matrices *= std::max<int64_t>(countOf_[axis], 0); // an unknown number of them is cut by other rules
    bool follow = apart && apart->isConst(fixedSize(columns));
    if (rows || !follow || fixedSize(columns) < 2 * lanes || matrices < kFewestMatrices)
      return false;
    llvm::erase(kept, columns);
  } else {
    // Chunks of less than a page would leave each line after a few vectors, unless many rows need these; several pages
    // are found sooner.
    int64_t passes = rows ? std::max<int64_t>(1, fixedSize(*rows) / kRowsOfPage) : 1;
    int64_t pages = bytes / kPageBytes;
    mostChunks_ =
        std::min(mostChunks_, std::max(std::min(pages, target::kJudgedThreads), pages / kPagesOfChunk) * passes);
  }
  if (rows) {
    // For all rows, the second cache keeps a chunk's part of the lines and of each row's totals.
    int64_t held = target_.cacheBytes(2) / 2;
    int64_t totals = fixedSize(columns) * elementBits(func_) / 8 * mostOf(*rows);
    least = held > 0 ? llvm::divideCeil(bytes * kLinesAtOnce + totals, held) : 0;
    if (least < 1 || least > std::max<int64_t>(1, mostChunks_) || kept[kept.size() - 2] != *rows)
      return false;
    add(OptKind::SWAP, *rows, columns);
    llvm::erase(kept, *rows);
  }
  add(OptKind::VECTOR, columns, 2 * lanes);
  chooseChunks(kept, columns, least);
  add(OptKind::SWAP, loopOf(columns), lines);
  size_t caches = target_.getCaches().size();
  int64_t extent = optimize::leastOf(optimize::trackerOf(matrix.op).realSize()) * bytesOfElement(matrix);
  bool isFar = !rows && !cast<LoadOp>(matrix.op).getRow() && caches > 0 && extent > target_.cacheBytes(caches);
  // With more lines more loads are under way, while registers hold each one's factor.
  int64_t most = std::max<int64_t>(kLinesAtOnce, target_.vectorRegisters() / 2);
  add(OptKind::UNROLL, lines, isFar && fixedSize(lines) % most == 0 ? most : kLinesAtOnce);
  add(OptKind::STAGE, lines, stores_.front().buffer);
  // The hardware does not prefetch from the end of one line to the beginning of the next part.
  if (isFar)
    add(OptKind::PREFETCH, loopOf(columns), matrix.buffer);
  return true;
}

bool Chooser::chooseSumsOfLines() {
  auto reduces = func_.getBody().getOps<ReduceOp>();
  SmallVector<size_t> kept = keptAxes();
  if (!llvm::hasSingleElement(reduces) || (*reduces.begin()).getScore() || reduced_.size() != 1 || kept.empty())
    return false;
  size_t lines = *reduced_.begin();
  auto matrix = llvm::find_if(loads_, [&](const Access &load) {
    bool isWindow = llvm::any_of(kept, [&](size_t axis) { return slides(load, axis, lines); });
    return load.isContiguous(kept.back()) && !load.isStill(lines) && !isWindow;
  });
  return matrix != loads_.end() && chooseLines(*matrix, kept.back(), /*rows=*/std::nullopt);
}

/// Whether lines of memory whose distance is an access's step along an axis share few sets of the first cache.
static bool sharesSets(ArrayRef<Access> accesses, size_t axis) {
  return llvm::any_of(accesses, [&](const Access &access) {
    std::optional<view::Expr> apart = access.strides[axis];
    int64_t bytes = elementBits(access.op->getParentOfType<FuncOp>()) / 8;
    return apart && apart->isConst() && !apart->isConst(0) && apart->constant() * bytes % kSharedBytes == 0;
  });
}

void Chooser::turn(int64_t read, int64_t written, int64_t side, bool isPlain) {
  int64_t bytes = elementBits(func_) / 8 * optimize::leastOf(optimize::trackerOf(stores_.front().op).realSize());
  int64_t points = isPlain ? std::min(uop::kLineBytes * 8 / elementBits(func_), kMostTurned) : kTurnedTile;
  bool isOpen = fixedSize(written) < 0;
  bool fills = isOpen || llvm::alignTo(fixedSize(written), points) == llvm::alignTo(fixedSize(written), kTurnedTile);
  bool isLarge =
      isPlain && bytes > target_.cacheBytes(2) && std::min(fixedSize(read), fixedSize(written)) >= kTurnedBlock;
  int64_t lanes = read, rows = written;
  if (isLarge) {
    for (int64_t *loop : {&rows, &lanes})
      *loop = add(OptKind::TILE, *loop, kTurnedBlock);
    // Blocks in the order of reading; each chunk has whole rows of them.
    if (written > read)
      add(OptKind::SWAP, read, written);
    if (countOf_[written] >= kEnoughBlocks)
      uncut_ = read;
  } else if (int64_t first = keptAxes().front(); isPlain && fills && written != first &&
                                                 (isOpen || fixedSize(written) > points) &&
                                                 (!sharesSets(stores_, read) || sharesSets(loads_, written))) {
    // The axes of the output go outermost, so that each step reads on where the last one ended.
    add(OptKind::SWAP, first, written);
    outermost_ = written;
    uncut_ = read;
  } else {
    points = std::min(points, kTurnedTile);
  }
  add(OptKind::VECTOR, lanes, side);
  add(OptKind::UPCAST, rows, isOpen ? points : std::min(fixedSize(written), points));
}

/// Whether most loads along an axis are of scattered elements: lanes along it would load one by one.
static bool areMostlyGathers(ArrayRef<Access> loads, size_t axis) {
  int64_t gathers = 0, others = 0;
  for (const Access &load : loads) {
    bool isGather = cast<LoadOp>(load.op).getRow() && !load.strides[axis];
    gathers += isGather;
    others += !isGather && !load.isStill(axis);
  }
  return gathers > others;
}

void Chooser::chooseWalks() {
  auto isStep = [&](const Access &load) {
    Value row = cast<LoadOp>(load.op).getRow();
    return row && llvm::any_of(loads_, [&](const Access &other) {
             return cast<LoadOp>(other.op).getRow() && kernel::isComputedFrom(row, other.op->getResult(0));
           });
  };
  auto step = llvm::find_if(loads_, isStep);
  if (step == loads_.end())
    return;
  SmallVector<size_t> axes(reduced_.begin(), reduced_.end());
  llvm::sort(axes);
  SmallVector<size_t> inner = keptAxes();
  inner.append(axes);
  auto walks = llvm::find_if(llvm::reverse(inner), [&](size_t axis) {
    return fixedSize(axis) > 1 && optimize::dependsOn(step->op->getResult(0), axis);
  });
  if (walks == inner.rend())
    return;
  int64_t count = fixedSize(*walks);
  int64_t points = kMostWalks;
  while (points >= kFewestWalks && count % points != 0)
    --points;
  points = points >= kFewestWalks ? points : evenPart(count, kMostWalks);
  add(reduced_.contains(*walks) ? OptKind::UNROLL : OptKind::UPCAST, *walks, points);
}

std::optional<size_t> Chooser::laneAxis(int64_t lanes, int64_t fewest) const {
  // Weights are laid out as the lanes of a sum's results want them (chooseRowsOfLanes).
  llvm::SmallBitVector weights(func_.getNumArguments()), none(func_.getNumArguments());
  if (isRunOften())
    for (const Access &load : loads_)
      if (weights_.test(load.buffer) && isReadOnce(load))
        weights.set(load.buffer);
  std::optional<size_t> best;
  double least = std::numeric_limits<double>::infinity();
  for (size_t axis = 0; axis < func_.getDomain().getSizes().size(); ++axis) {
    // A sum of so few known terms is unrolled; without lanes, such rows go into vectors by themselves.
    if (reduced_.contains(axis) && fixedSize(axis) > 0 && fixedSize(axis) <= kMostUnrolled)
      continue;
    bool hasVectors = isReadAlong(axis) || isWrittenAlong(axis) || wovenWith(axis);
    if (mostOf(axis) < fewest || !hasVectors || areMostlyGathers(loads_, axis))
      continue;
    double steps = optimize::laneSteps(func_, target_, axis, lanes, rowsBeside(axis) ? weights : none);
    // Of two equal ones, the one along which memory is read: a vector is easier to take apart than to put together.
    if (steps < least || (steps == least && isWrittenAlong(*best) && !isWrittenAlong(axis))) {
      best = axis;
      least = steps;
    }
  }
  return best;
}

bool Chooser::isWorthLanes(size_t axis, int64_t lanes) const {
  llvm::SmallBitVector none(func_.getNumArguments());
  return optimize::laneSteps(func_, target_, axis, lanes, none) * kGainOfFewLanes <
         optimize::laneSteps(func_, target_, axis, 1, none);
}

std::optional<size_t> Chooser::turnedWith(size_t axis) const {
  if (!reduced_.empty())
    return std::nullopt;
  auto along = [&](size_t axis) {
    double elements = 0;
    for (const Access &access : llvm::concat<const Access>(loads_, stores_))
      elements += optimize::strideWithin(access, axis, kTurnedTile) == 1 ? optimize::elementsOf(access) : 0;
    return elements;
  };
  for (size_t other = 0; other < func_.getDomain().getSizes().size(); ++other)
    if (other != axis && along(other) >= along(axis) / kAlike && mostOf(other) > 1)
      return other;
  return std::nullopt;
}

bool Chooser::isInSum(const Access &load, size_t lanes, int64_t width) const {
  bool areFew = fixedSize(lanes) > 0 && fixedSize(lanes) <= kFewVectors * width;
  return llvm::any_of(reduced_, [&](size_t axis) { return !load.isStill(axis) && !(axis == lanes && areFew); });
}

std::optional<size_t> Chooser::hoistApart(size_t lanes, int64_t width) {
  SmallVector<size_t> kept = keptAxes();
  llvm::erase_if(kept, [&](size_t axis) { return mostOf(axis) <= 1; });
  if (kept.empty())
    return std::nullopt;
  auto timesWith = [&](size_t innermost) {
    SmallVector<size_t> order(kept);
    llvm::erase(order, innermost);
    order.push_back(innermost);
    double total = 0;
    for (const Access &load : loads_) {
      if (load.isStill(lanes) || load.isContiguous(lanes) || isInSum(load, lanes, width))
        continue;
      ArrayRef<size_t> around = order;
      while (!around.empty() && load.isStill(around.back()))
        around = around.drop_back();
      double times = 1;
      for (size_t axis : around)
        times *= target::typicalSize(func_.getDomain().getSizes()[axis]);
      total += times;
    }
    return total;
  };
  size_t last = kept.back(), best = last;
  for (size_t axis : llvm::reverse(kept))
    if (timesWith(axis) < timesWith(best))
      best = axis;
  if (best == last || timesWith(best) * kFewerTimes > timesWith(last))
    return last;
  add(OptKind::SWAP, best, last);
  swapped_ = {best, last};
  return best;
}

std::optional<size_t> Chooser::turnedInSums(size_t axis, int64_t width, std::optional<size_t> innermost) const {
  std::optional<size_t> best;
  double most = 0;
  for (size_t other = 0; other < func_.getDomain().getSizes().size(); ++other) {
    double elements = 0;
    for (const Access &access : llvm::concat<const Access>(loads_, stores_)) {
      bool isHoisted = innermost && access.isStill(*innermost) && !isInSum(access, axis, width);
      if (!isHoisted && optimize::turnsWith(access, axis, other))
        elements += optimize::elementsOf(access);
    }
    if (elements > most)
      best = other, most = elements;
  }
  return best;
}

std::optional<size_t> Chooser::sumsBeside(size_t axis) const {
  ArrayRef<view::Expr> domain = func_.getDomain().getSizes();
  auto reduces = func_.getBody().getOps<ReduceOp>();
  bool isStored = llvm::any_of(stores_, [&](const Access &store) { return !store.isStill(axis); });
  if (!llvm::hasSingleElement(reduces) || (*reduces.begin()).getScore() || isStored || !reduced_.contains(axis))
    return std::nullopt;
  // Of a number that they divide, there is no rest; of one known when the program runs, never just one.
  auto areSeveral = [&](size_t rows) {
    int64_t count = fixedSize(rows);
    return count < 0 ? bool(view::exactQuotient(domain[rows], kOpenSums)) : count > 0 && count % kOpenSums == 0;
  };
  for (size_t rows : llvm::reverse(keptAxes()))
    if (areSeveral(rows) && llvm::all_of(loads_, [&](const Access &load) { return load.strides[rows].has_value(); }))
      return rows;
  return std::nullopt;
}

void Chooser::chooseLanes() {
  int64_t lanes = target_.vectorBits() / elementBits(func_);
  // Half a vector is enough if memory cannot be laid out for whole ones, as with open sizes, and where nothing is as
  // long as a vector; short rows take vectors of half as many lanes.
  bool isOpen = llvm::any_of(func_.getDomain().getSizes(), [](view::Expr size) { return !size.isConst(); });
  std::optional<size_t> best = laneAxis(lanes, isOpen ? lanes / 2 + 1 : lanes);
  for (int64_t few : {lanes, lanes / 2}) {
    if (best)
      break;
    best = laneAxis(few, few / 2 + 1);
    if (best && !reduced_.contains(*best) && !isWorthLanes(*best, few))
      best = std::nullopt;
    if (best)
      lanes = few;
  }
  if (!best)
    return chooseWalks();
  // Results that lie along a sum's own axis are stored in tiles, as below.
  bool writesAlongSum = llvm::any_of(reduced_, [&](size_t terms) {
    return llvm::any_of(stores_, [&](const Access &store) { return optimize::turnsWith(store, *best, terms); });
  });
  if (!writesAlongSum && chooseRowsOfLanes(*best, lanes))
    return;
  if (std::optional<optimize::Woven> woven = wovenWith(*best); woven && reduced_.empty()) {
    add(OptKind::VECTOR, *best, woven->lanes);
    add(OptKind::UPCAST, woven->axis, woven->points);
    return;
  }
  // If about as much is contiguous along another axis, tiles of both use all fetched lines.
  if (std::optional<size_t> other = turnedWith(*best)) {
    int64_t side = std::min(lanes, kTurnedTile), inner = *best, outer = *other;
    if (isWrittenAlong(inner) && !isReadAlong(inner) && mostOf(outer) >= side)
      std::swap(inner, outer);
    return turn(inner, outer, side, isWrittenAlong(outer) && !isWrittenAlong(inner));
  }
  // Tiles of what lies along another axis are turned in registers, where the loops around do not share it.
  std::optional<size_t> innermost = reduced_.empty() ? std::nullopt : hoistApart(*best, lanes);
  if (std::optional<size_t> other = turnedInSums(*best, lanes, innermost); other && !reduced_.empty()) {
    add(OptKind::VECTOR, *best, lanes);
    add(reduced_.contains(*other) ? OptKind::UNROLL : OptKind::UPCAST, *other, kTurnedTile);
    return;
  }
  // A sum over lanes has one accumulator per lane: four vectors of them hide the addition's latency. Of lines whose
  // number is not known, so that their totals cannot wait in memory, each has its part read in one piece.
  bool isOpenSum = llvm::any_of(reduced_, [&](size_t axis) { return fixedSize(axis) < 0; });
  view::Expr size = func_.getDomain().getSizes()[*best];
  if (std::optional<size_t> rows = size.isConst() ? std::nullopt : sumsBeside(*best)) {
    add(OptKind::VECTOR, *best, lanes);
    add(OptKind::UPCAST, *rows, kOpenSums);
    return;
  }
  int64_t vectors = reduced_.contains(*best) || isOpenSum ? 4 : 2;
  double points = double(size.max());
  if (!size.isConst()) {
    // The last vectors are masked, all of them on a short axis. That takes long if lanes are loaded or stored one by
    // one.
    bool isApart = llvm::any_of(llvm::concat<const Access>(loads_, stores_), [&](const Access &access) {
      return !access.isStill(*best) && !access.isContiguous(*best);
    });
    double typical = target::typicalSize(size), fewest = double((reduced_.empty() ? kManyVectors : vectors) * lanes);
    // Of lines that come from memory, parts that are read one after the other would each wait for it.
    bool isFar = !reduced_.empty() && llvm::any_of(loads_, [&](const Access &load) {
      return load.isContiguous(*best) &&
             optimize::elementsOf(load) * double(bytesOfElement(load)) > double(target_.cacheBytes(2));
    });
    if (isApart || (!reduced_.contains(*best) && !isFar && typical < fewest))
      vectors = 1;
    // A picture that strides have made small is often larger than that.
    points = std::min(points, 2 * std::max<double>(target::kTypicalSize, typical));
  }
  while (vectors > 1 && points < double(vectors * lanes))
    vectors /= 2;
  add(OptKind::VECTOR, *best, vectors > 1 ? vectors * lanes : lanesOfRow(*best, lanes));
}

bool Chooser::chooseRowStages() {
  std::optional<optimize::RowStages> held =
      optimize::chooseRowStages(func_, target_, trial_, [&](size_t axis) { return loopOf(axis); });
  if (!held)
    return false;
  trial_ = std::move(held->trial);
  countOf_[held->rows] = held->blocks;
  SmallVector<size_t> kept = keptAxes();
  llvm::erase_if(kept, [&](size_t axis) { return loopOf_.contains(axis); });
  chooseChunks(kept);
  return true;
}
