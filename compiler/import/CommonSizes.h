//===- CommonSizes.h - Sizes that broadcasting gives ---------------------------===//
//
// Axes of n and of m elements are broadcast where both are equal or one is 1. Where only a run knows n and m, it also
// decides which of these holds. The common size is then a symbol s, which the host program binds, and each axis has a
// step: 1 where its size is s, 0 where it is a 1 that is repeated. An axis of step r is called 1 + r·(s - 1), which is
// what its size is in both cases: element i of the result reads element r·i, and that is within the axis as a
// polynomial says it. With r = 1 nothing is left of all this; kernels are compiled for that, too.
//
//===-----------------------------------------------------------------------------===//
#pragma once

#include "import/Symbols.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"

namespace kiln::import {

class CommonSizes {
public:
  explicit CommonSizes(Symbols &symbols) : symbols_(symbols) {}
  const Symbols &symbols() const { return symbols_; }
  /// A new symbol for an int64 scalar, which the host reads. Errors of a run call it `meaning`, "the length of 'y'", if
  /// that is not empty.
  view::Expr read(llvm::StringRef name, mlir::Value scalar, SymbolBounds bounds, mlir::OpBuilder &builder,
                  mlir::Location location, llvm::StringRef meaning = "");
  /// At the head of this block is bound what follows from the inputs' sizes alone, so that the whole model sees it.
  void bindIn(mlir::Block &entry) { entry_ = &entry; }

  /// The size that axes of `a` and `b` elements are broadcast to, where they can be.
  view::Expr of(view::Expr a, view::Expr b, llvm::StringRef node, mlir::OpBuilder &builder, mlir::Location location);
  /// Whether `part` is `whole` or 1, wherever there is a tensor of size `whole`.
  bool isPart(view::Expr part, view::Expr whole) const;
  /// 1 where `part` is `whole`, else 0.
  view::Expr stepOf(view::Expr part, view::Expr whole, llvm::StringRef node, mlir::OpBuilder &builder,
                    mlir::Location location);

private:
  /// A symbol with the value of `value`: one that is bound already where the insertion point sees it.
  view::Expr named(llvm::StringRef name, view::Expr value, SymbolBounds bounds, mlir::OpBuilder &builder,
                   mlir::Location location);

  Symbols &symbols_;
  mlir::Block *entry_ = nullptr;
  mlir::Operation *last_ = nullptr;                                 ///< of those bound there
  llvm::DenseMap<view::Expr, view::Expr> names_;                    ///< what is bound there, by its value
  llvm::DenseMap<view::Expr, llvm::SmallVector<view::Expr>> parts_; ///< of a symbol that of() gave
};

} // namespace kiln::import
