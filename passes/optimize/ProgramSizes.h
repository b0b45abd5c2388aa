//===- ProgramSizes.h - Numbers over the sizes that a program is given -------------------===//
//
// The symbols of a model are arguments of its program (i64), and numbers of bytes and places are expressions over them:
// in the program as a value, in a pass as an Expr over variables of the symbols' names and bounds.
//
//===------------------------------------------------------------------------------------===//
#pragma once

#include "ir/host/Host.h"
#include "view/Expr.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace kiln::optimize {

class ProgramSizes {
public:
  explicit ProgramSizes(host::ProgramOp program);

  /// The expression of a value of the program; nullopt if it is data.
  std::optional<view::Expr> exprOf(mlir::Value value) const;
  /// The argument for this variable; null if there is none.
  mlir::Value argumentOf(view::Expr variable) const { return arguments_.lookup(variable); }
  /// An expression as a value, from existing values at the builder's place.
  mlir::Value emit(mlir::OpBuilder &builder, view::Expr expr) const;
  /// With the default values of all sizes.
  int64_t defaultOf(view::Expr expr) const { return expr.evaluate(defaults_).value_or(0); }

private:
  mlir::Location loc_;
  llvm::DenseMap<view::Expr, mlir::Value> arguments_;
  llvm::DenseMap<mlir::Value, view::Expr> variables_;
  llvm::DenseMap<view::Expr, int64_t> defaults_;
};

} // namespace kiln::optimize
