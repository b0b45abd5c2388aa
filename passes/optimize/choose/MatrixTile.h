//===- MatrixTile.h - How many matrices a product computes at a time --------------===//
#pragma once

#include "passes/optimize/choose/Product.h"

namespace kiln::optimize {

/// The tile of a sum of products that matrix instructions compute together.
struct MatrixTile {
  int64_t rows;           ///< of one matrix
  int64_t columns;        ///< of one matrix
  int64_t down, across;   ///< matrices of the tile
  size_t terms;           ///< the axis of the domain whose neighbours an instruction sums up
  int64_t termTile = 0;   ///< parts of it that do not divide it; 0: an instruction takes one that does
  bool packsRows = false; ///< the rows are not in the instructions' layout
};

/// nullopt if the device has no instruction for the product, or the product is too small for one. The columns are
/// packed before.
std::optional<MatrixTile> chooseMatrixTile(kernel::FuncOp func, const TiledProduct &product, TargetAttr target);

} // namespace kiln::optimize
