//===- ChooseLanes.cpp - Lanes for what is not a product, and lines that are added up -------===//
// Where each element is read once, a kernel takes as long as memory takes. Then it counts that elements which lie side
// by side are read together, that several streams of memory are read at a time, and that a line which was fetched is
// used whole before it is gone.
//===--------------------------------------------------------------------------------===//

#include "passes/optimize/choose/Chooser.h"

#include "passes/optimize/KernelVariants.h"
#include "passes/optimize/choose/RegisterTile.h"
#include "passes/optimize/choose/RowStages.h"
#include "passes/optimize/choose/Work.h"

#include "ir/uop/PastCaches.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace kiln::optimize;
using namespace mlir;

/// Points of one lane that are reduced side by side: their totals and what they share fit the registers.
static constexpr int64_t kMostRowsOfLanes = 14;
/// Lines that are added up side by side.
static constexpr int64_t kLinesAtOnce = 8;
/// Where lines are cut into more chunks than there may be threads, each has so many pages of a line.
static constexpr int64_t kPagesOfChunk = 4;
/// So many matrices of short lines are chunks enough.
static constexpr int64_t kFewestMatrices = 8;
/// For so many rows to add a page of lines to their totals takes longer than to read that page.
static constexpr int64_t kRowsOfPage = 2;
/// Where some memory is contiguous along one axis and some along another: the sides of the tiles.
static constexpr int64_t kTurnedTile = 8;
/// Where that is more than the second cache holds, tiles write whole lines, in blocks of several lines each way: rows
/// of memory far apart take each other's place in a cache, and pages of few of them are known at a time.
static constexpr int64_t kTurnedBlock = 32, kMostTurned = 16;
/// So many rows of blocks are chunks enough.
static constexpr int64_t kEnoughBlocks = 16;
/// Lines a multiple of this apart share few sets of the first cache.
static constexpr int64_t kSharedBytes = 1024;
/// Of how many times as much memory it makes a difference along which axis it is contiguous.
static constexpr double kAlike = 3;
/// A reduced axis of so few points is not a loop.
static constexpr int64_t kMostUnrolled = 8;

bool Chooser::chooseRowsOfLanes(size_t axis, int64_t lanes) {
  auto reduces = func_.getBody().getOps<ReduceOp>();
  if (!llvm::hasSingleElement(reduces) || reduced_.contains(axis))
    return false;
  ReduceOp reduce = *reduces.begin();
  std::optional<size_t> rows;
  for (size_t other : keptAxes({axis}))
    if (optimize::dependsOn(reduce.getResult(), other) && fixedSize(other) > 1)
      rows = other;
  if (!rows || !optimize::dependsOn(reduce.getResult(), axis))
    return false;
  add(OptKind::VECTOR, axis, lanes);
  add(OptKind::UPCAST, *rows, bestRows(fixedSize(*rows), kMostRowsOfLanes));
  windows_ = {*rows, axis};
  if (int64_t inner = reduce.getAxes().back(); fixedSize(inner) > 0 && fixedSize(inner) <= kMostUnrolled)
    add(OptKind::UNROLL, inner, fixedSize(inner));
  // Weights lie such that lanes find theirs side by side.
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
  if (bytes <= 2 * target_.cacheBytes(2) || !loop) // of less, each thread's part may still be in its own
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
    // Short lines are read in the order of memory where they follow each other and a chunk has whole ones, of which
    // there must be many then.
    std::optional<view::Expr> apart = matrix.strides[lines];
    int64_t matrices = 1;
    for (size_t axis : keptAxes({columns}))
      matrices *= std::max<int64_t>(countOf_[axis], 0); // an unknown number of them is cut by other rules
    bool follow = apart && apart->isConst(fixedSize(columns));
    if (rows || !follow || fixedSize(columns) < 2 * lanes || matrices < kFewestMatrices)
      return false;
    llvm::erase(kept, columns);
  } else {
    // Chunks of less than a page would leave each line after a few vectors, unless many rows have work with these; of
    // several pages each is found sooner.
    int64_t passes = rows ? std::max<int64_t>(1, fixedSize(*rows) / kRowsOfPage) : 1;
    int64_t pages = bytes / kPageBytes;
    mostChunks_ =
        std::min(mostChunks_, std::max(std::min(pages, target::kJudgedThreads), pages / kPagesOfChunk) * passes);
  }
  if (rows) {
    // While all rows pass, the second cache keeps a chunk's part of the lines and of each row's totals.
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
  // Of more lines more is under way, while registers hold what each is multiplied by.
  int64_t most = std::max<int64_t>(kLinesAtOnce, target_.vectorRegisters() / 2);
  add(OptKind::UNROLL, lines, isFar && fixedSize(lines) % most == 0 ? most : kLinesAtOnce);
  add(OptKind::STAGE, lines, stores_.front().buffer);
  // The hardware does not read ahead from the end of one line to where the next part begins.
  if (isFar)
    add(OptKind::PREFETCH, loopOf(columns), matrix.buffer);
  return true;
}

bool Chooser::chooseSumsOfLines() {
  auto reduces = func_.getBody().getOps<ReduceOp>();
  SmallVector<size_t> kept = keptAxes();
  if (!llvm::hasSingleElement(reduces) || (*reduces.begin()).getScore() || reduced_.size() != 1 || kept.empty())
    return false;
  auto matrix = llvm::find_if(
      loads_, [&](const Access &load) { return load.isContiguous(kept.back()) && !load.isStill(*reduced_.begin()); });
  return matrix != loads_.end() && chooseLines(*matrix, kept.back(), /*rows=*/std::nullopt);
}

/// Whether lines of memory that lie apart by what an access moves along an axis share few sets of the first cache.
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
  bool fills = llvm::alignTo(fixedSize(written), points) == llvm::alignTo(fixedSize(written), kTurnedTile);
  bool isLarge =
      isPlain && bytes > target_.cacheBytes(2) && std::min(fixedSize(read), fixedSize(written)) >= kTurnedBlock;
  int64_t lanes = read, rows = written;
  if (isLarge) {
    for (int64_t *loop : {&rows, &lanes})
      *loop = add(OptKind::TILE, *loop, kTurnedBlock);
    // Blocks in the order of what is read, of which each chunk has whole rows.
    if (written > read)
      add(OptKind::SWAP, read, written);
    if (countOf_[written] >= kEnoughBlocks)
      uncut_ = read;
  } else if (int64_t first = keptAxes().front(); isPlain && fills && written != first && fixedSize(written) > points &&
                                                 (!sharesSets(stores_, read) || sharesSets(loads_, written))) {
    // What is written goes outermost, so that each step reads on where the last one ended.
    add(OptKind::SWAP, first, written);
    outermost_ = written;
    uncut_ = read;
  } else {
    points = std::min(points, kTurnedTile);
  }
  add(OptKind::VECTOR, lanes, side);
  add(OptKind::UPCAST, rows, std::min(fixedSize(written), points));
}

/// Whether most of what is loaded along an axis are elements anywhere: lanes along it would load one by one.
static bool areMostlyGathers(ArrayRef<Access> loads, size_t axis) {
  int64_t gathers = 0, others = 0;
  for (const Access &load : loads) {
    bool isGather = cast<LoadOp>(load.op).getRow() && !load.strides[axis];
    gathers += isGather;
    others += !isGather && !load.isStill(axis);
  }
  return gathers > others;
}

void Chooser::chooseLanes() {
  int64_t lanes = target_.vectorBits() / elementBits(func_);
  // The axis along which most of memory is contiguous; where two are alike one along which it is read, since a vector
  // is easier to take apart than to put together.
  size_t rank = func_.getDomain().getSizes().size();
  SmallVector<double> along(rank); // elements
  for (const Access &access : llvm::concat<Access>(loads_, stores_))
    for (size_t axis = 0; axis < rank; ++axis)
      if (access.isContiguous(axis))
        along[axis] += target::typicalSize(optimize::trackerOf(access.op).realSize());
  auto isWritten = [&](size_t axis) {
    return llvm::any_of(stores_, [&](const Access &store) { return store.isContiguous(axis); });
  };
  auto isRead = [&](size_t axis) {
    return llvm::any_of(loads_, [&](const Access &load) { return load.isContiguous(axis); });
  };
  auto isBetter = [&](size_t a, size_t b) {
    // An end that is known needs no test.
    if (bool isKnown = fixedSize(a) > 0; isKnown != (fixedSize(b) > 0))
      return isKnown ? along[a] >= along[b] / kAlike : along[a] / kAlike > along[b];
    return along[a] > along[b] || (along[a] == along[b] && isWritten(b) && !isWritten(a));
  };
  int64_t best = -1;
  for (size_t axis = 0; axis < rank; ++axis)
    if (mostOf(axis) >= lanes && along[axis] > 0 && !areMostlyGathers(loads_, axis) &&
        (best < 0 || isBetter(axis, best)))
      best = axis;
  if (best < 0)
    return;
  if (fixedSize(best) < 0) {
    add(OptKind::VECTOR, loopOf(best), lanes);
    return;
  }
  if (chooseRowsOfLanes(best, lanes))
    return;
  // Where about as much lies along another axis, tiles of both use all of what is fetched.
  if (reduced_.empty())
    for (size_t axis = 0; axis < rank; ++axis)
      if (axis != size_t(best) && along[axis] >= along[best] / kAlike && fixedSize(axis) > 1) {
        int64_t side = std::min(lanes, kTurnedTile), inner = best, outer = axis;
        if (isWritten(inner) && !isRead(inner) && fixedSize(outer) >= side)
          std::swap(inner, outer);
        turn(inner, outer, side, isWritten(outer) && !isWritten(inner));
        return;
      }
  // A sum over lanes has one accumulator per lane: four vectors of them hide the addition's latency.
  int64_t vectors = reduced_.contains(best) ? 4 : 2;
  while (vectors > 1 && fixedSize(best) < vectors * lanes)
    vectors /= 2;
  add(OptKind::VECTOR, best, vectors * lanes);
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
