//===- Fold.h - Integer arithmetic at import --------------------------------===//
#pragma once

#include "import/onnx/Node.h"

namespace kiln::import::onnx {

/// One element of a result from those of the operands; nullopt if it is not known at import.
using ElementFunction = std::optional<view::Expr> (*)(llvm::ArrayRef<view::Expr> operands);

/// An element-wise function of the node's inputs, broadcast, as a tensor of this dtype. Null if an input's elements are
/// not known, an element has no value that the dtype holds, or the shapes do not fit.
Tensor foldElementwise(Node &node, mlir::Type element, ElementFunction function);
Tensor foldElementwise(llvm::ArrayRef<const Tensor *> inputs, mlir::Type element, ElementFunction function);

/// The same elements, in row-major order, under a shape that has as many; null if they are not known.
Tensor foldReshape(const Tensor &tensor, llvm::ArrayRef<view::Expr> shape);

/// Tensors of this rank whose elements are known, joined along their first axis, or with rank 0 single numbers as a
/// list; null if one is not such a tensor.
Tensor foldConcat(llvm::ArrayRef<Tensor> tensors, int64_t rank);

/// Parts of these sizes of a list of known elements; empty where it is not such a list or the sizes do not make it up.
llvm::SmallVector<Tensor> foldSplit(const Tensor &tensor, llvm::ArrayRef<view::Expr> sizes);

/// True if a constant is a number of this integer dtype; symbolic elements are sizes and always fit.
bool fitsInto(view::Expr element, mlir::Type type);

// Element functions.
std::optional<view::Expr> foldAdd(llvm::ArrayRef<view::Expr> x);
std::optional<view::Expr> foldSub(llvm::ArrayRef<view::Expr> x);
std::optional<view::Expr> foldMul(llvm::ArrayRef<view::Expr> x);
/// Truncates, so it needs to know the signs.
std::optional<view::Expr> foldDiv(llvm::ArrayRef<view::Expr> x);
std::optional<view::Expr> foldMod(llvm::ArrayRef<view::Expr> x);
std::optional<view::Expr> foldMin(llvm::ArrayRef<view::Expr> x);
std::optional<view::Expr> foldMax(llvm::ArrayRef<view::Expr> x);
std::optional<view::Expr> foldAbs(llvm::ArrayRef<view::Expr> x);
std::optional<view::Expr> foldNeg(llvm::ArrayRef<view::Expr> x);
/// Of a bool.
std::optional<view::Expr> foldNot(llvm::ArrayRef<view::Expr> x);
std::optional<view::Expr> foldNotEqual(llvm::ArrayRef<view::Expr> x);
std::optional<view::Expr> foldEqual(llvm::ArrayRef<view::Expr> x);
std::optional<view::Expr> foldLess(llvm::ArrayRef<view::Expr> x);
std::optional<view::Expr> foldLessEqual(llvm::ArrayRef<view::Expr> x);
std::optional<view::Expr> foldWhere(llvm::ArrayRef<view::Expr> x);

} // namespace kiln::import::onnx
