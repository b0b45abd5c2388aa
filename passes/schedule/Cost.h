//===- Cost.h - What work and sizes count for ----------------------------------===//
#pragma once

#include "ir/base/Alu.h"
#include "ir/graph/Graph.h"
#include "target/Target.h"
#include "view/Expr.h"

namespace kiln::schedule {

using target::typicalSize;
/// The product of such sizes.
double elementsOf(llvm::ArrayRef<view::Expr> shape);
/// Of a tensor; and how many bytes these take.
double elementsOf(mlir::Value tensor);
double bytesOf(mlir::Value tensor);

/// What an operation costs compared with an addition.
double operationsOf(Alu kind);

} // namespace kiln::schedule
