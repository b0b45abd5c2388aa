//===- ChooseAttention.cpp - How a kernel that holds rows of scores is walked ---------===//
// The schedule has decided that this kernel holds rows of attention's scores, and says which of its reduces is which
// (ir/kernel/Attention.h). The largest score, the sum of the exponentials and the sum over the values all read the
// scores. A block of rows of them fits the cache, so the kernel has three walks:
//   scores        rows × keys, a register tile over both, the sum over the query's elements inside
//   exponentials  rows × keys, a vector of keys at a time, the row's largest found before
//   the result    rows × columns, a register tile over both, the sum over keys inside
// A block of rows serves all columns of the result, so rows are walked around columns, in whatever order the result has
// the two. Which axis a stage calls what is read off a copy of the kernel to which the opts so far have been applied.
//===----------------------------------------------------------------------------------===//

#include "passes/optimize/choose/ChooseAttention.h"

#include "passes/optimize/choose/Chooser.h"
#include "passes/optimize/choose/RegisterTile.h"
#include "passes/optimize/choose/Trial.h"

#include "ir/kernel/Attention.h"
#include "ir/kernel/MatrixProduct.h"
#include "target/Target.h"
#include "target/Times.h"

#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using kiln::optimize::AttentionOpts;
using kiln::optimize::axesAlong;
using kiln::optimize::Trial;

/// Rows of a block if the first cache holds scores of fewer: enough for two tiles. The second cache then holds as many
/// keys and values as it can as well.
static constexpr int64_t kFewestRows = 28;

static bool isFixed(FuncOp func, ArrayRef<size_t> axes) {
  return llvm::all_of(axes, [&](size_t axis) { return func.getDomain().getSizes()[axis].isConst(); });
}

/// The axes whose loops stand around a block of rows: all that are kept but the columns, rows last.
static SmallVector<size_t> axesAround(FuncOp func, const Attention &found) {
  llvm::SmallBitVector isInside(func.getDomain().getSizes().size());
  for (auto reduce : func.getBody().getOps<ReduceOp>())
    for (int64_t axis : reduce.getAxes())
      isInside.set(axis);
  for (size_t axis : found.columns)
    isInside.set(axis);
  SmallVector<size_t> around;
  for (unsigned axis : isInside.flip().set_bits())
    if (axis != found.rows)
      around.push_back(axis);
  around.push_back(found.rows);
  return around;
}

/// Brings the loops of columns inside those of rows, and rows inside all others that stand around a block.
static void walkRowsAroundColumns(Trial &trial, FuncOp func, const Attention &found) {
  SmallVector<size_t> wanted = axesAround(func, found);
  wanted.append(found.columns);
  SmallVector<size_t> order = llvm::to_vector(llvm::seq<size_t>(func.getDomain().getSizes().size()));
  SmallVector<size_t> places = wanted;
  llvm::sort(places);
  for (auto [place, axis] : llvm::zip(places, wanted)) {
    if (order[place] == axis)
      continue;
    trial.apply(OptKind::SWAP, order[place], axis);
    std::swap(order[place], *llvm::find(order, axis));
  }
}

/// Has stages of a block of rows filled a few rows at a time, so many keys of each.
static void fillRows(Trial &trial, ArrayRef<StageOp> stages, const Attention &found, int64_t block, int64_t keys) {
  for (StageOp stage : stages) {
    trial.apply(OptKind::UPCAST, axesAlong(stage, found.rows).front(),
                target::largestPart(block, target::kRowsTogether));
    trial.apply(OptKind::VECTOR, axesAlong(stage, found.key).back(), keys);
  }
}

namespace {
/// The matrix instruction of the second product, and of each product the operands before they are widened: rows,
/// columns.
struct Matrices {
  ProductAttr instruction;
  std::array<std::array<Value, 2>, 2> operands;
};
} // namespace

/// nullopt where an instruction makes one of the products only, or none.
static std::optional<Matrices> matricesOf(Attention found, TargetAttr target) {
  Matrices made;
  for (auto [number, reduce] : llvm::enumerate(std::array{found.scores, found.result})) {
    LoadOp columns = number == 0 ? found.keys : found.values;
    std::optional<Product> product = productOf(reduce);
    if (!product->isNarrow())
      return std::nullopt;
    bool isFirst = product->operands[0].onlyLoad() == columns;
    Value rows = product->operands[isFirst ? 1 : 0].narrow, others = product->operands[isFirst ? 0 : 1].narrow;
    made.instruction = target.matrixProduct(rows.getType(), others.getType(), product->sum());
    if (!made.instruction)
      return std::nullopt;
    made.operands[number] = {rows, others};
  }
  return made;
}

/// Both products by matrix instructions. The exponentials, which are rounded, are the second product's rows as they are
/// held; keys past the last count nothing, because they and their values are held as 0.
static std::optional<AttentionOpts> holdByMatrices(FuncOp func, Attention found, TargetAttr target) {
  if (!isFixed(func, {found.rows, found.key}))
    return std::nullopt;
  std::optional<Matrices> matrices = matricesOf(found, target);
  if (!matrices)
    return std::nullopt;
  const auto &[instruction, operands] = *matrices;
  ArrayRef<view::Expr> domain = func.getDomain().getSizes();
  int64_t rows = domain[found.rows].constant(), keys = domain[found.key].constant();
  int64_t columns = domain[found.column()].constant(), panel = instruction.getK();
  int64_t width = target::largestPart(columns, instruction.getN());
  // Blocks of about one size, of whole matrices.
  int64_t most = target::heldRows(target, keys, columns, byteSize(found.scores.getType()));
  if (most < instruction.getM() || 2 * width < instruction.getN())
    return std::nullopt;
  int64_t each = llvm::divideCeil(rows, llvm::divideCeil(rows, most));
  int64_t tiles = llvm::divideCeil(each, instruction.getM()), tall = llvm::divideCeil(each, tiles),
          block = tiles * tall;

  Trial trial(func, target);
  Value scores = trial.copyOf(Value(found.scores.getResult())), result = trial.copyOf(Value(found.result.getResult()));
  Value queries = trial.copyOf(operands[0][0]), keyColumns = trial.copyOf(operands[0][1]),
        values = trial.copyOf(operands[1][1]);
  SmallVector<Value> between;
  for (Value value : llvm::drop_begin(found.held))
    between.push_back(trial.copyOf(value == found.held.back() ? narrowOperand(value) : value));
  walkRowsAroundColumns(trial, func, found);
  int64_t inBlock = trial.split(OptKind::TILE, found.rows, block);
  trial.split(OptKind::TILE, found.key, panel);
  StageOp held = trial.hold(scores, found.rows);
  SmallVector<StageOp> stages;
  for (Value value : between)
    stages.push_back(trial.fits() ? trial.hold(value, found.rows) : StageOp());
  StageOp sums = trial.fits() ? trial.hold(result, found.rows) : StageOp();
  if (!trial.fits())
    return std::nullopt;
  // Two by two matrices of each product at a time; a panel of columns stays in cache while all rows pass.
  auto multiply = [&](StageOp stage, int64_t column, int64_t panels, Value packed) {
    int64_t row = axesAlong(stage, found.rows).front();
    trial.apply(OptKind::TC, row, tall);
    trial.apply(OptKind::UPCAST, row, target::largestPart(tiles, 2));
    trial.apply(OptKind::UPCAST, column, target::largestPart(panels, 2));
    if (trial.fits())
      trial.hold(packed, -1);
  };
  SmallVector<int64_t> keyAxes = axesAlong(held, found.key);
  trial.apply(OptKind::SWAP, axesAlong(held, found.rows).front(), keyAxes.front());
  multiply(held, keyAxes.back(), panel / instruction.getN(), keyColumns);
  multiply(sums, axesAlong(sums, found.column()).front(), columns / width, values);
  fillRows(trial, stages, found, block, panel);
  bool isPacked = trial.fits() && faultOfProducts(trial.func(), target);
  if (isPacked)
    trial.hold(queries, -1);
  trial.apply(OptKind::VECTOR, found.column(), target::largestPart(columns, 4 * instruction.getN()));
  trial.apply(OptKind::UPCAST, inBlock, target::largestPart(block, target::kRowsTogether));
  if (!trial.fits() || faultOfProducts(trial.func(), target))
    return std::nullopt;
  return AttentionOpts{SmallVector<OptAttr>(trial.opts()), axesAround(func, found),
                       int64_t(llvm::divideCeil(rows, block)), isPacked};
}

/// The rows of a register tile, at most `mostTall`, and of a block of whole tiles, `most`, with which the least is
/// computed: a step takes a row's time for each row of a tile and loads the columns once, and rows past the end are
/// computed in vain. Of blocks that are equally good the largest.
static std::pair<int64_t, int64_t> chooseBlock(int64_t rows, int64_t mostTall, int64_t most) {
  std::pair<int64_t, int64_t> best{1, 1};
  double least = std::numeric_limits<double>::infinity();
  for (int64_t tall = 1; tall <= std::min({mostTall, rows, most}); ++tall)
    for (int64_t tiles = 1; tiles <= most / tall; ++tiles) {
      double time =
          double(llvm::alignTo(llvm::divideCeil(rows, tall), tiles)) * (double(tall) + target::times::kStepRows);
      if (time < least || (time == least && tall * tiles > best.second)) {
        least = time;
        best = {tall, tall * tiles};
      }
    }
  return best;
}

/// The dot instruction of both products, where that is faster and divides their terms; null: there is none.
static ProductAttr dotOf(FuncOp func, const Attention &found, TargetAttr target) {
  if (!isFixed(func, {found.key}))
    return nullptr;
  ProductAttr instruction;
  for (auto [reduce, terms] : {std::pair(found.scores, found.terms), {found.result, found.key}}) {
    std::optional<Product> product = productOf(reduce);
    instruction = product->isNarrow() ? target.fastProduct(product->operands[0].narrow.getType(),
                                                           product->operands[1].narrow.getType(), product->sum())
                                      : nullptr;
    int64_t size = func.getDomain().getSizes()[terms].constant();
    if (!instruction || instruction.getM() > 1 || size % instruction.getK() != 0)
      return nullptr;
  }
  return instruction;
}

namespace {
/// Register tiles of both products.
struct Tiles {
  int64_t lanes, wide, across; ///< of a vector; how many vectors of keys and of the result's columns a tile has
  int64_t rows, tall, block;   ///< of all, those of a tile, and of a block of whole tiles
};
} // namespace

/// nullopt where the rows of scores that a cache holds are none.
static std::optional<Tiles> tilesOf(FuncOp func, Attention found, TargetAttr target) {
  ArrayRef<view::Expr> domain = func.getDomain().getSizes();
  view::Expr allRows = domain[found.rows];
  int64_t columns = domain[found.column()].constant(), bytes = byteSize(found.scores.getType());
  int64_t keys = target::countedKeys(target, domain[found.key], columns, bytes);
  int64_t most = target::heldRows(target, keys, columns, bytes);
  if (most == 0)
    return std::nullopt;
  Tiles tiles;
  tiles.rows = allRows.isConst() ? allRows.constant() : std::min(allRows.max(), optimize::kTypicalRows);
  tiles.lanes = target.vectorBits() / 8 / bytes;
  tiles.wide = keys >= 2 * tiles.lanes ? 2 : 1;
  tiles.across = columns >= 2 * tiles.lanes ? 2 : 1;
  std::tie(tiles.tall, tiles.block) =
      chooseBlock(tiles.rows, (target.vectorRegisters() - 1) / std::max(tiles.wide, tiles.across) - 1,
                  std::min(most, std::max(kFewestRows, target.cacheBytes(1) / 2 / (keys * bytes))));
  return tiles;
}

namespace {
/// Both products by register tiles, whose steps `dot`, where it is not null, makes of several terms: these lie side by
/// side in queries and in the exponentials, which are held as they are rounded, and are packed so in keys and values.
class TiledAttention {
public:
  TiledAttention(FuncOp func, const Attention &found, TargetAttr target, ProductAttr dot, const Tiles &tiles)
      : func_(func), found_(found), target_(target), dot_(dot), tiles_(tiles), trial_(func, target),
        isUnknown_(!isFixed(func, {found.key})) {
    keys_ = trial_.copyOf(found.keys.getResult()).getDefiningOp<LoadOp>();
    values_ = trial_.copyOf(found.values.getResult()).getDefiningOp<LoadOp>();
  }
  /// nullopt where some opt does not fit.
  std::optional<AttentionOpts> choose();

private:
  /// Cuts rows into blocks and keys into tiles, and holds what is computed of a block.
  void holdBlock();
  void tileScores();
  void tileResult();
  /// Puts values side by side as a tile of the result reads them.
  void packValues();

  FuncOp func_;
  const Attention &found_;
  TargetAttr target_;
  ProductAttr dot_;
  const Tiles &tiles_;
  Trial trial_;
  bool isUnknown_; ///< the number of keys
  LoadOp keys_, values_;
  SmallVector<StageOp> stages_; ///< the scores first
  int64_t inBlock_ = 0, keyInTile_ = 0;
};
} // namespace

void TiledAttention::holdBlock() {
  auto copies = [&](ArrayRef<Value> values) {
    return llvm::map_to_vector(values, [&](Value value) { return trial_.copyOf(value); });
  };
  SmallVector<Value> held = copies(found_.held);
  if (dot_)
    held.back() = narrowOperand(held.back());
  held.append(copies(found_.sums));
  walkRowsAroundColumns(trial_, func_, found_);
  inBlock_ = trial_.split(OptKind::TILE, found_.rows, tiles_.block);
  keyInTile_ = trial_.split(OptKind::TILE, found_.key, tiles_.wide * tiles_.lanes);
  // A score's sum goes inside a vector of keys, and the result's columns around all keys: where the two are one axis of
  // the domain, it changes its place between.
  bool isAround = found_.terms <= found_.key;
  if (isAround)
    trial_.apply(OptKind::SWAP, found_.terms, found_.key);
  // In memory the rows of a block lie side by side for so many keys at a time: how far they are apart is a number then.
  if (isUnknown_)
    trial_.apply(OptKind::SWAP, inBlock_, found_.key);
  // Keys lie element by element, and lanes go along them: packed once for all rows.
  if (!dot_ && !optimize::accessOf(found_.keys).isContiguous(found_.key))
    trial_.hold(keys_, -1);
  for (Value value : held)
    if (trial_.fits())
      stages_.push_back(trial_.hold(value, found_.rows));
  if (isUnknown_)
    trial_.apply(OptKind::SWAP, inBlock_, found_.key);
  if (isAround)
    trial_.apply(OptKind::SWAP, found_.terms, found_.key);
}

void TiledAttention::tileScores() {
  StageOp scores = stages_.front();
  SmallVector<int64_t> row = axesAlong(scores, found_.rows), key = axesAlong(scores, found_.key);
  if (dot_)
    trial_.apply(OptKind::DOT, axesAlong(scores, found_.terms).front(), dot_.getK());
  // A vector's keys stay in cache while all rows pass. All else is computed row by row, what it takes of a row before.
  for (StageOp stage : isUnknown_ ? ArrayRef(stages_).drop_front() : ArrayRef(stages_).take_front())
    trial_.apply(OptKind::SWAP, axesAlong(stage, found_.rows).front(), axesAlong(stage, found_.key).front());
  trial_.apply(OptKind::VECTOR, key.back(), tiles_.wide * tiles_.lanes);
  trial_.apply(OptKind::UPCAST, row.front(), tiles_.tall);
  if (dot_ && trial_.fits())
    trial_.hold(keys_, -1);
}

void TiledAttention::packValues() {
  if (isUnknown_)
    trial_.apply(OptKind::SWAP, found_.column(), found_.key);
  if (trial_.fits())
    trial_.hold(values_, -1);
  if (isUnknown_)
    trial_.apply(OptKind::SWAP, found_.column(), found_.key);
}

void TiledAttention::tileResult() {
  auto [lanes, wide, across, rows, tall, block] = tiles_;
  if (dot_)
    trial_.apply(OptKind::DOT, keyInTile_, dot_.getK());
  trial_.apply(OptKind::VECTOR, found_.column(), across * lanes);
  trial_.apply(OptKind::UPCAST, inBlock_, tall);
  // Each tile of rows reads the values again: those of a tile's columns then lie side by side. Where rows may be few,
  // as where one query is asked at a time, values that lie so by themselves are read where they are.
  bool areApart = !optimize::accessOf(found_.values).isContiguous(found_.column());
  int64_t columns = func_.getDomain().getSizes()[found_.column()].constant();
  bool isAgain = isUnknown_ ? areApart : columns > across * lanes && rows > tall;
  if (trial_.fits() && (dot_ || isAgain))
    packValues();
  // The last keys of all may be fewer than a part of them is long: the loop over those ends early, at no fixed number.
  if (isUnknown_)
    trial_.apply(OptKind::UNROLL, keyInTile_, target::largestPart(wide * lanes, optimize::kStepsUnrolled));
}

std::optional<AttentionOpts> TiledAttention::choose() {
  holdBlock();
  if (!trial_.fits())
    return std::nullopt;
  tileScores();
  fillRows(trial_, ArrayRef(stages_).drop_front(), found_, tiles_.block, tiles_.wide * tiles_.lanes);
  tileResult();
  if (!trial_.fits() || (dot_ && faultOfProducts(trial_.func(), target_)))
    return std::nullopt;
  bool areCounted = func_.getDomain().getSizes()[found_.rows].isConst();
  int64_t blocks = areCounted ? int64_t(llvm::divideCeil(tiles_.rows, tiles_.block)) : -1;
  return AttentionOpts{SmallVector<OptAttr>(trial_.opts()), axesAround(func_, found_), blocks, /*isPacked=*/false};
}

static std::optional<AttentionOpts> holdByTiles(FuncOp func, const Attention &found, TargetAttr target,
                                                ProductAttr dot) {
  std::optional<Tiles> tiles = tilesOf(func, found, target);
  return tiles ? TiledAttention(func, found, target, dot, *tiles).choose() : std::nullopt;
}

std::optional<AttentionOpts> optimize::chooseAttention(FuncOp func, TargetAttr target) {
  std::optional<Attention> found = attentionOf(func);
  if (!found)
    return std::nullopt;
  if (std::optional<AttentionOpts> matrices = holdByMatrices(func, *found, target))
    return matrices;
  if (ProductAttr dot = dotOf(func, *found, target))
    if (std::optional<AttentionOpts> dots = holdByTiles(func, *found, target, dot))
      return dots;
  return holdByTiles(func, *found, target, /*dot=*/nullptr);
}
