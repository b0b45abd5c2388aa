//===- MatrixProduct.h - Sums of products made by matrix and dot instructions ---===//
//
// A matrix instruction takes whole matrices: of the rows m × k, of the columns k × n, and adds their product to sums,
// m × n. In the walk of a stage that holds such sums, four axes are fragments: the elements of these matrices. k is two
// of them, since instructions want p neighbouring terms of a column side by side. The other axes are loops and tiles
// around them, as in any walk. Where the columns are one vector, n is an axis of one point that nothing moves along.
//
// A dot instruction takes vectors: each lane of its sums adds up some neighbouring terms. Such terms are the only
// fragment of their walk, which may be the kernel's own: the sums are plain vectors, and all else is as in any walk.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "ir/base/Target.h"
#include "ir/kernel/Walk.h"

namespace kiln::kernel {

struct MatrixProduct {
  mutable ReduceOp reduce;
  mlir::Value rows, columns; ///< as instructions take them, before they are widened to the sum's dtype
  int64_t m, k, n, p;        ///< the fragment axes, by id, from the outside in as memory lies along them
};

/// An operand that is widened before it is multiplied, as it was; null: it is not.
mlir::Value narrowOperand(mlir::Value operand);

/// A sum of products of which an instruction takes in several terms at a time, in each lane.
struct DotProduct {
  mutable ReduceOp reduce;
  mlir::Value a, b; ///< as instructions take them, before they are widened to the sum's dtype
  int64_t terms;    ///< the fragment axis, by id
};

/// Whether some axes of a walk are fragments.
bool hasFragments(const Walk &walk);
/// Whether they are those of matrices.
bool hasMatrices(const Walk &walk);
/// The product of which a walk's only fragments are terms; nullopt where there is none, or more moves along them.
std::optional<DotProduct> dotProductOf(const Walk &walk);
/// The product whose matrices a walk's fragments are; nullopt where they are none's.
std::optional<MatrixProduct> matrixProductOf(const Walk &walk);

/// The axes of the domain past whose end terms are summed up: 0 must be held there of both operands.
llvm::SmallVector<size_t> axesPastEnd(const Walk &walk, const MatrixProduct &product);
/// The axes past whose end a stage holds 0, for matrix products that read it.
llvm::SmallVector<size_t> axesPastEnd(StageOp stage);

/// How a matrix lies in memory.
struct MatrixView {
  view::Index first; ///< where its first element is
  view::Expr pitch;  ///< from a row to the next; of columns, from p terms to the next
};

/// Where an operand's matrix is read; nullopt where it is computed, or its elements lie otherwise.
std::optional<MatrixView> rowsView(const Walk &walk, const MatrixProduct &product);
std::optional<MatrixView> columnsView(const Walk &walk, const MatrixProduct &product);
/// Where the sums are held.
std::optional<MatrixView> sumsView(const Walk &walk, const MatrixProduct &product);

/// What keeps a kernel's matrix and dot instructions from being made, as a clause; nullopt: nothing. Opts that come
/// later may put an operand in place, so this is looked at after the last.
std::optional<std::string> faultOfProducts(FuncOp func, TargetAttr target);

} // namespace kiln::kernel
