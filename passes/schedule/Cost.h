//===- Cost.h - What work and sizes count for ----------------------------------===//
#pragma once

#include "ir/base/Alu.h"
#include "target/Target.h"
#include "view/Expr.h"

namespace kiln::schedule {

using target::typicalSize;
/// The product of such sizes.
double elementsOf(llvm::ArrayRef<view::Expr> shape);

/// What an operation costs compared with an addition.
double operationsOf(Alu kind);

} // namespace kiln::schedule
