//===- Order.h - Which elements are the largest ----------------------------------===//
#pragma once

#include "import/TensorBuilder.h"

namespace kiln::import {

/// For each element, how many elements along the last axis come before it, the largest (or smallest) first, as int64.
/// NaN is above all, and equal ones keep their order. Each pair is compared.
mlir::Value placesInOrder(TensorBuilder &b, mlir::Value x, bool largestFirst = true);

/// The places along the last axis of the first `count` elements in that order, as int64. Pairs are compared if the axis
/// is short, which kernels do next to other work; the host orders the elements of a long one.
mlir::Value firstPlaces(TensorBuilder &b, mlir::Value x, Expr count, bool largestFirst = true);

/// The places along the last axis of the elements with the first `count` of these ranks, in order.
mlir::Value firstInOrder(TensorBuilder &b, mlir::Value places, Expr count);

} // namespace kiln::import
