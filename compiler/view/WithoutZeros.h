//===- WithoutZeros.h - Bounds of sizes where something is read ----------------===//
#pragma once

#include "view/Expr.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

namespace kiln::view {

/// Variables of these sizes, and the same ones with bounds that leave none of the sizes 0, for proofs about views that
/// nobody reads if a size is 0. None if with these bounds one of `all` sizes would be below 0: there is no such view.
/// If a variable has one such value alone, that number stands for it where `mayDecide` says so.
llvm::DenseMap<Expr, Expr> withoutZeros(llvm::ArrayRef<Expr> sizes, llvm::ArrayRef<Expr> all, bool mayDecide = false);

} // namespace kiln::view
