//===- MatrixTile.cpp - How many matrices a product computes at a time -------------===//
// An instruction takes as long as its matrix has rows, and loading a matrix about half as long. A step of the sum's
// loop loads the matrices of the tile's rows and of its columns and multiplies each with each, so square tiles load
// least; their sums, a step's columns and one matrix of rows have to fit the registers. A sum waits for the one before
// it of the same matrix, so several are computed together. Rows past the end are multiplied in vain, and are read: if
// the tiles do not divide the rows, or the rows have another layout, these are packed before.
//===----------------------------------------------------------------------------===//

#include "passes/optimize/choose/MatrixTile.h"

#include "ir/kernel/MatrixProduct.h"
#include "passes/optimize/choose/RegisterTile.h"
#include "target/Target.h"
#include "target/Times.h"

#include <limits>

using namespace kiln;
using namespace kiln::kernel;
using namespace mlir;
using namespace kiln::target::times;
using kiln::optimize::fixedSize;
using kiln::optimize::MatrixTile;
using kiln::optimize::TiledProduct;

/// Registers for matrices, on all CPUs that have them.
static constexpr int64_t kRegisters = 8;

/// The reduced axis that instructions go along: one along which the rows are contiguous, else the longest.
static std::optional<size_t> termsOf(FuncOp func, const TiledProduct &product, ReduceOp reduce) {
  std::optional<size_t> best;
  for (int64_t axis : reduce.getAxes()) {
    int64_t size = fixedSize(func, axis);
    if (size < target::kFewestTerms)
      continue;
    bool isNeighbours = product.rows.isContiguous(axis);
    if (!best || isNeighbours || (!product.rows.isContiguous(*best) && size > fixedSize(func, *best)))
      best = axis;
  }
  return best;
}

std::optional<MatrixTile> optimize::chooseMatrixTile(FuncOp func, const TiledProduct &product, TargetAttr target) {
  if (!product.areLoads || !product.sum.isNarrow())
    return std::nullopt;
  Value rows = product.rowOperand().narrow, columns = product.columnOperand().narrow;
  ReduceOp reduce = product.sum.reduce;
  ProductAttr instruction = target.matrixProduct(rows.getType(), columns.getType(), product.sum.sum());
  int64_t height = fixedSize(func, product.m), width = fixedSize(func, product.n);
  // Tiles of rows that only a run knows go past the last one, so rows are packed, which would repeat what a window
  // shares.
  bool isOpen = height < 0, isWindow = reduce.getAxes().size() > 1;
  if (isOpen && !isWindow)
    height = kTypicalRows;
  if (!instruction || height < 2 || width < instruction.getN())
    return std::nullopt;
  std::optional<size_t> terms = termsOf(func, product, reduce);
  if (!terms || llvm::any_of(reduce.getAxes(), [&](int64_t axis) { return fixedSize(func, axis) < 1; }))
    return std::nullopt;
  int64_t side = target::sideOf(rows.getType()), count = fixedSize(func, *terms);
  bool isDivided =
      2 * target::largestPart(count, instruction.getK(), side) >= std::min(count, int64_t(instruction.getK()));
  int64_t termTile = isDivided ? 0 : instruction.getK();
  auto tracker = product.rows.op->getAttrOfType<TrackerAttr>("tracker").getValue();
  bool lies = isDivided && isa<LoadOp>(rows.getDefiningOp()) && product.rows.isContiguous(*terms) &&
              tracker.at().valid.isConst(1) && product.rows.strides[product.m].has_value();

  std::optional<MatrixTile> best;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t across = 1; across * instruction.getN() < width + instruction.getN() && across <= kRegisters; ++across)
    for (int64_t down = 1; down * across + (down > 1 ? across : 1) + 1 <= kRegisters; ++down)
      for (int64_t tall = 1; tall <= instruction.getM() && (down - 1) * tall < height; ++tall) {
        int64_t blocks = llvm::divideCeil(height, down * tall),
                panels = llvm::divideCeil(width, across * instruction.getN());
        bool packs = !lies || isOpen || height % (down * tall) != 0;
        double step = std::max<double>(down * across * tall, kMatrixLatency) +
                      kMatrixLoadShare * (down * tall + across * instruction.getN()) / 2;
        double time = step * blocks * panels + (packs ? kMatrixPackSteps * height : 0);
        if (time >= least)
          continue;
        least = time;
        best = {tall, instruction.getN(), down, across, *terms, termTile, packs};
      }
  return best;
}
