//===- Heuristic.cpp - Choose opts from a kernel's structure ---------------------------===//
// What makes a kernel fast is written in how its operands move along its axes: a sum of products in which one operand
// does not move along one axis and the other not along another is a matrix product, whatever operator it came from, and
// wants a register tile over the two. Where there is none, the axis along which memory is contiguous becomes vector
// lanes.
//===--------------------------------------------------------------------------------===//

#include "passes/optimize/Heuristic.h"

#include "passes/optimize/ApplyOpts.h"
#include "passes/optimize/Cuts.h"
#include "passes/optimize/Groups.h"
#include "passes/optimize/HeldRows.h"
#include "passes/optimize/MatrixTile.h"
#include "passes/optimize/Product.h"
#include "passes/optimize/RowStages.h"
#include "passes/optimize/Work.h"

#include "ir/kernel/MatrixProduct.h"
#include "target/Target.h"
#include "target/Times.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SetVector.h"

#include <limits>

using namespace kiln;
using namespace kiln::kernel;
using kiln::optimize::Access;
using kiln::optimize::nanosecondsOf;
using kiln::optimize::Product;
using namespace mlir;
using namespace kiln::target::times;
using view::Expr;

/// Points of one lane that are reduced side by side: their totals and what they share fit the registers.
static constexpr int64_t kMostRowsOfLanes = 14;
/// What one way of the first cache holds: more rows than it has ways, so far apart, take each other's place.
static constexpr int64_t kWayBytes = 4096;
/// Streams of memory that are read side by side: one alone leaves the memory waiting at the end of each page.
static constexpr int64_t kStreams = 8, kPageBytes = 4096;
/// Shorter vectors are not worth a register tile, nor are sums of fewer vectors, whose lanes are added up at the end.
static constexpr int64_t kFewestLanes = 4, kFewestVectors = 8;
/// Where some memory is contiguous along one axis and some along another: the sides of the tiles.
static constexpr int64_t kTurnedTile = 8;
/// Of how many times as much memory it makes a difference along which axis it is contiguous.
static constexpr double kAlike = 3;
/// No vector has more elements: chunks of an axis hold whole ones.
static constexpr int64_t kMostVector = 64;
/// So few panels of columns are no work for many threads.
static constexpr int64_t kFewPanels = 8;
/// Of rows whose number is known when the program runs: each has an address of its own, as it may be past the end, for
/// which there are 16 registers, the loop's among them; and how many there are roughly.
static constexpr int64_t kMostUnknownRows = 8, kTypicalRows = 512;
/// A reduced axis of so few points is no loop.
static constexpr int64_t kMostUnrolled = 8;
/// Of the steps of a product's sum; and the totals with which a core is busy, however few registers they leave.
static constexpr int64_t kStepsUnrolled = 4, kFewestTotals = 12;

namespace {

/// A register tile: totals of `rows` rows and `vectors` vectors of columns.
struct RegisterTile {
  int64_t rows, vectors;
};

class Chooser {
public:
  Chooser(FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights)
      : func_(func), target_(target), weights_(weights) {}
  SmallVector<OptAttr> choose();

private:
  bool isReadOnce(const Access &access) const {
    return llvm::count_if(loads_, [&](const Access &load) { return load.buffer == access.buffer; }) == 1;
  }
  /// What is made of weights alone is computed once: nothing is worth packing for it.
  bool isRunOften() const {
    return llvm::any_of(loads_, [&](const Access &load) { return !weights_.test(load.buffer); });
  }
  /// Where columns are staged, and in how many bytes.
  struct Panel {
    size_t around;
    int64_t bytes;
  };
  std::optional<Panel> panelOfColumns(const Product &product, int64_t width);
  /// How many steps of a product's sum are one turn of its loop, which is the innermost. The loop's own instructions
  /// and requests for what comes next serve all of them, and LLVM loads for several together: totals leave room for
  /// that.
  int64_t stepsOf(const Product &product) const;
  int64_t mostTotals(int64_t steps) const {
    int64_t registers = target_.vectorRegisters();
    return steps > 1 ? std::max(registers / 2, kFewestTotals) : registers;
  }
  /// False where the product is too small for a register tile.
  bool chooseProduct(const Product &product);
  /// The same with fewer columns than a vector has lanes, which go along the sum instead. False where operands do not
  /// lie so.
  bool chooseFewColumns(const Product &product);
  /// The same with columns that are a weight, as long as the rows of one panel of columns stay in cache.
  bool choosePacked(const Product &product);
  /// The same of a product of which it is not known how many rows or columns it has.
  bool chooseUnknownProduct(const Product &product);
  /// Whether there is little between what a tile of rows reads.
  bool isOnePiece(const Product &product, int64_t tileRows) const;
  /// The same by matrix instructions, whose sums are staged for what is computed from them.
  bool chooseMatrices(const Product &product);
  /// The same by dot instructions: a step of the sum is then several terms, which lie side by side.
  bool chooseDots(const Product &product);
  void chooseLanes();
  /// For values that several walks of a row would compute. False where there are none that are worth holding.
  bool chooseRowStages();
  /// For a product of a weight and one vector, by matrix instructions. False where there is none.
  bool chooseVectorByMatrices();
  /// For a sum of products with a matrix of which each element is used once, which takes as long as the matrix is read:
  /// several streams of it at a time. False where there is none.
  bool chooseStreams();
  /// The same of a matrix whose lines go along the result: several of them are added to totals that wait in the first
  /// cache, so that each is read as it lies.
  bool chooseLines(const Access &matrix, size_t columns);
  /// The same for a reduce of anything but products. False where there is none.
  bool chooseSumsOfLines();
  /// For a reduce of which each lane has its own, a window's: several points of another axis at a time, which share
  /// what stands still there and do not wait for each other. False where there is none.
  bool chooseRowsOfLanes(size_t axis, int64_t lanes);
  /// Cuts some of the axes, in loop order, that are of known size; `rows` into `least` parts or more, or into equal
  /// ones.
  void chooseChunks(ArrayRef<size_t> axes, size_t rows = 0, int64_t least = 1, bool evenly = false);
  void addChunks(size_t axis, int64_t parts);
  /// Cuts the first axis of unknown size; before any other opt.
  void chooseSymbolicChunks();
  /// How many points of an axis of unknown size are worth a chunk.
  double pointsInChunk(size_t axis) const;
  /// Cuts an axis of unknown size into chunks of so many points; their number follows the size.
  void cutSymbolic(size_t axis, double points);
  /// The kept axes in loop order, other than `without`.
  SmallVector<size_t> keptAxes(ArrayRef<size_t> without = {}) const;
  /// The id of the loop that is left of an axis after chooseChunks.
  int64_t loopOf(size_t axis) const { return loopOf_.contains(axis) ? loopOf_.lookup(axis) : axis; }
  /// Unrolls the axes along which a scored sum has several totals for one score, so that they share it. Those axes.
  SmallVector<size_t> chooseTotals();
  void add(OptKind kind, int64_t axis, int64_t amount) {
    opts_.push_back(OptAttr::get(func_.getContext(), kind, axis, amount, /*isValue=*/false));
    bool wholeAxis = kind == OptKind::GLOBAL || (kind == OptKind::THREAD && amount == 0);
    bool splits = kind != OptKind::SWAP && kind != OptKind::STAGE && kind != OptKind::PREFETCH && kind != OptKind::TC &&
                  !wholeAxis;
    if (!splits)
      return;
    ++nextAxis_;
    if (axis >= int64_t(countOf_.size())) // a part of another, or a stage's
      return;
    if (int64_t &count = countOf_[axis]; kind != OptKind::THREAD && count > 0)
      count = llvm::divideCeil(count, amount);
  }
  int64_t mostOf(size_t axis) const { return func_.getDomain().getSizes()[axis].max(); }
  int64_t fixedSize(size_t axis) const {
    Expr size = func_.getDomain().getSizes()[axis];
    return size.isConst() ? size.constant() : -1;
  }

  mutable FuncOp func_;
  TargetAttr target_;
  const llvm::SmallBitVector &weights_;
  SmallVector<OptAttr> opts_;
  bool usesDots_ = false;
  SmallVector<Access> loads_, stores_;
  llvm::SmallDenseSet<size_t> reduced_;
  int64_t nextAxis_ = 0;
  SmallVector<int64_t> countOf_; ///< the points of each axis that splits have left; -1: not known
  llvm::DenseMap<size_t, int64_t> loopOf_;
  int64_t mostChunks_ = 0;
  std::optional<unsigned> packed_; ///< a weight to be packed for the lanes that were chosen
};

} // namespace

/// The number of rows, at most `most`, of a register tile over `size` rows. A step of the reduce loop loads a row's
/// element for each row and the columns once, so its cost goes with rows + 1; rows past the end are computed in vain.
static int64_t bestTile(int64_t size, int64_t most) {
  int64_t best = 1;
  auto cost = [&](int64_t tile) { return llvm::divideCeil(size, tile) * (tile + 1); };
  for (int64_t tile = 2; tile <= std::min(size, most); ++tile)
    if (cost(tile) <= cost(best))
      best = tile;
  return best;
}

/// `count` cut into as few parts of at most `most` as possible, all of about one size.
static int64_t evenPart(int64_t count, int64_t most) {
  return llvm::divideCeil(count, llvm::divideCeil(count, std::max<int64_t>(1, most)));
}

/// Whether an access has no points at which it is masked.
static bool isWhole(const Access &access) {
  return access.op->getAttrOfType<TrackerAttr>("tracker").getValue().at().valid.isConst(1);
}

static int64_t elementBits(FuncOp func) {
  StoreOp store = *func.getBody().getOps<StoreOp>().begin();
  return 8 * byteSize(store.getValue().getType());
}

/// Of what a product sums up, which may be stored as something narrower.
static int64_t sumBits(FuncOp func) {
  ReduceOp reduce = *func.getBody().getOps<ReduceOp>().begin();
  return 8 * byteSize(reduce.getResult().getType());
}

static int64_t elementBytes(const Access &access) {
  Value element = isa<StoreOp>(access.op) ? cast<StoreOp>(access.op).getValue() : access.op->getResult(0);
  return byteSize(element.getType());
}

/// The panel of columns inside the loops around rows; none where it does not fit.
std::optional<Chooser::Panel> Chooser::panelOfColumns(const Product &product, int64_t width) {
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

/// The register tile over rows × columns (in vectors) that takes the least time. A step of the sum's loop loads an
/// element for each row and the vectors of columns, and multiplies and adds each with each; below some number of totals
/// the additions wait for each other. A row that is masked is tested in each step. Points past the end are computed in
/// vain. `rows` < 0: their number is not known. `widths`: how many vectors of columns can be chosen, ascending.
static RegisterTile bestTile(int64_t rows, int64_t vectors, int64_t registers, int64_t mostTotals, bool areMasked,
                             ArrayRef<int64_t> widths = {}) {
  RegisterTile best{1, 1};
  bool isUnknown = rows < 0;
  int64_t tallest = isUnknown ? kMostUnknownRows : rows;
  rows = isUnknown ? kTypicalRows : rows;
  double least = std::numeric_limits<double>::infinity();
  // Vectors of three registers are not what LLVM makes good code of, and of four no faster but where masks are fewer.
  static constexpr int64_t kWidths[] = {1, 2, 4};
  widths = widths.empty() ? ArrayRef(kWidths).take_front(areMasked ? 3 : 2) : widths;
  for (int64_t wide : widths.take_while([&](int64_t width) { return width <= vectors; }))
    for (int64_t tall = 1; tall * wide + wide + 1 <= registers && tall * wide <= mostTotals && tall <= tallest;
         ++tall) {
      double step = std::max<double>(tall * wide, kTotalsInFlight) + kLoadSteps * (tall + wide);
      step += areMasked ? kMaskSteps * tall : 0;
      double time = step * llvm::divideCeil(rows, tall) * llvm::divideCeil(vectors, wide) *
                    (isUnknown || rows % tall ? kEdge : 1);
      if (time < least) {
        least = time;
        best = {tall, wide};
      }
    }
  return best;
}

bool Chooser::isOnePiece(const Product &product, int64_t tileRows) const {
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

int64_t Chooser::stepsOf(const Product &product) const {
  return isWhole(product.rows) && countOf_[*llvm::max_element(reduced_)] % kStepsUnrolled == 0 ? kStepsUnrolled : 1;
}

bool Chooser::choosePacked(const Product &product) {
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
  RegisterTile tile =
      bestTile(rows, llvm::divideCeil(columns, lanes), target_.vectorRegisters(), mostTotals(steps), areMasked);
  // Of an element; what is not taken by dots is computed before it is held, and as wide as the sum.
  auto bytesOf = [&](const Access &access) { return usesDots_ ? elementBytes(access) : bytes; };
  // A chunk's rows stay in cache while its columns pass.
  int64_t rowBytes = isUnknown ? 0 : rows * depth * bytes, held = target_.cacheBytes(2);
  int64_t least = others.empty() && rowBytes > held ? llvm::divideCeil(rowBytes, held / 2) : 1;
  std::optional<Expr> apart = product.rows.strides[product.m];
  int64_t ways = target_.cacheBytes(1) / kWayBytes;
  bool shareSets =
      tile.rows > ways && apart && apart->isConst() && apart->constant() * bytesOf(product.rows) % kWayBytes == 0;
  if (least > 1 && (shareSets || least > std::min(mostChunks_, rows / tile.rows)))
    return false;
  // Weights that the first cache holds pass once for each tile of rows, so that rows are read and the result is written
  // in the order of memory; of others a panel stays while all rows pass. Where rows and result come from memory beyond
  // the second cache, their order is worth more than where the weights are.
  auto sizeOf = [&](const Access &access) {
    return optimize::leastOf(access.op->getAttrOfType<TrackerAttr>("tracker").getValue().realSize()) * bytesOf(access);
  };
  bool streams = sizeOf(product.rows) + sizeOf(stores_.front()) > held;
  bool allStay = kept.back() == product.n && sizeOf(product.columns) <= (streams ? held : target_.cacheBytes(1)) / 2;
  if (!allStay && kept.front() != product.n)
    add(OptKind::SWAP, kept.front(), product.n);
  add(OptKind::VECTOR, product.n, tile.vectors * lanes);
  add(OptKind::UPCAST, product.m, tile.rows);
  if (steps > 1)
    add(OptKind::UNROLL, *llvm::max_element(reduced_), steps);
  SmallVector<size_t> parallel;
  if (!allStay)
    parallel.push_back(product.n);
  parallel.append(others);
  parallel.push_back(product.m);
  if (allStay)
    parallel.push_back(product.n);
  if (isUnknown && countOf_[product.n] < kFewPanels)
    cutSymbolic(product.m, pointsInChunk(product.m) / double(tile.rows));
  chooseChunks(parallel, product.m, least);
  add(OptKind::STAGE, -1, product.columns.buffer);
  if (!allStay)
    add(OptKind::PREFETCH, loopOf(product.n), product.columns.buffer);
  else if (streams && !isUnknown && tile.rows < rows && isOnePiece(product, tile.rows))
    add(OptKind::PREFETCH, loopOf(product.m), product.rows.buffer);
  return true;
}

bool Chooser::chooseMatrices(const Product &product) {
  std::optional<optimize::MatrixTile> tile = optimize::chooseMatrixTile(func_, product, target_);
  if (!tile || !isReadOnce(product.columns) || (tile->packsRows && !isReadOnce(product.rows)))
    return false;
  ReduceOp reduce = *func_.getBody().getOps<ReduceOp>().begin();
  // Loops: panels of columns, tiles of rows, the tile, the sum.
  SmallVector<size_t> order = keptAxes(), others = keptAxes({product.m, product.n});
  int64_t tileColumns = nextAxis_ + 1;
  add(OptKind::TILE, product.m, tile->down * tile->rows);
  add(OptKind::TILE, product.n, tile->across * tile->columns);
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
  opts_.push_back(OptAttr::get(func_.getContext(), OptKind::STAGE, loopOf(order.back()),
                               optimize::numberOf(func_, reduce.getResult()),
                               /*isValue=*/true));
  // The stage's axes: copies of the tile's two and of those that are summed over; then the matrices'.
  int64_t rows = nextAxis_, columns = nextAxis_ + 1;
  nextAxis_ += 2 + reduced_.size() + (tile->termTile > 0);
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

bool Chooser::chooseFewColumns(const Product &product) {
  int64_t lanes = target_.vectorBits() / elementBits(func_), columns = fixedSize(product.n);
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
    add(OptKind::STAGE, -1, product.columns.buffer);
  return true;
}

bool Chooser::chooseDots(const Product &product) {
  AluOp multiply = optimize::summedProduct(func_);
  Value narrow[] = {narrowOperand(multiply->getOperand(0)), narrowOperand(multiply->getOperand(1))};
  if (!product.areLoads || !narrow[0] || !narrow[1] || !isReadOnce(product.columns))
    return false;
  ReduceOp reduce = *func_.getBody().getOps<ReduceOp>().begin();
  ProductAttr instruction = target_.fastProduct(narrow[0].getType(), narrow[1].getType(), reduce.getType());
  if (!instruction || instruction.getM() > 1 || fixedSize(product.n) < instruction.getN())
    return false;
  // Columns that no weight is are packed when the program runs, for as many rows.
  if (!product.packs && fixedSize(product.m) < instruction.getN())
    return false;
  std::optional<size_t> terms;
  for (size_t axis : reduced_) {
    bool isFit = fixedSize(axis) >= target::kFewestTerms && fixedSize(axis) % instruction.getK() == 0;
    if (isFit && (!terms || product.rows.isContiguous(axis)))
      terms = axis;
  }
  // Rows that do not lie so are packed before, which would repeat what a window shares.
  Value rows = narrow[optimize::onlyLoadOf(narrow[0]) == product.rows.op ? 0 : 1];
  bool lies = terms && product.rows.isContiguous(*terms) && isa<LoadOp>(rows.getDefiningOp());
  if (!terms || (!lies && (reduced_.size() > 1 || !isReadOnce(product.rows))))
    return false;
  usesDots_ = true;
  add(OptKind::DOT, *terms, instruction.getK());
  if (!chooseProduct(product))
    return false;
  auto isStaged = [&](const Access &access) {
    return llvm::any_of(opts_, [&](OptAttr opt) {
      return opt.getKind() == OptKind::STAGE && !opt.getIsValue() && opt.getAmount() == int64_t(access.buffer);
    });
  };
  if (!isStaged(product.columns))
    add(OptKind::STAGE, -1, product.columns.buffer);
  if (!lies && !isStaged(product.rows))
    add(OptKind::STAGE, -1, product.rows.buffer);
  return true;
}

bool Chooser::chooseProduct(const Product &product) {
  int64_t lanes = target_.vectorBits() / sumBits(func_);
  int64_t rows = fixedSize(product.m), columns = fixedSize(product.n);
  if (!usesDots_ && columns > 1 && columns < lanes && chooseFewColumns(product))
    return true;
  if (product.packs && choosePacked(product))
    return true;
  if (!product.areLoads)
    return false;
  if (rows < 0 || columns < 0)
    return !usesDots_ && chooseUnknownProduct(product);
  if (columns < kFewestLanes)
    return false;
  if (columns < lanes)
    lanes = llvm::bit_floor(uint64_t(columns));
  int64_t depth = 1;
  for (size_t axis : reduced_)
    depth *= std::max<int64_t>(countOf_[axis], 1);
  // Two vectors a row: the accumulators fill the registers, less two for the columns and one for the row.
  // One where the second would mostly be past the end.
  auto padded = [&](int64_t part) { return llvm::divideCeil(columns, part) * part; };
  bool two = columns >= 2 * lanes && 10 * padded(2 * lanes) <= 11 * padded(lanes);
  int64_t width = two ? 2 * lanes : lanes;
  int64_t tileRows = bestTile(rows, (target_.vectorRegisters() - 4) / (width / lanes));
  int64_t m = product.m, n = product.n;

  // Large operands are held in cache in the order in which the register tile reads them.
  int64_t bytes = sumBits(func_) / 8;
  // A stage holds what one load reads.
  bool stages = isReadOnce(product.rows) && isReadOnce(product.columns);
  bool large = stages && target::stagesOperands(rows, columns, depth);
  // Columns alone where the second cache has all rows; and those of small products that are gated or scattered: each is
  // then read so once, not once for each tile of rows.
  bool isPlain = product.columns.isContiguous(n) && isWhole(product.columns);
  bool wantsPanel = stages && (large ? rows * depth * bytes <= target_.cacheBytes(2) : !isPlain);
  std::optional<Panel> panel = wantsPanel ? panelOfColumns(product, width) : std::nullopt;
  bool columnsOutside = m < n && (large || panel);
  int64_t steps = large && panel ? stepsOf(product) : 1;
  large &= !panel;
  if (!large && isPlain) {
    // Rows that lie apart by what only a run knows have an address each.
    bool isKnown = product.rows.strides[m] && product.rows.strides[m]->isConst();
    int64_t totals = isKnown ? mostTotals(steps) : kMostUnknownRows * (width / lanes);
    RegisterTile tile =
        bestTile(rows, llvm::divideCeil(columns, lanes), target_.vectorRegisters(), totals, !isWhole(product.rows));
    tileRows = tile.rows;
    width = tile.vectors * lanes;
  }
  if (columnsOutside)
    add(OptKind::SWAP, m, n);
  add(OptKind::VECTOR, n, width);
  add(OptKind::UPCAST, m, tileRows);
  if (steps > 1)
    add(OptKind::UNROLL, *llvm::max_element(reduced_), steps);
  SmallVector<size_t> others = keptAxes({product.m, product.n});
  if (!large) {
    others.append({product.n, product.m});
    if (panel) // the chunks' panels stay in cache together
      mostChunks_ = std::min(mostChunks_, target_.cacheBytes(2) / 2 / panel->bytes);
    chooseChunks(others);
    if (panel)
      add(OptKind::STAGE, loopOf(panel->around), product.columns.buffer);
    return true;
  }
  // A panel's columns of one register tile stay in L1 while the rows pass by: long sums are cut, totals held between.
  size_t outer = *llvm::min_element(reduced_);
  int64_t inside = depth / std::max<int64_t>(1, countOf_[outer]), most = target_.cacheBytes(1) / 2 / (bytes * width);
  int64_t step = evenPart(countOf_[outer], most / inside);
  bool cut = step < countOf_[outer];
  if (cut) {
    depth = step * inside;
    add(OptKind::SWAP, m, outer); // columns, the cut sum, rows
  }
  int64_t columnTile = nextAxis_;
  add(OptKind::TILE, n,
      evenPart(llvm::divideCeil(columns, width), target_.cacheBytes(3) / 2 / (depth * bytes * width)));
  SmallVector<optimize::CutAxis> loops;
  for (size_t axis : others)
    loops.push_back({axis, countOf_[axis]});
  loops.push_back({product.n, 1});
  loops.push_back({product.m, countOf_[m]});
  SmallVector<optimize::Cut, 2> cuts = optimize::chooseCuts(func_, target_, weights_, loops, mostChunks_);
  auto cutRows = llvm::find_if(cuts, [&](const optimize::Cut &cut) { return cut.axis == product.m; });
  int64_t chunkRows = llvm::divideCeil(countOf_[m], cutRows == cuts.end() ? 1 : cutRows->parts);
  add(OptKind::TILE, m, evenPart(chunkRows, target_.cacheBytes(2) / 2 / (depth * bytes * tileRows)));
  for (auto [axis, parts] : cuts)
    addChunks(axis, std::min(parts, countOf_[axis]));
  if (cut)
    add(OptKind::TILE, outer, step);
  // Chunks of rows would each pack the columns for itself: then a launch before packs them for all.
  bool shared = product.packs || cutRows != cuts.end();
  add(OptKind::STAGE, shared ? -1 : cut ? outer : n, product.columns.buffer);
  add(OptKind::STAGE, loopOf(m), product.rows.buffer);
  if (cut)
    add(OptKind::STAGE, outer, stores_.front().buffer);
  if (shared)
    add(OptKind::PREFETCH, columnTile, product.columns.buffer);
  return true;
}

bool Chooser::chooseUnknownProduct(const Product &product) {
  int64_t lanes = target_.vectorBits() / sumBits(func_), columns = fixedSize(product.n);
  bool isPlain = product.columns.isContiguous(product.n) && isWhole(product.columns);
  if (mostOf(product.n) < lanes || mostOf(product.m) < kMostUnknownRows || (!isPlain && !isReadOnce(product.columns)))
    return false;
  int64_t registers = target_.vectorRegisters();
  RegisterTile tile = bestTile(fixedSize(product.m), columns < 0 ? kTypicalRows : llvm::divideCeil(columns, lanes),
                               registers, /*mostTotals=*/registers, !isWhole(product.rows));
  if (!isPlain && product.m < product.n)
    add(OptKind::SWAP, product.m, product.n);
  add(OptKind::VECTOR, product.n, tile.vectors * lanes);
  add(OptKind::UPCAST, product.m, tile.rows);
  SmallVector<size_t> others = keptAxes({product.m, product.n});
  int64_t chunks = 1;
  for (size_t axis : others)
    chunks *= std::max<int64_t>(1, countOf_[axis]);
  if (chunks < kFewPanels && countOf_[product.m] < 0)
    cutSymbolic(product.m, pointsInChunk(product.m) / double(tile.rows));
  // What an axis of unknown size is worth is not known either: what stands around the product is shared out.
  auto widest = llvm::max_element(others, [&](size_t a, size_t b) { return countOf_[a] < countOf_[b]; });
  if (widest != others.end() && countOf_[*widest] > 1 && mostChunks_ > 0)
    addChunks(*widest, std::min(countOf_[*widest], mostChunks_));
  if (!isPlain)
    add(OptKind::STAGE, -1, product.columns.buffer);
  return true;
}

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
  add(OptKind::UPCAST, *rows, bestTile(fixedSize(*rows), kMostRowsOfLanes));
  if (int64_t inner = reduce.getAxes().back(); fixedSize(inner) > 0 && fixedSize(inner) <= kMostUnrolled)
    add(OptKind::UNROLL, inner, fixedSize(inner));
  // Weights lie such that lanes find theirs side by side.
  for (const Access &load : loads_)
    if (isRunOften() && weights_.test(load.buffer) && isReadOnce(load) && !load.isStill(axis) &&
        !load.isContiguous(axis))
      packed_ = load.buffer;
  return true;
}

bool Chooser::chooseVectorByMatrices() {
  constexpr int64_t kMatrices = 4; // in flight: one waits for its sums longer than it takes
  AluOp mul = optimize::summedProduct(func_);
  Value narrow[] = {mul ? narrowOperand(mul->getOperand(0)) : Value(),
                    mul ? narrowOperand(mul->getOperand(1)) : Value()};
  if (!narrow[0] || !narrow[1] || !isRunOften())
    return false;
  ReduceOp reduce = *func_.getBody().getOps<ReduceOp>().begin();
  for (unsigned side : {0, 1}) {
    auto matrix = narrow[side].getDefiningOp<LoadOp>(), vector = narrow[!side].getDefiningOp<LoadOp>();
    ProductAttr instruction = target_.matrixProduct(narrow[side].getType(), narrow[!side].getType(), reduce.getType());
    if (!matrix || !vector || !instruction || matrix.getRow() || vector.getRow())
      continue;
    Access rows = optimize::accessOf(matrix), terms = optimize::accessOf(vector);
    if (!weights_.test(rows.buffer) || weights_.test(terms.buffer) || !isReadOnce(rows))
      continue;
    SmallVector<size_t> kept = keptAxes();
    auto m = llvm::find_if(kept, [&](size_t axis) {
      return fixedSize(axis) >= kMatrices * instruction.getM() && !optimize::dependsOn(narrow[!side], axis);
    });
    auto k = llvm::find_if(reduced_, [&](size_t axis) {
      return terms.isContiguous(axis) && fixedSize(axis) >= target::kFewestTerms && fixedSize(axis) % 2 == 0;
    });
    bool areFixed = llvm::all_of(reduced_, [&](size_t axis) { return fixedSize(axis) > 0; });
    if (m == kept.end() || k == reduced_.end() || !areFixed || !vector.getTracker().getValue().at().valid.isConst(1))
      continue;
    int64_t tile = nextAxis_;
    add(OptKind::TILE, *m, kMatrices * instruction.getM());
    if (size_t last = *llvm::max_element(reduced_); last != *k)
      add(OptKind::SWAP, *k, last);
    chooseChunks(kept);
    opts_.push_back(OptAttr::get(func_.getContext(), OptKind::STAGE, loopOf(kept.back()),
                                 optimize::numberOf(func_, reduce.getResult()),
                                 /*isValue=*/true));
    int64_t copy = nextAxis_;
    nextAxis_ += 1 + reduced_.size();
    add(OptKind::TC, copy, instruction.getM());
    add(OptKind::UPCAST, copy, kMatrices);
    add(OptKind::STAGE, -1, rows.buffer);
    add(OptKind::VECTOR, tile, kMatrices * instruction.getM());
    return true;
  }
  return false;
}

bool Chooser::chooseStreams() {
  AluOp mul = optimize::summedProduct(func_);
  if (!mul || !isRunOften())
    return false;
  int64_t lanes = target_.vectorBits() / elementBits(func_);
  SmallVector<size_t> kept = keptAxes();
  llvm::erase_if(kept, [&](size_t axis) { return fixedSize(axis) == 1; });
  for (unsigned side : {0, 1}) {
    LoadOp load = optimize::onlyLoadOf(mul->getOperand(side));
    auto columns = llvm::find_if(kept, [&](size_t axis) {
      return fixedSize(axis) >= lanes && !optimize::dependsOn(mul->getOperand(!side), axis);
    });
    if (!load || columns == kept.end())
      continue;
    Access matrix = optimize::accessOf(load);
    if (llvm::any_of(kept, [&](size_t axis) { return matrix.isStill(axis); }) || !isReadOnce(matrix))
      continue;
    auto inner = llvm::find_if(reduced_, [&](size_t axis) { return matrix.isContiguous(axis); });
    size_t n = *columns;
    std::optional<unsigned> staged;
    if (inner != reduced_.end() && fixedSize(*inner) >= lanes) {
      add(OptKind::VECTOR, *inner, lanes);
    } else if (weights_.test(matrix.buffer)) {
      add(OptKind::VECTOR, n, lanes);
      staged = matrix.buffer;
    } else if (chooseLines(matrix, n)) {
      return true;
    } else {
      continue;
    }
    // A panel for each vector is a stream. Where the vectors cannot be shared out evenly, a panel holds several.
    int64_t streams = evenPart(countOf_[n], kStreams);
    if (staged && countOf_[n] % streams != 0)
      streams = std::max(target::largestPart(countOf_[n], kStreams), kStreams / 2);
    bool sharesPanels = staged && countOf_[n] % streams != 0;
    if (staged && !sharesPanels)
      add(OptKind::STAGE, -1, *staged);
    add(OptKind::UPCAST, n, streams);
    if (sharesPanels)
      add(OptKind::STAGE, -1, *staged);
    chooseChunks(keptAxes());
    return true;
  }
  return false;
}

bool Chooser::chooseLines(const Access &matrix, size_t columns) {
  int64_t lanes = target_.vectorBits() / elementBits(func_), bytes = fixedSize(columns) * elementBits(func_) / 8;
  size_t lines = *reduced_.begin();
  bool isLast = columns == keptAxes().back() && reduced_.size() == 1 && columns < lines;
  if (!isLast || !matrix.isContiguous(columns) || fixedSize(lines) < kStreams || bytes < kPageBytes)
    return false;
  // Chunks of less than a page would leave each line after a few vectors.
  mostChunks_ = std::min(mostChunks_, bytes / kPageBytes);
  add(OptKind::VECTOR, columns, 2 * lanes);
  chooseChunks(keptAxes());
  add(OptKind::SWAP, loopOf(columns), lines);
  add(OptKind::UNROLL, lines, kStreams);
  add(OptKind::STAGE, lines, stores_.front().buffer);
  return true;
}

bool Chooser::chooseSumsOfLines() {
  auto reduces = func_.getBody().getOps<ReduceOp>();
  SmallVector<size_t> kept = keptAxes();
  if (!llvm::hasSingleElement(reduces) || (*reduces.begin()).getScore() || reduced_.size() != 1 || kept.empty())
    return false;
  auto matrix = llvm::find_if(
      loads_, [&](const Access &load) { return load.isContiguous(kept.back()) && !load.isStill(*reduced_.begin()); });
  return matrix != loads_.end() && chooseLines(*matrix, kept.back());
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
        along[axis] += target::typicalSize(access.op->getAttrOfType<TrackerAttr>("tracker").getValue().realSize());
  auto isWritten = [&](size_t axis) {
    return llvm::any_of(stores_, [&](const Access &store) { return store.isContiguous(axis); });
  };
  auto isBetter = [&](size_t a, size_t b) {
    // An end that is known needs no test.
    if (bool isKnown = fixedSize(a) > 0; isKnown != (fixedSize(b) > 0))
      return isKnown ? along[a] >= along[b] / kAlike : along[a] / kAlike > along[b];
    return along[a] > along[b] || (along[a] == along[b] && isWritten(b) && !isWritten(a));
  };
  int64_t best = -1;
  for (size_t axis = 0; axis < rank; ++axis)
    if (mostOf(axis) >= lanes && along[axis] > 0 && (best < 0 || isBetter(axis, best)))
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
        add(OptKind::VECTOR, best, std::min(lanes, kTurnedTile));
        add(OptKind::UPCAST, axis, std::min(fixedSize(axis), kTurnedTile));
        return;
      }
  // A sum over lanes has one accumulator a lane: four vectors of them hide the addition's latency.
  int64_t vectors = reduced_.contains(best) ? 4 : 2;
  while (vectors > 1 && fixedSize(best) < vectors * lanes)
    vectors /= 2;
  add(OptKind::VECTOR, best, vectors * lanes);
}

bool Chooser::chooseRowStages() {
  std::optional<optimize::RowStages> held =
      optimize::chooseRowStages(func_, target_, opts_, [&](size_t axis) { return loopOf(axis); });
  if (!held)
    return false;
  opts_ = held->opts;
  countOf_[held->rows] = held->blocks;
  SmallVector<size_t> kept = keptAxes();
  llvm::erase_if(kept, [&](size_t axis) { return loopOf_.contains(axis); });
  chooseChunks(kept);
  return true;
}

SmallVector<size_t> Chooser::chooseTotals() {
  SmallVector<size_t> axes;
  int64_t totals = 1;
  for (auto reduce : func_.getBody().getOps<ReduceOp>())
    for (size_t axis = 0; reduce.getScore() && axis < func_.getDomain().getSizes().size(); ++axis)
      if (optimize::dependsOn(reduce.getResult(), axis) && !optimize::dependsOn(reduce.getScore(), axis) &&
          !llvm::is_contained(axes, axis)) {
        axes.push_back(axis);
        totals = fixedSize(axis) < 0 ? target::kMostTotals + 1 : totals * fixedSize(axis);
      }
  if (axes.empty() || totals > target::kMostTotals)
    return {};
  bool hasVectors = target_.vectorBits() >= elementBits(func_) * 2;
  for (size_t axis : axes) {
    OptKind unroll = reduced_.contains(axis) ? OptKind::UNROLL : OptKind::UPCAST;
    add(hasVectors && axis == axes.back() ? OptKind::VECTOR : unroll, axis, fixedSize(axis));
  }
  return axes;
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

SmallVector<size_t> Chooser::keptAxes(ArrayRef<size_t> without) const {
  SmallVector<size_t> kept;
  for (size_t axis = 0; axis < func_.getDomain().getSizes().size(); ++axis)
    if (!reduced_.contains(axis) && !llvm::is_contained(without, axis))
      kept.push_back(axis);
  return kept;
}

void Chooser::chooseChunks(ArrayRef<size_t> axes, size_t rows, int64_t least, bool evenly) {
  SmallVector<optimize::CutAxis> loops;
  for (size_t axis : axes)
    if (countOf_[axis] > 0)
      loops.push_back({axis, countOf_[axis], axis == rows ? least : 1, axis == rows && evenly});
  for (auto [axis, parts] : optimize::chooseCuts(func_, target_, weights_, loops, mostChunks_))
    addChunks(axis, parts);
}

void Chooser::addChunks(size_t axis, int64_t parts) {
  bool wholeAxis = parts == countOf_[axis];
  loopOf_[axis] = wholeAxis ? int64_t(axis) : nextAxis_;
  add(OptKind::THREAD, axis, wholeAxis ? 0 : parts);
}

void Chooser::chooseSymbolicChunks() {
  SmallVector<size_t> kept = keptAxes();
  auto axis = llvm::find_if(
      kept, [&](size_t axis) { return countOf_[axis] < 0 && func_.getDomain().getSizes()[axis].max() > 1; });
  if (axis == kept.end())
    return;
  // Where other axes are walked inside it, a second loop over its points costs more than chunks bring, unless each
  // point is worth a chunk; one that is worth several has axes inside that are cut.
  double points = pointsInChunk(*axis);
  if (points > 0.5 && (points < 2 || kept.size() == 1))
    cutSymbolic(*axis, points);
}

double Chooser::pointsInChunk(size_t axis) const {
  double points = target::typicalSize(func_.getDomain().getSizes()[axis]);
  return kLongChunkNanoseconds / std::max(1.0, nanosecondsOf(func_, target_) / points);
}

void Chooser::cutSymbolic(size_t axis, double points) {
  if (mostChunks_ < 1)
    return;
  loopOf_[axis] = axis;
  if (points >= 2) {
    loopOf_[axis] = nextAxis_;
    add(OptKind::TILE, axis, llvm::alignTo(int64_t(std::min(points, 0x1p30)), kMostVector));
  }
  add(OptKind::THREAD, axis, 0);
}

SmallVector<OptAttr> Chooser::choose() {
  for (Operation &op : func_.getBody().front()) {
    if (auto load = dyn_cast<LoadOp>(op))
      loads_.push_back(optimize::accessOf(load));
    if (auto store = dyn_cast<StoreOp>(op))
      stores_.push_back(optimize::accessOf(store));
    if (auto reduce = dyn_cast<ReduceOp>(op))
      for (int64_t axis : reduce.getAxes())
        reduced_.insert(axis);
  }
  nextAxis_ = func_.getAxes().size();
  for (size_t axis = 0; axis < func_.getDomain().getSizes().size(); ++axis)
    countOf_.push_back(fixedSize(axis));
  bool empty = llvm::any_of(func_.getDomain().getSizes(), [](Expr size) { return size.isConst(0); });
  if (empty)
    return {};
  SmallVector<size_t> totals = chooseTotals();
  if (target_.maxItems() > 0) {
    optimize::chooseGroups(func_, target_, totals, opts_);
    return opts_;
  }
  mostChunks_ = target_.getChunks();
  bool hasVectors = target_.vectorBits() >= elementBits(func_) * 2;
  std::optional<Product> product = hasVectors ? optimize::findProduct(func_, target_, weights_) : std::nullopt;
  // Matrices are read whole, which not every operand can be.
  if (Chooser tried = *this; product ? tried.chooseMatrices(*product) : tried.chooseVectorByMatrices())
    if (optimize::fits(func_, tried.opts_, target_))
      return tried.opts_;
  if (Chooser tried = *this; product && tried.chooseDots(*product) && optimize::fits(func_, tried.opts_, target_))
    return tried.opts_;
  // Where a tile goes along an axis of unknown size, tiles are what is cut into chunks.
  bool isUnknown = product && (fixedSize(product->m) < 0 || fixedSize(product->n) < 0);
  if (!isUnknown)
    chooseSymbolicChunks();
  if (product && chooseProduct(*product))
    return opts_;
  if (isUnknown)
    chooseSymbolicChunks();
  if (std::optional<optimize::HeldRows> held = optimize::chooseHeldRows(func_, target_)) {
    opts_ = held->opts;
    countOf_[held->rows] = held->blocks;
    chooseChunks(keptAxes({held->columns}), held->rows, /*least=*/1, held->isPacked);
    return opts_;
  }
  // Totals that are held must be complete where they are read, which not every kernel's are.
  for (bool (Chooser::*way)() : {&Chooser::chooseStreams, &Chooser::chooseSumsOfLines})
    if (Chooser tried = *this;
        hasVectors && totals.empty() && (tried.*way)() && optimize::fits(func_, tried.opts_, target_))
      return tried.opts_;
  if (totals.empty() && chooseRowStages())
    return opts_;
  if (hasVectors && totals.empty())
    chooseLanes();
  chooseChunks(keptAxes(totals));
  if (packed_)
    add(OptKind::STAGE, -1, *packed_);
  return opts_;
}

SmallVector<OptAttr> optimize::chooseOpts(FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights) {
  return Chooser(func, target, weights).choose();
}
