//===- ChooseBlocks.cpp - Sums of floats over blocks of integers ---------------------------===//
// A weight of few bits has a scale for each block of a row, and so may the rows that it is multiplied with. Within a
// block products are added up as integers, and blocks as floats, each times its scales. Such a kernel has two sums, one
// inside the other: dots make a block of all rows of a tile and one vector of columns, whose totals are floats. The
// weight is packed as the tile reads it, its scales too. A vector is enough: totals of a block begin anew, so that
// those of the next one do not wait for them.
//===----------------------------------------------------------------------------------------===//

#include "passes/optimize/choose/Chooser.h"

#include "passes/optimize/choose/RegisterTile.h"

using namespace kiln;
using namespace kiln::kernel;
using namespace kiln::optimize;
using namespace mlir;

/// The registers of a tile that hold no totals: a vector of the weight, what is left of it after unpacking, scales.
static constexpr int64_t kOtherRegisters = 8;
/// The steps of a block's sum at once.
static constexpr int64_t kStepsOfBlock = 8;

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
  if (!dot)
    return std::nullopt;
  ArrayRef<view::Expr> domain = func.getDomain().getSizes();
  auto isReduced = [&](size_t axis) {
    return llvm::any_of(reduces, [&](ReduceOp reduce) { return llvm::is_contained(reduce.getAxes(), int64_t(axis)); });
  };
  for (unsigned side : {0, 1}) {
    Value columns = product->operands[side].value, rows = product->operands[!side].value;
    LoadOp matrix = product->operands[side].onlyLoad(), vector = product->operands[!side].onlyLoad();
    if (!matrix || !vector || matrix.getRow() || vector.getRow())
      continue;
    BlockProduct found{*product, accessOf(matrix), accessOf(vector), dot, {}, {}, {}};
    if (!weights.test(found.matrix.buffer) || weights.test(found.rows.buffer))
      continue;
    bool hasColumns = false, hasTerms = false;
    for (size_t axis = 0; axis < domain.size(); ++axis) {
      int64_t size = fixedSize(func, axis);
      bool isOfColumns = dependsOn(columns, axis), isOfRows = dependsOn(rows, axis);
      if (!isReduced(axis) && isOfColumns && !isOfRows && size >= dot.getN()) {
        found.n = axis;
        hasColumns = true;
      }
      if (!isReduced(axis) && isOfRows && !isOfColumns)
        found.m = axis;
      bool isTerm = llvm::is_contained(product->reduce.getAxes(), int64_t(axis));
      if (isTerm && size % dot.getK() == 0 && size > 0 && found.matrix.isContiguous(axis) &&
          found.rows.isContiguous(axis)) {
        found.terms = axis;
        hasTerms = true;
      }
    }
    if (hasColumns && hasTerms)
      return found;
  }
  return std::nullopt;
}

bool Chooser::chooseBlocks() {
  std::optional<BlockProduct> found = findBlocks(func_, target_, weights_);
  if (!found)
    return false;
  int64_t lanes = std::max<int64_t>(found->dot.getN(), target_.vectorBits() / elementBits(func_));
  usesDots_ = true;
  add(OptKind::DOT, found->terms, found->dot.getK());
  if (found->m && *found->m < found->n)
    add(OptKind::SWAP, *found->m, found->n);
  add(OptKind::VECTOR, found->n, lanes);
  if (found->m) {
    int64_t rows = fixedSize(*found->m), most = (target_.vectorRegisters() - kOtherRegisters) / 2;
    add(OptKind::UPCAST, *found->m,
        rows > 0 ? bestRows(rows, most) : std::min({mostOf(*found->m), most, kMostUnknownRows}));
  }
  int64_t steps = kStepsOfBlock;
  for (int64_t axis : found->product.reduce.getAxes())
    if (size_t(axis) != found->terms) { // its places are numbers then, by which the bits of a weight are shifted
      add(OptKind::UNROLL, axis, fixedSize(axis));
      steps /= fixedSize(axis);
    }
  if (int64_t parts = evenPart(countOf_[found->terms], std::max<int64_t>(1, steps)); parts > 1)
    add(OptKind::UNROLL, found->terms, parts);
  SmallVector<size_t> others = found->m ? keptAxes({*found->m}) : keptAxes();
  chooseChunks(others);
  bool isStaged = stage(-1, found->matrix.buffer);
  for (const Access &load : loads_)
    if (isStaged && load.buffer != found->matrix.buffer && weights_.test(load.buffer) && isReadOnce(load) &&
        !load.isStill(found->n) && !load.isContiguous(found->n))
      stage(-1, load.buffer);
  return isStaged;
}
