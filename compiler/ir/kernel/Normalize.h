//===- Normalize.h - A kernel's domain in its simplest form --------------------------===//
#pragma once

#include "ir/kernel/Kernel.h"

#include "llvm/ADT/StringSet.h"

#include <string>

namespace kiln::kernel {

/// The simplest domain on which a kernel's views stay the same maps: reduced axes last, no axis of size 1, and
/// neighbours merged if every view walks them as one.
struct Normalization {
  llvm::SmallVector<int64_t> order;                     ///< old axes in their new order, those of size 1 left out
  llvm::SmallVector<llvm::SmallVector<int64_t>> merged; ///< the old axes that make each new one
  view::Shape sizes;                                    ///< of the new axes
  unsigned reduced = 0;                                 ///< how many of the last new axes are reduced
};

/// For a kernel to which no opt has been applied. `order`: the axes in the order wanted, the domain's by default.
Normalization planNormalization(FuncOp func, llvm::ArrayRef<int64_t> order = {});

/// Rewrites views, axes and reduces.
void applyNormalization(FuncOp func, const Normalization &plan);

/// Gives a kernel a domain of these sizes, walked by one loop per axis.
void setDomain(FuncOp func, llvm::ArrayRef<view::Expr> sizes);

/// Gives an axis one point if no view moves along it and no reduce goes over it any more. For a kernel to which no opt
/// has been applied.
void dropUnusedAxis(FuncOp func, int64_t axis);

/// Splits axes in two if a view then walks each part by a stride, so that no division is needed to find an element. For
/// a kernel to which no opt has been applied.
void splitAxes(FuncOp func);

/// The same for reduced axes, a row of a product whose elements are stored head by head, and for others if those need
/// it: rows that are the sequences of a batch.
void splitReducedAxes(FuncOp func);

/// A kernel's own name, before repeats are told apart: r for a reduce, else E, outputs if there are several, and the
/// sizes of its normalized domain: r_512_512_512. A name that symbols make very long is cut.
std::string nameOf(FuncOp func);

/// The same, with n1, n2 … appended if `taken` has it already; adds it to `taken`.
std::string freshNameOf(FuncOp func, llvm::StringSet<> &taken);

} // namespace kiln::kernel
