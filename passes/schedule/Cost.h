//===- Cost.h - What work and sizes count for ----------------------------------===//
#pragma once

#include "ir/base/Alu.h"
#include "view/Expr.h"

namespace kiln::schedule {

/// A size as a number. One that is not known yet counts as 16, or as the nearest that its bounds allow.
double typicalSize(view::Expr size);
/// The product of such sizes.
double elementsOf(llvm::ArrayRef<view::Expr> shape);

/// What an operation costs beside an addition.
double operationsOf(Alu kind);

} // namespace kiln::schedule
