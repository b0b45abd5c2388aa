//===- Gradient.h - Derivatives by reverse-mode differentiation --------------===//
//
// A graph of primitives is differentiated op by op, from its result back: each op's rule says what a change of its
// result by d means for its operands. Composed operators need no rule of their own. The derivatives consist of the same
// primitives, so that they fuse like everything else and can be differentiated again.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/TensorBuilder.h"

namespace kiln::import {

/// The derivatives of the sum of y's elements by each of `xs`, made at the builder's place; y and all of xs are floats
/// of one block before it. An element of xs counts as independent of the others, even if it is computed from them; one
/// that y does not depend on has the derivative 0. If a maximum's operands are equal, each has half of the derivative.
/// Null values after a failure: calls, control flow, products of elements and functions of bits have no derivative
/// here.
llvm::SmallVector<mlir::Value> gradients(TensorBuilder &b, mlir::Value y, llvm::ArrayRef<mlir::Value> xs);

} // namespace kiln::import
