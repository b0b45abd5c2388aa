//===- DataSizes.h - Axes and sizes that are data ----------------------------===//
//
// An input that only determines shapes (axes to reduce, amounts to pad, a shape to take) may be known only at run time.
// Its elements then become symbols that the host reads (Node::numbers), and everything that follows from them is an
// expression over those: a few instructions of the host, while kernels see sizes as usual. The axes in a list then no
// longer decide which axes an op has, but how long they are. An axis i of size d is split into two; one has all its
// elements and the other has size 1: outer·inner = d. Reducing the inner ones reduces the axes in the list.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/onnx/Node.h"

namespace kiln::import::onnx {

/// 1 where a == b, else 0.
view::Expr isEqual(view::Expr a, view::Expr b);
/// `a` where the condition (0/1) holds, else `b`.
view::Expr choose(view::Expr condition, view::Expr a, view::Expr b);

/// An input's elements as axes of a tensor of this rank, counted from the front. Null, and a failure noted, if they are
/// not a short list of integers or a constant one is out of range; data is checked at run time.
std::optional<Elements> axesInput(Node &n, int index, llvm::StringRef what, int64_t rank);
/// Whether all of them are numbers.
bool areKnown(llvm::ArrayRef<view::Expr> numbers);

/// A size `what` of the node's output that a run computes, by an int64 scalar. Negative ones are 0. One that no tensor
/// can have ends the run: "CAUSE is too long".
view::Expr computedSize(Node &n, llvm::StringRef what, mlir::Value count, const llvm::Twine &cause);

/// For each of `rank` axes, whether the list names it: 0/1 expressions.
llvm::SmallVector<view::Expr> namedAxes(llvm::ArrayRef<view::Expr> axes, int64_t rank);

/// The input with each axis i split into outer i and inner i; the inner one is whole if `named` holds.
mlir::Value splitAxes(Node &n, TensorBuilder &b, mlir::Value x, llvm::ArrayRef<view::Expr> named);

/// The shape without the axes for which `dropped` holds, `count` in number.
Shape shapeWithout(Node &n, llvm::ArrayRef<view::Expr> shape, llvm::ArrayRef<view::Expr> dropped, int64_t count);

/// Parts of these sizes along an axis, one after the other. Sizes that are data are checked at run time. Empty, and a
/// failure noted, if they cannot make up the axis.
llvm::SmallVector<mlir::Value> partsOf(Node &n, TensorBuilder &b, mlir::Value x, int64_t axis, Elements sizes);

/// The input as [before, along, after] one axis that is data.
mlir::Value aroundAxis(Node &n, TensorBuilder &b, mlir::Value x, view::Expr axis);

} // namespace kiln::import::onnx
