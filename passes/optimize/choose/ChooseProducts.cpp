//===- ChooseProducts.cpp - Register tiles, panels and parts of sums for products ----------===//
// A product reads each element of its operands many times. What differs is where they wait meanwhile: totals in
// registers, a panel of columns in the first cache, rows in the second, packed before by the compiler or by a launch,
// or where they are; and whether the steps of the sum are multiply-adds, dot instructions or matrix instructions.
//===--------------------------------------------------------------------------------===//

#include "passes/optimize/choose/Chooser.h"

#include "passes/optimize/KernelVariants.h"
#include "passes/optimize/choose/Cuts.h"
#include "passes/optimize/choose/Heuristic.h"
#include "passes/optimize/choose/MatrixTile.h"
#include "passes/optimize/choose/RegisterTile.h"
#include "passes/optimize/choose/Work.h"

#include "ir/kernel/MatrixProduct.h"
#include "ir/uop/PastCaches.h"

#include <limits>

using namespace kiln;
using namespace kiln::kernel;
using namespace kiln::optimize;
using namespace mlir;
using view::Expr;

/// What one way of the first cache holds: more rows than it has ways, so far apart, take each other's place.
static constexpr int64_t kWayBytes = 4096;
/// Shorter vectors are not worth a register tile, nor are sums of fewer vectors, whose lanes are added up at the end.
static constexpr int64_t kFewestLanes = 4, kFewestVectors = 8;
/// How often columns are read again at most, once for each chunk of rows.
static constexpr int64_t kMostRereads = 32;
/// How often rows have to be read before it is worth copying them.
static constexpr int64_t kFewestRereads = 4;
/// Tiles of so few rows may be four vectors wide, as their totals leave registers for that; and so many tiles of a
/// chunk are asked for by the one before.
static constexpr int64_t kMostWideRows = 4, kFewestTilesAhead = 4;
/// Lines of open length that a tile of few rows goes along: more of them share what they read, but lines at the end of
/// a picture have masks of their own, and so has each line of a step there.
static constexpr int64_t kLinesOfFew = 2;
/// So few panels of columns are not enough work for many threads.
static constexpr int64_t kFewPanels = 8;

/// Of what a product sums up, which may be stored as something narrower.
static int64_t sumBits(FuncOp func) {
  ReduceOp reduce = *func.getBody().getOps<ReduceOp>().begin();
  return 8 * byteSize(reduce.getResult().getType());
}

/// Whether the second cache holds all columns that a row is multiplied with, but not all rows and their results.
bool Chooser::columnsStay(const TiledProduct &product) const {
  int64_t rows = fixedSize(product.m), columns = fixedSize(product.n), depth = 1, bytes = sumBits(func_) / 8;
  for (size_t axis : reduced_)
    depth *= std::max<int64_t>(1, fixedSize(axis));
  int64_t held = target_.cacheBytes(2);
  return product.m < product.n && keptAxes().back() == product.n && columns * depth * bytes <= held / 2 &&
         rows * (columns + depth) * bytes > held;
}

/// The panel of columns inside the loops around rows; none where it does not fit.
std::optional<Chooser::Panel> Chooser::panelOfColumns(const TiledProduct &product, int64_t width) const {
  int64_t bytes = width * sumBits(func_) / 8;
  std::optional<size_t> last, around; // kept axes in loop order once m and n have changed places
  for (size_t axis = 0; axis < product.columns.strides.size(); ++axis) {
    if (reduced_.contains(axis)) {
      if (countOf_[axis] < 1)
        return std::nullopt;
      bytes *= countOf_[axis];
      continue;
    }
    around = last;
    last = axis == product.m ? product.n : axis;
  }
  bool rowsInside = product.m < product.n && last == product.n;
  if (!rowsInside || !around || bytes > target_.cacheBytes(2) / 2)
    return std::nullopt;
  return Panel{*around, bytes};
}

bool Chooser::isOnePiece(const TiledProduct &product, int64_t tileRows) const {
  int64_t extent = 1, elements = 1;
  for (auto [axis, stride] : llvm::enumerate(product.rows.strides)) {
    if (axis != product.m && !reduced_.contains(axis))
      continue;
    if (!stride || !stride->isConst())
      return false;
    int64_t count = axis == product.m ? tileRows : fixedSize(axis);
    extent += (count - 1) * std::abs(stride->constant());
    elements *= count;
  }
  return extent <= 2 * elements;
}

int64_t Chooser::stepsOf(const TiledProduct &product) const {
  int64_t steps = countOf_[*llvm::max_element(reduced_)];
  if (steps >= 1 && (steps < kStepsUnrolled || (steps < 2 * kStepsUnrolled && steps % kStepsUnrolled != 0)))
    return steps; // so few are not a loop; where they have masks, those are known before the longer ones begin
  return steps > 0 && steps % kStepsUnrolled == 0 && isWhole(product.rows) ? kStepsUnrolled : 1;
}

int64_t Chooser::mostTotals(const TiledProduct &product, int64_t steps) const {
  int64_t registers = target_.vectorRegisters();
  if (steps == 1)
    return registers;
  // What the rows of a window share in different steps LLVM keeps in registers from one to another.
  std::optional<Expr> row = product.rows.strides[product.m], step = product.rows.strides[*llvm::max_element(reduced_)];
  auto isKnown = [](const std::optional<Expr> &stride) { return stride && stride->isConst() && !stride->isConst(0); };
  bool shares = false;
  for (int64_t i = 1; isKnown(row) && isKnown(step) && i < steps; ++i)
    shares |= (i * step->constant()) % row->constant() == 0;
  return shares ? registers / 2 : std::max(registers / 2, kFewestTotals);
}

int64_t Chooser::bytesOf(const Access &access) const { return usesDots_ ? bytesOfElement(access) : sumBits(func_) / 8; }

int64_t Chooser::mostRows(const TiledProduct &product) const {
  std::optional<Expr> apart = product.rows.strides[product.m];
  bool shareSets = apart && apart->isConst() && apart->constant() * bytesOf(product.rows) % kWayBytes == 0;
  return shareSets ? target_.cacheBytes(1) / kWayBytes : std::numeric_limits<int64_t>::max();
}

std::optional<int64_t> Chooser::mostAddressed(const TiledProduct &product) const {
  std::optional<Expr> apart = product.rows.strides[product.m];
  if (!apart || !apart->isConst())
    return kMostUnknownRows;
  return fixedSize(product.m) < 0 ? std::optional(kMostRowsOfOneAddress) : std::nullopt;
}

int64_t Chooser::extentOf(const Access &access) const {
  return optimize::leastOf(optimize::trackerOf(access.op).realSize()) * bytesOf(access);
}

bool Chooser::areScattered(const TiledProduct &product) const {
  std::optional<Expr> apart = product.rows.strides[product.m];
  return !usesDots_ && reduced_.size() == 1 && apart && apart->isConst() && std::abs(apart->constant()) > 1 &&
         !product.rows.isContiguous(*reduced_.begin()) && isWhole(product.rows) && isReadOnce(product.rows);
}

bool Chooser::choosePacked(const TiledProduct &product) {
  int64_t rows = fixedSize(product.m), columns = fixedSize(product.n), bytes = sumBits(func_) / 8;
  int64_t lanes = target_.vectorBits() / sumBits(func_), depth = 1;
  // The few columns of a group have vectors of their own length.
  if (columns >= kFewestLanes)
    lanes = std::min(lanes, int64_t(llvm::bit_floor(uint64_t(columns))));
  for (size_t axis : reduced_)
    depth = countOf_[axis] < 1 ? 0 : depth * countOf_[axis];
  SmallVector<size_t> kept = keptAxes(), others = keptAxes({product.m, product.n});
  bool isUnknown = rows < 0;
  if (columns < lanes || depth < 1 || (isUnknown && mostOf(product.m) < kMostUnknownRows))
    return false;
  bool areMasked = !isWhole(product.rows);
  int64_t steps = stepsOf(product);
  RegisterTile tile = bestTile(rows, llvm::divideCeil(columns, lanes), target_.vectorRegisters(),
                               mostTotals(product, steps), areMasked, /*widths=*/{}, mostAddressed(product));
  // A chunk's rows stay in cache while its columns pass.
  int64_t rowBytes = isUnknown ? 0 : rows * depth * bytes, held = target_.cacheBytes(2);
  int64_t least = others.empty() && rowBytes > held ? llvm::divideCeil(rowBytes, held / 2) : 1;
  if (least > 1 &&
      (tile.rows > mostRows(product) || least > std::min(kMostRereads, std::min(mostChunks_, rows / tile.rows))))
    return false;
  // Weights that the first cache holds pass once for each tile of rows, so that rows are read and the result is written
  // in the order of memory; of others a panel stays while all rows pass. Where rows and result come from memory beyond
  // the second cache, their order is worth more than where the weights are.
  bool streams = isUnknown || extentOf(product.rows) + extentOf(stores_.front()) > held;
  // Matrices of a batch that have both rows and columns of their own come one after the other.
  auto isBatch = [&](size_t axis) { return !product.rows.isStill(axis) && !product.columns.isStill(axis); };
  ArrayRef<size_t> batch = ArrayRef(kept).take_while(isBatch);
  int64_t matrix = extentOf(product.columns);
  for (size_t axis : batch)
    matrix /= std::max<int64_t>(1, countOf_[axis]);
  bool allStay = kept.back() == product.n && matrix <= (streams ? held : target_.cacheBytes(1)) / 2;
  if (size_t outermost = kept[batch.size()]; !allStay && outermost != product.n)
    add(OptKind::SWAP, outermost, product.n);
  add(OptKind::VECTOR, product.n, tile.vectors * lanes);
  add(OptKind::UPCAST, product.m, tile.rows);
  if (steps > 1)
    add(OptKind::UNROLL, *llvm::max_element(reduced_), steps);
  SmallVector<size_t> parallel(others);
  parallel.push_back(product.m);
  parallel.insert(allStay ? parallel.end() : parallel.begin() + batch.size(), product.n);
  int64_t pieces = 1;
  for (size_t axis : parallel)
    pieces *= std::max<int64_t>(1, countOf_[axis]);
  if (isUnknown && pieces < kFewPanels)
    cutSymbolic(product.m, pointsInChunk(product.m) / double(tile.rows));
  chooseChunks(parallel, product.m, least);
  bool isStaged = stage(-1, product.columns.buffer);
  bool packsRows = columns >= kFewestRereads * tile.vectors * lanes && areScattered(product);
  if (packsRows)
    stage(-1, product.rows.buffer);
  if (!isStaged)
    return true;
  if (!allStay)
    add(OptKind::PREFETCH, loopOf(product.n), product.columns.buffer);
  else if (bool isWalk = isUnknown ? isWalked(product.m) : tile.rows < rows;
           isWalk && !packsRows && streams && isOnePiece(product, tile.rows))
    add(OptKind::PREFETCH, loopOf(product.m), product.rows.buffer);
  if (streams) {
    askForResults(product.m, product.n);
    askForAddends(product);
  }
  return true;
}

/// Of what is added to the sums, as to the result in whose place it lies.
void Chooser::askForAddends(const TiledProduct &product) {
  std::optional<int64_t> loop = walkedLoop(product.m, product.n);
  for (const Access &load : loads_) {
    bool isOperand = load.buffer == product.rows.buffer || load.buffer == product.columns.buffer;
    if (loop && !isOperand && isReadOnce(load) && load.isContiguous(product.n) && !load.isStill(product.m))
      add(OptKind::PREFETCH, *loop, load.buffer);
  }
}

bool Chooser::chooseMatrices(const TiledProduct &product) {
  std::optional<optimize::MatrixTile> tile = optimize::chooseMatrixTile(func_, product, target_);
  if (!tile || !isReadOnce(product.columns) || (tile->packsRows && !isReadOnce(product.rows)))
    return false;
  ReduceOp reduce = *func_.getBody().getOps<ReduceOp>().begin();
  // Loops: panels of columns, tiles of rows, the tile, the sum.
  SmallVector<size_t> order = keptAxes(), others = keptAxes({product.m, product.n});
  add(OptKind::TILE, product.m, tile->down * tile->rows);
  int64_t tileColumns = add(OptKind::TILE, product.n, tile->across * tile->columns);
  if (order.front() != product.n) {
    add(OptKind::SWAP, order.front(), product.n);
    std::swap(order.front(), *llvm::find(order, product.n));
  }
  if (size_t last = *llvm::max_element(reduced_); last != tile->terms)
    add(OptKind::SWAP, tile->terms, last);
  if (tile->termTile)
    add(OptKind::TILE, tile->terms, tile->termTile);
  SmallVector<size_t> parallel{product.n};
  parallel.append(others);
  parallel.push_back(product.m);
  chooseChunks(parallel);
  StageOp sums = trial_.hold(trial_.copyOf(reduce.getResult()), loopOf(order.back()));
  if (!trial_.fits())
    return false;
  int64_t rows = optimize::axesAlong(sums, product.m).front(), columns = optimize::axesAlong(sums, product.n).front();
  add(OptKind::TC, rows, tile->rows);
  if (tile->down > 1)
    add(OptKind::UPCAST, rows, tile->down);
  if (tile->across > 1)
    add(OptKind::UPCAST, columns, tile->across);
  add(OptKind::STAGE, -1, product.columns.buffer);
  if (tile->packsRows)
    add(OptKind::STAGE, -1, product.rows.buffer);
  // Chunks of the same columns would each ask for the next.
  bool sharesColumns = llvm::any_of(order, [&](size_t axis) { return axis != product.n && loopOf_.contains(axis); });
  if (product.packs && !sharesColumns)
    add(OptKind::PREFETCH, loopOf(product.n), product.columns.buffer);
  add(OptKind::VECTOR, tileColumns, tile->across * tile->columns);
  return true;
}

bool Chooser::chooseFewColumns(const TiledProduct &product) {
  int64_t lanes = target_.vectorBits() / sumBits(func_), columns = fixedSize(product.n);
  auto inner = llvm::find_if(reduced_, [&](size_t axis) {
    return product.rows.isContiguous(axis) && fixedSize(axis) >= kFewestVectors * lanes;
  });
  if (!product.areLoads || inner == reduced_.end() || !isWhole(product.rows) || !isWhole(product.columns))
    return false;
  // Columns that lie in another order are few: they are packed.
  bool packs = !product.columns.isContiguous(*inner);
  bool areFixed = llvm::all_of(reduced_, [&](size_t axis) { return fixedSize(axis) > 0; });
  if (packs && (!areFixed || !isReadOnce(product.columns) || !keptAxes({product.m, product.n}).empty()))
    return false;
  int64_t registers = target_.vectorRegisters();
  RegisterTile tile = bestTile(fixedSize(product.m), columns, registers, /*mostTotals=*/registers,
                               /*areMasked=*/false, {1, 2, 3, 4, 5, 6, 7, 8});
  add(OptKind::VECTOR, *inner, lanes);
  add(OptKind::UPCAST, product.m, tile.rows);
  if (tile.vectors > 1)
    add(OptKind::UPCAST, product.n, tile.vectors);
  if (fixedSize(product.m) < 0)
    cutSymbolic(product.m, pointsInChunk(product.m) / double(tile.rows));
  chooseChunks(keptAxes({product.n}));
  if (packs)
    stage(-1, product.columns.buffer);
  return true;
}

bool Chooser::areTooFewToPack(const TiledProduct &product) const {
  return product.areLoads && !product.packs && mostOf(product.m) < kFewestPackedRows &&
         optimize::hasFastInstruction(product.sum, target_);
}

bool Chooser::chooseDots(const TiledProduct &product) {
  if (!product.areLoads || !product.sum.isNarrow() || !isReadOnce(product.columns))
    return false;
  Value rows = product.rowOperand().narrow;
  ProductAttr instruction = fastDot(product.sum, target_);
  if (!instruction || fixedSize(product.n) < instruction.getN())
    return false;
  std::optional<size_t> terms;
  for (size_t axis : reduced_) {
    bool isFit = fixedSize(axis) >= target::kFewestDotTerms && fixedSize(axis) % instruction.getK() == 0;
    if (isFit && (!terms || product.rows.isContiguous(axis)))
      terms = axis;
  }
  // Rows that do not lie so are packed before, which would repeat what a window shares.
  bool lies = terms && product.rows.isContiguous(*terms) && isa<LoadOp>(rows.getDefiningOp());
  if (!terms || (!lies && (reduced_.size() > 1 || !isReadOnce(product.rows))))
    return false;
  usesDots_ = true;
  add(OptKind::DOT, *terms, instruction.getK());
  if (!chooseProduct(product))
    return false;
  auto isStaged = [&](const Access &access) {
    return llvm::any_of(trial_.opts(), [&](OptAttr opt) {
      return opt.getKind() == OptKind::STAGE && !opt.getIsValue() && opt.getAmount() == int64_t(access.buffer);
    });
  };
  if (!isStaged(product.columns))
    add(OptKind::STAGE, -1, product.columns.buffer);
  if (!lies && !isStaged(product.rows))
    add(OptKind::STAGE, -1, product.rows.buffer);
  return true;
}

int64_t Chooser::termsOf() const {
  int64_t terms = 1;
  for (size_t axis : reduced_)
    terms *= std::max<int64_t>(countOf_[axis], 1);
  return terms;
}

Chooser::HeldTile Chooser::chooseTile(const TiledProduct &product, int64_t lanes, bool isPlain) const {
  int64_t rows = fixedSize(product.m), columns = fixedSize(product.n), depth = termsOf(), bytes = sumBits(func_) / 8;
  // Two vectors per row: the accumulators fill the registers, less two for the columns and one for the row.
  // One where the second would mostly be past the end.
  auto padded = [&](int64_t part) { return llvm::divideCeil(columns, part) * part; };
  bool two = columns >= 2 * lanes && 10 * padded(2 * lanes) <= 11 * padded(lanes);
  int64_t width = two ? 2 * lanes : lanes;
  HeldTile tile{bestRows(rows, (target_.vectorRegisters() - 4) / (width / lanes)), width};

  // Large operands are held in cache in the order in which the register tile reads them. A stage holds what one load
  // reads, or what is computed from several.
  bool stages = (product.computesRows() || isReadOnce(product.rows)) &&
                (!product.columnOperand().onlyLoad() || isReadOnce(product.columns));
  bool large = stages && target::stagesOperands(rows, columns, depth);
  // A result that goes to memory beyond the caches goes there fastest in its own order.
  tile.keepsOrder = large && isPlain && !product.computesRows() && columnsStay(product);
  // Columns alone where the second cache has all rows, unless these are to be computed once; and those of small
  // products that are gated or scattered, or computed for several tiles: each is read once then, not once for each tile
  // of rows.
  bool isRepeated = rows > tile.rows && (!isPlain || product.computesColumns());
  bool staysNear = rows * depth * bytes <= target_.cacheBytes(2) && !product.computesRows();
  bool wantsPanel = stages && (large ? staysNear : isRepeated);
  large &= !tile.keepsOrder;
  if (wantsPanel && !tile.keepsOrder)
    tile.panel = panelOfColumns(product, width);
  if (tile.panel ? large : !isPlain)
    tile.steps = stepsOf(product);
  tile.holdsBoth = large && !tile.panel;
  if (tile.holdsBoth || !isPlain)
    return tile;
  int64_t vectors = llvm::divideCeil(columns, lanes), wide = width / lanes, totals = mostTotals(product, tile.steps);
  totals = std::min(totals, std::min(mostRows(product), totals) * wide);
  // A row's element that is computed takes longer than one that is tested.
  bool areSlow = !isWhole(product.rows) || product.computesRows();
  RegisterTile best =
      bestTile(rows, vectors, target_.vectorRegisters(), totals, areSlow, /*widths=*/{}, mostAddressed(product));
  tile.rows = best.rows;
  tile.width = best.vectors * lanes;
  return tile;
}

void Chooser::holdBoth(const TiledProduct &product, const HeldTile &tile) {
  int64_t m = product.m, n = product.n, columns = fixedSize(n), depth = termsOf(), bytes = sumBits(func_) / 8;
  // A panel's columns of one register tile stay in L1 while the rows pass by: long sums are cut, totals held between.
  size_t outer = *llvm::min_element(reduced_);
  int64_t inside = depth / std::max<int64_t>(1, countOf_[outer]),
          most = target_.cacheBytes(1) / 2 / (bytes * tile.width);
  int64_t step = evenPart(countOf_[outer], most / inside);
  bool cut = step < countOf_[outer];
  if (cut) {
    depth = step * inside;
    add(OptKind::SWAP, m, outer); // columns, the cut sum, rows
  }
  int64_t columnTile =
      add(OptKind::TILE, n,
          evenPart(llvm::divideCeil(columns, tile.width), target_.cacheBytes(3) / 2 / (depth * bytes * tile.width)));
  SmallVector<optimize::CutAxis> loops;
  for (size_t axis : keptAxes({product.m, product.n}))
    loops.push_back({axis, countOf_[axis]});
  loops.push_back({product.n, 1});
  loops.push_back({product.m, countOf_[m]});
  SmallVector<optimize::Cut, 2> cuts =
      optimize::chooseCuts(func_, target_, weights_, loops, std::min(mostChunks_, kMostRereads));
  auto cutRows = llvm::find_if(cuts, [&](const optimize::Cut &cut) { return cut.axis == product.m; });
  int64_t chunkRows = llvm::divideCeil(countOf_[m], cutRows == cuts.end() ? 1 : cutRows->parts);
  add(OptKind::TILE, m, evenPart(chunkRows, target_.cacheBytes(2) / 2 / (depth * bytes * tile.rows)));
  for (auto [axis, parts] : cuts)
    addChunks(axis, std::min(parts, countOf_[axis]));
  if (cut)
    add(OptKind::TILE, outer, step);
  // Chunks of rows would each pack the columns for itself: then a launch before packs them for all.
  bool shared = product.packs || cutRows != cuts.end();
  bool isStaged = stage(shared ? -1 : cut ? outer : n, product.columns, product.columnOperand());
  stage(loopOf(m), product.rows, product.rowOperand());
  if (cut)
    add(OptKind::STAGE, outer, stores_.front().buffer);
  if (shared && isStaged && product.columnOperand().onlyLoad()) // a request is for what one load reads
    add(OptKind::PREFETCH, columnTile, product.columns.buffer);
}

bool Chooser::chooseTileOfFew(const TiledProduct &product) {
  static constexpr int64_t kWidths[] = {1, 2, 4};
  int64_t lanes = target_.vectorBits() / sumBits(func_), rows = fixedSize(product.m);
  RegisterTile tile = bestTile(
      rows, llvm::divideCeil(fixedSize(product.n), lanes), target_.vectorRegisters(), target_.vectorRegisters(),
      /*areMasked=*/false, ArrayRef(kWidths).take_front(rows > 0 && rows <= kMostWideRows ? 3 : 2));
  int64_t width = tile.vectors * lanes * bytesOfElement(product.columns);
  bool stays = termsOf() * width <= target_.cacheBytes(1) / 2;
  if (!stays && (leastOf(product.m) < kFewestWideRows || width < 2 * uop::kLineBytes))
    return false;
  add(OptKind::SWAP, product.m, product.n);
  add(OptKind::VECTOR, product.n, tile.vectors * lanes);
  add(OptKind::UPCAST, product.m, tile.rows);
  // The first tile of a chunk was asked for by nobody.
  mostChunks_ = std::min(mostChunks_, int64_t(llvm::divideCeil(countOf_[product.n], kFewestTilesAhead)));
  chooseChunks(keptAxes({product.m}));
  add(OptKind::PREFETCH, loopOf(product.n), product.columns.buffer);
  return true;
}

bool Chooser::chooseFewRows(const TiledProduct &product) {
  // A vector of columns at a time, each line would be left for the next after a few bytes. Few rows do not pay for
  // copying them first, but their totals wait in a cache while lines are read as they lie.
  Chooser tried = *this;
  if (mostOf(product.m) >= kManyRows || !tried.chooseLines(product.columns, product.n, product.m) || !tried.fits())
    return false;
  if (leastOf(product.m) < 1 || !chooseTileOfFew(product)) {
    if (fixedSize(product.m) < 0 && mostOf(product.m) >= kManyUnknownRows)
      return false;
    *this = std::move(tried);
  }
  readsAsTheyLie_ = true;
  return true;
}

bool Chooser::chooseProduct(const TiledProduct &product) {
  int64_t lanes = target_.vectorBits() / sumBits(func_);
  int64_t rows = fixedSize(product.m), columns = fixedSize(product.n);
  if (!usesDots_ && columns > 1 && columns < lanes && chooseFewColumns(product))
    return true;
  // Dots read packed columns, if not of a weight then packed when the program runs.
  bool packs = product.packs || usesDots_;
  if (packs && choosePacked(product))
    return true;
  bool areFixed = llvm::all_of(func_.getDomain().getSizes(), [](Expr size) { return size.isConst(); });
  if (!product.areLoads && !areFixed)
    return false;
  bool isPlain = product.areVectors();
  if (isPlain && product.areLoads && !usesDots_ && chooseFewRows(product))
    return true;
  if (rows < 0 || columns < 0)
    return !usesDots_ && chooseUnknownProduct(product);
  if (columns < kFewestLanes)
    return false;
  bool isOpen = llvm::any_of(reduced_, [&](size_t axis) { return countOf_[axis] < 0; });
  if (isOpen && isPlain && !usesDots_ && columns >= lanes && choosePanelOfUnknown(product))
    return true;
  if (columns < lanes)
    lanes = llvm::bit_floor(uint64_t(columns));

  HeldTile tile = chooseTile(product, lanes, isPlain);
  if (product.m < product.n && (tile.holdsBoth || tile.panel))
    add(OptKind::SWAP, product.m, product.n);
  add(OptKind::VECTOR, product.n, tile.width);
  add(OptKind::UPCAST, product.m, tile.rows);
  if (tile.steps > 1)
    add(OptKind::UNROLL, *llvm::max_element(reduced_), tile.steps);
  if (tile.holdsBoth) {
    holdBoth(product, tile);
    return true;
  }
  SmallVector<size_t> parallel = keptAxes({product.m, product.n});
  parallel.append({product.n, product.m});
  if (tile.panel) // the chunks' panels stay in cache together
    mostChunks_ = std::min(mostChunks_, target_.cacheBytes(2) / 2 / tile.panel->bytes);
  chooseChunks(parallel);
  // Chunks of rows would each compute the columns for itself: then a launch before computes them for all.
  bool isShared = tile.panel && product.computesColumns() && loopOf_.contains(product.m);
  if (tile.panel || tile.keepsOrder)
    stage(tile.panel && !isShared ? loopOf(tile.panel->around) : -1, product.columns, product.columnOperand());
  return true;
}

int64_t Chooser::shareOut(ArrayRef<size_t> axes) {
  auto widest = llvm::max_element(axes, [&](size_t a, size_t b) { return countOf_[a] < countOf_[b]; });
  int64_t points = 1;
  for (size_t axis : axes)
    points *= std::max<int64_t>(1, countOf_[axis]);
  if (widest != axes.end() && countOf_[*widest] > 1 && mostChunks_ > 0)
    addChunks(*widest, std::min(countOf_[*widest], mostChunks_));
  return points;
}

/// Columns go outside, and a panel of them is held in one piece while all rows pass: read where they lie, rows of them
/// are as far apart as their whole length, which the caches bear only for short sums.
bool Chooser::choosePanelOfUnknown(const TiledProduct &product) {
  SmallVector<size_t> parallel = keptAxes();
  int64_t rows = fixedSize(product.m);
  if (ArrayRef(parallel).take_back(2) != ArrayRef<size_t>{product.m, product.n} || !isReadOnce(product.columns) ||
      (rows > 0 && rows < kManyRows) || areFewBesideShortLines(product))
    return false;
  int64_t lanes = target_.vectorBits() / sumBits(func_), columns = fixedSize(product.n);
  int64_t vectors = columns < 0 ? kTypicalRows : llvm::divideCeil(columns, lanes);
  int64_t totals = target_.vectorRegisters();
  totals = std::min(totals, std::min(mostRows(product), totals) * 2); // of two vectors each
  RegisterTile tile = bestTile(rows, vectors, target_.vectorRegisters(), totals, !isWhole(product.rows), /*widths=*/{},
                               mostAddressed(product));
  add(OptKind::SWAP, product.m, product.n);
  add(OptKind::VECTOR, product.n, tile.vectors * lanes);
  add(OptKind::UPCAST, product.m, tile.rows);
  // Chunks of panels: those of rows would each hold all panels again.
  parallel.pop_back_n(2);
  bool areFew = shareOut(parallel) < kFewPanels;
  if (areFew && columns < 0)
    cutSymbolic(product.n, /*points=*/1);
  else if (areFew)
    chooseChunks({product.n});
  stage(product.m, product.columns.buffer);
  return true;
}

bool Chooser::chooseFewRowsOfUnknown(const TiledProduct &product) {
  int64_t lanes = target_.vectorBits() / sumBits(func_), rows = fixedSize(product.m);
  SmallVector<size_t> others = keptAxes({product.m, product.n});
  auto isLine = [&](size_t axis) {
    return mostOf(axis) > 1 && product.rows.isStill(axis) && !product.columns.isStill(axis);
  };
  auto lines = llvm::find_if(llvm::reverse(others), isLine);
  if (lines == others.rend() || !product.columns.isContiguous(product.n))
    return false;
  add(OptKind::VECTOR, product.n, lanes);
  add(OptKind::UPCAST, product.m, rows);
  if (rows < kMostUnknownRows)
    add(OptKind::UPCAST, *lines, fixedSize(*lines) > 0 ? std::min(kLinesOfFew, fixedSize(*lines)) : kLinesOfFew);
  if (int64_t inner = *llvm::max_element(reduced_); fixedSize(inner) > 0 && fixedSize(inner) <= kStepsUnrolled)
    add(OptKind::UNROLL, inner, fixedSize(inner));
  shareOut(keptAxes({product.m, product.n}));
  return true;
}

bool Chooser::chooseUnknownProduct(const TiledProduct &product) {
  int64_t lanes = target_.vectorBits() / sumBits(func_), columns = fixedSize(product.n);
  bool isPlain = product.columns.isContiguous(product.n) && isWhole(product.columns);
  int64_t registers = target_.vectorRegisters(), rows = fixedSize(product.m);
  bool areFew = rows < 0 && mostOf(product.m) < kMostUnknownRows;
  if (mostOf(product.n) < lanes || areFew || (!isPlain && !isReadOnce(product.columns)))
    return false;
  if (isPlain && choosePanelOfUnknown(product))
    return true;
  if (rows > 0 && rows <= kMostUnknownRows && columns < 0 && chooseFewRowsOfUnknown(product))
    return true;
  RegisterTile tile = bestTile(rows, columns < 0 ? kTypicalRows : llvm::divideCeil(columns, lanes), registers,
                               /*mostTotals=*/registers, !isWhole(product.rows), /*widths=*/{}, mostAddressed(product));
  if (!isPlain && product.m < product.n)
    add(OptKind::SWAP, product.m, product.n);
  add(OptKind::VECTOR, product.n, tile.vectors * lanes);
  add(OptKind::UPCAST, product.m, tile.rows);
  if (isPlain && areFewBesideShortLines(product)) {
    chooseChunks(keptAxes({product.m})); // of rows there are too few
    readsAsTheyLie_ = true;
    return true;
  }
  int64_t chunks = shareOut(keptAxes({product.m, product.n}));
  if (chunks < kFewPanels && countOf_[product.m] < 0)
    cutSymbolic(product.m, pointsInChunk(product.m) / double(tile.rows));
  if (!isPlain)
    stage(-1, product.columns.buffer);
  return true;
}
