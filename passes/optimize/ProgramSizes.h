//===- ProgramSizes.h - Numbers over the sizes that a program is given -------------------===//
//
// The symbols of a model are arguments of its program (i64). It reads or computes further ones as it runs. Numbers of
// bytes and places are expressions over both: in the program as a value, in a pass as an Expr over variables of the
// symbols' names and bounds.
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
  /// The argument for this variable, or the value that the program's block has for it from some op on; null if there is
  /// neither.
  mlir::Value valueOf(view::Expr variable) const { return values_.lookup(variable); }
  /// Whether everything that an expression needs is known before this op.
  bool areKnown(view::Expr expr, mlir::Operation *before) const;
  /// An expression as a value, from existing values at the builder's place, where they have to be known.
  mlir::Value emit(mlir::OpBuilder &builder, view::Expr expr) const;
  /// Parts of sizes that the program's first checks hold to be equal to others: a quotient, as (h+3)//4, and a multiple
  /// of one with a larger divisor, as 2*((h+7)//8). Before these checks nothing is launched.
  const llvm::DenseMap<view::Expr, view::Expr> &equal() const { return equal_; }
  /// With the default values of all sizes.
  int64_t defaultOf(view::Expr expr) const { return expr.evaluate(defaults_).value_or(0); }

private:
  /// Ops that compute with the sizes of a run, or hand them to kernels, know their names.
  void nameComputed(host::ProgramOp program);
  void readChecks(host::ProgramOp program);

  mlir::Location loc_;
  llvm::DenseMap<view::Expr, mlir::Value> values_; ///< null: two have this name
  llvm::DenseMap<mlir::Value, view::Expr> variables_;
  llvm::DenseMap<view::Expr, int64_t> defaults_;
  llvm::DenseMap<view::Expr, view::Expr> equal_;
};

} // namespace kiln::optimize
