//===- MatrixProduct.h - Sums of products made by matrix and dot instructions ---===//
//
// A matrix instruction takes whole matrices: of the rows m × k, of the columns k × n, and adds their product to sums, m
// × n. In the walk of a stage that holds such sums, four axes are fragments: the elements of these matrices. k is two
// of them, since instructions want p neighbouring terms of a column together. The other axes are loops and tiles around
// them, as in any walk. If the columns are one vector, n is an axis of one point that nothing moves along.
//
// A dot instruction takes vectors: each lane of its sums adds up some neighbouring terms. Such terms are the only
// fragment of their walk, which may be the kernel's own: the sums are plain vectors, and the rest is as in any walk.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "ir/base/Target.h"
#include "ir/kernel/Product.h"
#include "ir/kernel/Walk.h"

namespace kiln::kernel {

struct MatrixProduct {
  mutable ReduceOp reduce;
  mlir::Value rows, columns; ///< as instructions take them, before they are widened to the sum's dtype
  int64_t m, k, n, p;        ///< the fragment axes, by id, from the outside in as in memory
};

/// A sum of products for an instruction that takes in several terms at a time, in each lane.
struct DotProduct {
  mutable ReduceOp reduce;
  mlir::Value a, b; ///< as instructions take them, before they are widened to the sum's dtype
  int64_t terms;    ///< the fragment axis, by id
};

/// Whether some axes of a walk are fragments.
bool hasFragments(const Walk &walk);
/// Whether they are those of matrices.
bool hasMatrices(const Walk &walk);
/// The product whose terms are a walk's only fragments; nullopt if there is none, or more moves along them.
std::optional<DotProduct> dotProductOf(const Walk &walk);
/// The product whose matrices a walk's fragments are; nullopt if there is none.
std::optional<MatrixProduct> matrixProductOf(const Walk &walk);

/// The axes of the domain past whose end terms are summed up: both operands must be 0 there.
llvm::SmallVector<size_t> axesPastEnd(const Walk &walk, const MatrixProduct &product);
/// The axes past whose end a stage holds 0, for matrix products that read it.
llvm::SmallVector<size_t> axesPastEnd(StageOp stage);

/// The layout of a matrix in memory.
struct MatrixView {
  view::Index first; ///< the place of its first element
  view::Expr pitch;  ///< from a row to the next; of columns, from p terms to the next
};

/// The place where an operand's matrix is read; nullopt if it is computed, or its elements have another order.
std::optional<MatrixView> rowsView(const Walk &walk, const MatrixProduct &product);
std::optional<MatrixView> columnsView(const Walk &walk, const MatrixProduct &product);
/// The place of the held sums.
std::optional<MatrixView> sumsView(const Walk &walk, const MatrixProduct &product);

/// The reason why a kernel's matrix and dot instructions cannot be made, as a clause; nullopt: they can. Later opts may
/// put an operand in place, so this is checked after the last.
std::optional<std::string> faultOfProducts(FuncOp func, TargetAttr target);

} // namespace kiln::kernel
