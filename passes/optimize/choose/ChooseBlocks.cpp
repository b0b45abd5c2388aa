//===- ChooseBlocks.cpp - Sums of floats over blocks of integers ---------------------------===//
// A weight of few bits has a scale for each block of a row, and so may the rows that it is multiplied with. Within a
// block products are added up as integers, and blocks as floats, each times its scales. Such a kernel has two sums, one
// inside the other: dots make a block of all rows of a tile and one vector of columns, whose totals are floats. The
// weight is packed as the tile reads it, its scales too. A vector is enough: totals of a block begin anew, so that
// those of the next one do not wait for them. Where rows stay floats, numbers are unpacked for one row as they are
// multiplied, and for several a panel at a time.
//===----------------------------------------------------------------------------------------===//

#include "passes/optimize/choose/Chooser.h"

#include "passes/optimize/choose/RegisterTile.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace kiln::optimize;
using namespace mlir;

/// The registers of a tile that hold no totals: a vector of the weight, what is left of it after unpacking, scales.
static constexpr int64_t kOtherRegisters = 8;
/// The dots of a block at once.
static constexpr int64_t kStepsOfBlock = 8;
/// The vectors of a panel of floats.
static constexpr int64_t kVectorsOfPanel = 2;

std::optional<BlockProduct> optimize::findBlocks(FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights) {
  auto reduces = llvm::to_vector(func.getBody().getOps<ReduceOp>());
  if (reduces.size() != 2)
    return std::nullopt;
  std::optional<Product> product = productOf(reduces[0]);
  ReduceOp blocks = reduces[1];
  bool isSum = blocks.getKind().getValue() == Alu::ADD && !blocks.getScore();
  if (!product || !isSum || !isComputedFrom(blocks.getInput(), product->reduce.getResult()))
    return std::nullopt;
  ProductAttr dot = fastDot(*product, target);
  if (!dot && !isa<FloatType>(product->sum()))
    return std::nullopt;
  int64_t fewest = dot ? dot.getN() : target.vectorBits() / (8 * byteSize(product->sum())),
          together = dot ? dot.getK() : 1;
  ArrayRef<view::Expr> domain = func.getDomain().getSizes();
  auto isReduced = [&](size_t axis) {
    return llvm::any_of(reduces, [&](ReduceOp reduce) { return llvm::is_contained(reduce.getAxes(), int64_t(axis)); });
  };
  for (unsigned side : {0, 1}) {
    Value columns = product->operands[side].value, rows = product->operands[!side].value;
    LoadOp matrix = product->operands[side].widestLoad(), vector = product->operands[!side].onlyLoad();
    if (!matrix || !vector || matrix.getRow() || vector.getRow())
      continue;
    BlockProduct found{*product, side, accessOf(matrix), accessOf(vector), dot, {}, {}, {}};
    bool areWeights =
        llvm::all_of(sourcesOf(columns).loads, [&](LoadOp load) { return weights.test(accessOf(load).buffer); });
    if (!areWeights || weights.test(found.rows.buffer))
      continue;
    bool hasColumns = false, hasTerms = false;
    for (size_t axis = 0; axis < domain.size(); ++axis) {
      int64_t size = fixedSize(func, axis);
      bool isOfColumns = dependsOn(columns, axis), isOfRows = dependsOn(rows, axis);
      if (!isReduced(axis) && isOfColumns && !isOfRows && size >= fewest) {
        found.n = axis;
        hasColumns = true;
      }
      if (!isReduced(axis) && isOfRows && !isOfColumns)
        found.m = axis;
      bool isTerm = llvm::is_contained(product->reduce.getAxes(), int64_t(axis));
      if (isTerm && size > 0 && size % together == 0 && found.rows.isContiguous(axis)) {
        found.terms = axis;
        hasTerms = true;
      }
    }
    if (hasColumns && hasTerms)
      return found;
  }
  return std::nullopt;
}

int64_t Chooser::unrollParts(const BlockProduct &found) {
  int64_t parts = 1;
  for (int64_t axis : found.product.reduce.getAxes())
    if (size_t(axis) != found.terms) {
      add(OptKind::UNROLL, axis, fixedSize(axis));
      parts *= fixedSize(axis);
    }
  return parts;
}

void Chooser::unrollTerms(const BlockProduct &found, int64_t steps) {
  if (int64_t parts = evenPart(countOf_[found.terms], steps); parts > 1)
    add(OptKind::UNROLL, found.terms, parts);
}

bool Chooser::packBlocks(const BlockProduct &found) {
  // As they are stored: unpacked or widened they would be several times as many bytes to read.
  auto pack = [&](const Access &load) {
    return keepIfFits([&](Trial &trial) { trial.hold(trial.copyOf(load.op->getResult(0)), -1); });
  };
  bool isPacked = pack(found.matrix);
  for (const Access &load : loads_)
    if (isPacked && load.buffer != found.matrix.buffer && weights_.test(load.buffer) && isReadOnce(load) &&
        !load.isStill(found.n) && !load.isContiguous(found.n))
      pack(load);
  return isPacked;
}

bool Chooser::chooseBlocksOfDots(const BlockProduct &found) {
  usesDots_ = true;
  add(OptKind::DOT, found.terms, found.dot.getK());
  if (found.m && *found.m < found.n)
    add(OptKind::SWAP, *found.m, found.n);
  add(OptKind::VECTOR, found.n, std::max<int64_t>(found.dot.getN(), target_.vectorBits() / elementBits(func_)));
  if (found.m) {
    int64_t rows = fixedSize(*found.m), most = (target_.vectorRegisters() - kOtherRegisters) / 2;
    add(OptKind::UPCAST, *found.m,
        rows > 0 ? bestRows(rows, most) : std::min({mostOf(*found.m), most, kMostUnknownRows}));
  }
  unrollTerms(found, std::max<int64_t>(1, kStepsOfBlock / unrollParts(found)));
  chooseChunks(found.m ? keptAxes({*found.m}) : keptAxes());
  return packBlocks(found);
}

bool Chooser::chooseBlocksOfFloats(const BlockProduct &found) {
  int64_t lanes = target_.vectorBits() / elementBits(func_), most = found.m ? mostOf(*found.m) : 1;
  bool isOneRow = most == 1;
  if (found.m && *found.m < found.n && !isOneRow)
    add(OptKind::SWAP, *found.m, found.n);
  // One packed weight serves kernels for one row and for several.
  add(OptKind::VECTOR, found.n, kVectorsOfPanel * lanes);
  if (isOneRow) {
    readsAsTheyLie_ = true;
    unrollParts(found);
  } else {
    int64_t rows = fixedSize(*found.m), together = target_.vectorRegisters() / 2 / kVectorsOfPanel;
    add(OptKind::UPCAST, *found.m, rows > 0 ? bestRows(rows, together) : std::min(most, together));
  }
  unrollTerms(found, kStepsUnrolled);
  chooseChunks(found.m ? keptAxes({*found.m}) : keptAxes());
  // A panel of the weight is unpacked once, and all rows pass.
  return packBlocks(found) &&
         (isOneRow || keepIfFits([&](Trial &trial) {
            trial.hold(trial.copyOf(found.product.operands[found.columnSide].value), loopOf(*found.m));
          }));
}

bool Chooser::chooseBlocks() {
  std::optional<BlockProduct> found = findBlocks(func_, target_, weights_);
  return found && (found->dot ? chooseBlocksOfDots(*found) : chooseBlocksOfFloats(*found));
}
