//===- Chooser.h - The opts that one kernel gets, as they are chosen -----------------------===//
//
// A list of opts is chosen by a walk through the kinds of kernels that there are, and each kind adds to the list:
// products in ChooseProducts.cpp, those of one vector in ChooseVectors.cpp, what only has lanes in ChooseLanes.cpp,
// chunks and the order of it all in Heuristic.cpp. Each opt is applied to a copy of the kernel as it is chosen: an opt
// names axes by number, and those of parts and stages are read off the copy. Where a kind may turn out not to fit, it
// is tried on a copy of the whole.
//
//===----------------------------------------------------------------------------------------===//
#pragma once

#include "passes/optimize/choose/Heuristic.h"
#include "passes/optimize/choose/LaneWork.h"
#include "passes/optimize/choose/Product.h"
#include "passes/optimize/choose/Trial.h"

#include "target/Target.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"

namespace kiln::optimize {

/// How many steps of a product's sum are unrolled; and how many totals keep a core busy, however few registers they
/// leave, where rows share nothing.
inline constexpr int64_t kStepsUnrolled = 4, kFewestTotals = 12;

/// What the hardware reads ahead in: where lines are longer, each is a stream of its own.
inline constexpr int64_t kPageBytes = 4096;

/// Chooses the opts of one kernel.
class Chooser {
public:
  Chooser(kernel::FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights)
      : func_(func), trial_(func, target), target_(target), weights_(weights) {}
  void choose();
  /// The kernel with what has been chosen for it.
  Trial takeTrial() { return std::move(trial_); }
  /// Whether few rows of a product read its columns as they lie.
  bool readsAsTheyLie() const { return readsAsTheyLie_; }

private:
  /// Notes what the kernel loads, stores and reduces.
  void readKernel();
  /// Takes over what a way chose on a copy. False, and nothing changed, where it does not apply.
  bool takeWay(llvm::function_ref<bool(Chooser &)> way);
  /// The same for ways that may turn out not to fit.
  bool tryWay(llvm::function_ref<bool(Chooser &)> way);
  /// Whether what has been chosen leaves a kernel that can be lowered.
  bool fits();
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
  std::optional<Panel> panelOfColumns(const TiledProduct &product, int64_t width) const;
  /// A register tile of a product of known size, and where its operands wait meanwhile.
  struct HeldTile {
    int64_t rows, width;                       ///< points of the result
    int64_t steps = 1;                         ///< of the sum at once
    std::optional<Panel> panel = std::nullopt; ///< of columns, inside the loops around rows
    bool keepsOrder = false; ///< the result is written in its own order, past columns that a launch packs
    bool holdsBoth = false;  ///< both operands are staged, in the order in which the tile reads them
  };
  HeldTile chooseTile(const TiledProduct &product, int64_t lanes, bool isPlain) const;
  /// Cuts a sum that is too long for the first cache, and tiles columns and rows for the caches beyond it.
  void holdBoth(const TiledProduct &product, const HeldTile &tile);
  /// How many terms the product's sum has; axes of unknown size count as one.
  int64_t termsOf() const;
  /// How many steps of a product's sum are one turn of its loop, which is the innermost. The loop's own instructions
  /// and requests for what comes next serve all of them, and LLVM loads for several together: totals leave room for
  /// that.
  int64_t stepsOf(const TiledProduct &product) const;
  /// The bytes of an element; what is not taken by dots is computed before it is held, and as wide as the sum.
  int64_t bytesOf(const Access &access) const;
  /// How many bytes an access reaches in all, as far as sizes are known.
  int64_t extentOf(const Access &access) const;
  /// Whether neither rows nor the terms of a row are neighbours in memory, as the pixels of every second column: each
  /// element then takes a line of the cache.
  bool areScattered(const TiledProduct &product) const;
  bool columnsStay(const TiledProduct &product) const;
  /// Whether so few rows that they are not worth a copy of the columns have lines of these that are short.
  bool areFewBesideShortLines(const TiledProduct &product) const {
    int64_t columns = fixedSize(product.n);
    return columns > 0 && columns * bytesOfElement(product.columns) < kPageBytes && mostOf(product.m) < kManyRows;
  }
  /// How many rows the first cache can hold a line of at a time: as many as it has ways where rows lie so far apart
  /// that they take each other's place.
  int64_t mostRows(const TiledProduct &product) const;
  /// How many rows a tile may have for the sake of their addresses: one each if only a run knows how far apart they
  /// lie. nullopt: as many as there are.
  std::optional<int64_t> mostAddressed(const TiledProduct &product) const;
  /// How many totals a tile of so many unrolled steps has registers for.
  int64_t mostTotals(const TiledProduct &product, int64_t steps) const;
  /// False where the product is too small for a register tile.
  bool chooseProduct(const TiledProduct &product);
  /// The same with fewer columns than a vector has lanes, which go along the sum instead. False where operands do not
  /// lie so.
  bool chooseFewColumns(const TiledProduct &product);
  /// The same with few rows, where columns lie as vectors and are not worth a copy. False where there are more rows, or
  /// where lines are too short.
  bool chooseFewRows(const TiledProduct &product);
  /// A register tile of few rows whose columns are read as they lie: where the first cache keeps the columns of a tile,
  /// or each step reads several lines of memory, and asks for those of the next tile.
  bool chooseTileOfFew(const TiledProduct &product);
  /// The same with columns that are a weight, as long as the rows of one panel of columns stay in cache.
  bool choosePacked(const TiledProduct &product);
  /// The same of a product whose number of rows or columns is not known.
  bool chooseUnknownProduct(const TiledProduct &product);
  /// Of few rows, known, and columns of unknown number: the tile goes along lines of columns, too. One vector of
  /// columns wastes less of a short line than two do.
  bool chooseFewRowsOfUnknown(const TiledProduct &product);
  bool choosePanelOfUnknown(const TiledProduct &product);
  /// Cuts the widest of the axes that stand around a product of unknown size: what its points are worth is not known
  /// either. Returns how many points these axes have together, of unknown ones one.
  int64_t shareOut(llvm::ArrayRef<size_t> axes);
  /// Whether there is little between what a tile of rows reads.
  bool isOnePiece(const TiledProduct &product, int64_t tileRows) const;
  /// The same by matrix instructions, whose sums are staged for what is computed from them.
  bool chooseMatrices(const TiledProduct &product);
  /// Whether columns that are no weight would be packed for matrices or dots when the program runs, and so few rows
  /// read them faster as they lie.
  bool areTooFewToPack(const TiledProduct &product) const;
  /// The same by dot instructions: a step of the sum is then several terms, which lie side by side.
  bool chooseDots(const TiledProduct &product);
  /// For sums over blocks of a weight of few bits (ChooseBlocks.cpp). False for other kernels.
  bool chooseBlocks();
  bool chooseBlocksOfDots(const BlockProduct &found);
  bool chooseBlocksOfFloats(const BlockProduct &found);
  /// Unrolls the parts of a block, so that their places, by which bits are shifted, are numbers. Returns how many parts
  /// a block has.
  int64_t unrollParts(const BlockProduct &found);
  /// Unrolls at most `steps` steps along the terms.
  void unrollTerms(const BlockProduct &found, int64_t steps);
  /// Packs the weight, its scales and zero points as the tile reads them. False: the weight stays as it is.
  bool packBlocks(const BlockProduct &found);
  void chooseLanes();
  /// The axis whose points are lanes with which the kernel takes the fewest instructions; nullopt: memory lies along
  /// none that is long enough.
  std::optional<size_t> laneAxis(int64_t lanes, int64_t fewest) const;
  /// Whether lanes along a short axis take far fewer instructions than none.
  bool isWorthLanes(size_t axis, int64_t lanes) const;
  /// How many of `lanes` lanes a vector along an axis has.
  int64_t lanesOfRow(size_t axis, int64_t lanes) const;
  /// The axis of rows that can be added up several at a time along open lanes.
  std::optional<size_t> sumsBeside(size_t axis) const;
  /// Another axis of an element-wise kernel along which about as much memory lies, in parts of a tile at least.
  std::optional<size_t> turnedWith(size_t axis) const;
  bool isReadAlong(size_t axis) const {
    return llvm::any_of(loads_, [&](const Access &load) { return load.isContiguous(axis); });
  }
  bool isWrittenAlong(size_t axis) const {
    return llvm::any_of(stores_, [&](const Access &store) { return store.isContiguous(axis); });
  }
  /// The points of another axis that fill the gaps between stored elements along this one; nullopt if none do.
  std::optional<optimize::Woven> wovenWith(size_t axis) const;
  /// Whether a load with `width` lanes along `lanes` stays in the loops of a sum, whatever the order of the others:
  /// a few vectors are no loop.
  bool isInSum(const Access &load, size_t lanes, int64_t width) const;
  /// Walks another of the kept axes innermost where that takes most of what is loaded lane by lane out of the innermost
  /// loop. The axis that is walked innermost then; nullopt: there is no loop.
  std::optional<size_t> hoistApart(size_t lanes, int64_t width);
  /// Another axis of a kernel with sums along which what is apart along this one lies side by side, the most of it;
  /// nullopt: none is long enough. What moves along neither a sum nor `innermost` does not count.
  std::optional<size_t> turnedInSums(size_t axis, int64_t width, std::optional<size_t> innermost) const;
  /// Tiles of what is read along one axis and written along another. `isPlain`: each along that one alone.
  void turn(int64_t read, int64_t written, int64_t side, bool isPlain);
  /// For a kernel that the schedule has hold rows of scores. False for others.
  bool chooseAttention();
  /// Chunks and what comes after them, where no way chose its own; `totals` are unrolled.
  void chooseLoops(llvm::SmallVector<size_t> totals);
  /// For values that several walks of a row would compute. False where there are none that are worth holding.
  bool chooseRowStages();
  /// A product of a weight and one vector, both of narrow elements that lie in memory.
  struct VectorProduct {
    unsigned matrix;       ///< the weight's buffer
    size_t results, terms; ///< axes: one of the matrix alone; one along which the vector is contiguous
    ProductAttr instruction;
  };
  /// That of the kernel, where instructions multiply such elements; of vectors, or of matrices.
  std::optional<VectorProduct> findVectorProduct(bool byMatrices);
  /// For a product of a weight and one vector. False where there is none that such instructions compute.
  bool chooseVectorByMatrices();
  bool chooseVectorByDots();
  /// Reads several streams at a time for sums of products with matrices whose elements are each used once: such sums
  /// take as long as the matrices are read. False if the kernel is not made of such sums.
  bool chooseStreams();
  /// The matrices of these sums, one for each: they stand still along no kept axis, and what they are multiplied with
  /// stands still along `columns`. nullopt for other sums.
  std::optional<llvm::SmallVector<Access>> streamsAlong(size_t columns) const;
  /// The axis of the sums along which the rows of all matrices lie; nullopt: they do not, or have fewer terms than a
  /// vector has lanes.
  std::optional<size_t> rowsAlong(llvm::ArrayRef<Access> matrices) const;
  /// How many rows are read together, and by vectors of how many terms.
  struct RowBlock {
    int64_t rows, lanes;
  };
  /// That of so many sums, of `rows` rows each.
  RowBlock rowBlock(llvm::ArrayRef<Access> matrices, size_t inner, int64_t sums, int64_t rows) const;
  /// The steps that an element of the result takes after its sums.
  double stepsAfterSums() const;
  /// Lanes along the sums, which are stored for what is computed from them: that has lanes along the rows. False if the
  /// matrices' rows do not lie so or are read in one piece, or if that takes few steps.
  bool holdSumsOfRows(llvm::ArrayRef<Access> matrices, size_t columns);
  /// Lanes along the sums. False if the matrices' rows do not lie so.
  bool readAsRows(llvm::ArrayRef<Access> matrices, size_t columns);
  /// The same of a matrix whose lines go along the result: several of them are added to totals that wait in the first
  /// cache, so that each is read as it lies. If the matrix stands still for several `rows`, all of them pass along
  /// these lines.
  bool chooseLines(const Access &matrix, size_t columns, std::optional<size_t> rows);
  /// The same for a reduce of anything but products. False where there is none.
  bool chooseSumsOfLines();
  /// Keeps several walks through tables under way at a time. The steps of one walk wait for each other, those of
  /// several walks do not.
  void chooseWalks();
  /// For reduces, one in each lane, such as windows: several points of another axis at a time, which share
  /// what stands still there and do not wait for each other. False where there is none.
  bool chooseRowsOfLanes(size_t axis, int64_t lanes);
  /// Unrolls the innermost axis of a window, and the one that its `rows` share if there are masks.
  void unrollTaps(size_t inner, size_t rows);
  /// The axis of those points, for lanes along `axis`.
  std::optional<size_t> rowsBeside(size_t axis) const;
  /// Cuts some of the axes, in loop order, that are of known size; `rows` into `least` parts or more, or into equal
  /// ones.
  void chooseChunks(llvm::ArrayRef<size_t> axes, size_t rows = 0, int64_t least = 1, bool evenly = false);
  void addChunks(size_t axis, int64_t parts);
  /// The loop that a chunk walks several steps of: along this axis, or else another, of the domain's later axes first;
  /// nullopt: there is none.
  std::optional<int64_t> walkedLoop(size_t axis, size_t lanes) const;
  /// Whether a chunk walks several steps along this axis, as far as is known.
  bool isWalked(size_t axis) const;
  /// Has each step of a tile along `rows` ask for the memory that the next one writes, which stores wait for as loads
  /// do.
  void askForResults(size_t rows, size_t lanes);
  /// Asks for what the next tile adds to its sums.
  void askForAddends(const optimize::TiledProduct &product);
  /// The same, and for what the next step of a kernel of windows reads, where it comes from beyond the second cache.
  void askForWindows(size_t rows, size_t lanes);
  /// Cuts the first of the axes that is of unknown size.
  void cutFirstSymbolic(llvm::ArrayRef<size_t> axes);
  /// How many points of an axis of unknown size are worth a chunk.
  double pointsInChunk(size_t axis) const;
  /// No vector has more elements: chunks of an axis that lanes may go along later hold whole ones.
  static constexpr int64_t kMostVector = 64;
  /// Cuts an axis of unknown size into chunks of so many of the points that splits have left, a multiple of `whole`
  /// where each has several; their number follows the size.
  void cutSymbolic(size_t axis, double points, int64_t whole = kMostVector);
  /// Makes each point of these axes, some of them of unknown size, a chunk of its own. Of the axes of known size, only
  /// so many take part that they do not make too many chunks by themselves.
  void cutIntoPoints(llvm::ArrayRef<size_t> axes);
  /// The kept axes in loop order, other than `without`.
  llvm::SmallVector<size_t> keptAxes(llvm::ArrayRef<size_t> without = {}) const;
  /// The id of the loop that is left of an axis after chooseChunks.
  int64_t loopOf(size_t axis) const { return loopOf_.contains(axis) ? loopOf_.lookup(axis) : axis; }
  /// Unrolls the axes along which a scored sum has several totals for one score, so that they share it. Those axes.
  llvm::SmallVector<size_t> chooseTotals();
  /// Adds an opt; of a split, the id of its inner part.
  int64_t add(kernel::OptKind kind, int64_t axis, int64_t amount);
  /// Stages what is read of a buffer, if that fits: a mask may go along one more axis than strides tell, which may keep
  /// a stage from its place or make it larger.
  bool stage(int64_t axis, unsigned buffer);
  /// The same of a product's operand: of its load, or if several loads make it, of the operand itself.
  bool stage(int64_t axis, const Access &access, const kernel::Operand &operand);
  /// Changes the kernel as far as chosen; false, and nothing changed, where that does not fit, or not into the local
  /// memory of a group.
  bool keepIfFits(llvm::function_ref<void(Trial &)> change);
  int64_t mostOf(size_t axis) const { return func_.getDomain().getSizes()[axis].max(); }
  int64_t leastOf(size_t axis) const { return func_.getDomain().getSizes()[axis].min(); }
  int64_t fixedSize(size_t axis) const { return optimize::fixedSize(func_, axis); }

  mutable kernel::FuncOp func_; ///< without opts
  Trial trial_;
  TargetAttr target_;
  llvm::SmallBitVector weights_;
  bool usesDots_ = false, readsAsTheyLie_ = false;
  llvm::SmallVector<Access> loads_, stores_;
  llvm::SmallDenseSet<size_t> reduced_;
  llvm::SmallVector<int64_t> countOf_; ///< the points of each axis that splits have left; -1: not known
  llvm::SmallVector<int64_t> stepOf_;  ///< how many points of the domain one of these is
  llvm::DenseMap<size_t, int64_t> loopOf_;
  int64_t mostChunks_ = 0;
  std::optional<size_t> uncut_;                      ///< an axis that each chunk walks whole, if there are others
  std::optional<std::pair<size_t, size_t>> swapped_; ///< axes whose loops have each other's place
  std::optional<size_t> outermost_;                  ///< an axis whose loop goes around those of all others
  std::optional<unsigned> packed_;                   ///< a weight to be packed for the lanes that were chosen
  std::optional<std::pair<size_t, size_t>> windows_; ///< the axes of a window's tile: rows, and the one of its lanes
};

/// `count` cut into as few parts of at most `most` as possible, all of about one size.
inline int64_t evenPart(int64_t count, int64_t most) {
  return llvm::divideCeil(count, llvm::divideCeil(count, std::max<int64_t>(1, most)));
}

/// Of the widest numbers that a kernel stores or computes: vectors of these are what registers hold.
int64_t elementBits(kernel::FuncOp func);

} // namespace kiln::optimize
