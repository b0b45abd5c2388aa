//===- Sizes.h - Numbers that follow from the sizes of a run ------------------===//
#pragma once

#include "ir/host/Host.h"

#include "mlir/IR/Builders.h"

namespace kiln::host {

/// The value of `expr`, made at the place of `builder`: a constant, the value of its only variable, or a host.eval.
/// `valueOf` gives each variable's.
mlir::Value evaluate(mlir::OpBuilder &builder, mlir::Location loc, view::Expr expr,
                     llvm::function_ref<mlir::Value(view::Expr)> valueOf);

/// The value of `expr`, made at the place of `builder`. `symbols` are the sizes that the launch's kernel takes, in
/// their order; the new value names the program's own, whose bounds may be wider.
mlir::Value evaluate(mlir::OpBuilder &builder, LaunchOp launch, llvm::ArrayRef<view::Expr> symbols, view::Expr expr);

} // namespace kiln::host
