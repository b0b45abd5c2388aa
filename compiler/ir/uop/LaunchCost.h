//===- LaunchCost.h - Attributes of a kernel that listings show --------------------===//
#pragma once

#include "ir/uop/UOp.h"

namespace kiln::uop {

/// Attributes of a func: expressions over its sizes.
inline constexpr llvm::StringLiteral kModelOperations = "uop.model_operations";
inline constexpr llvm::StringLiteral kExpectedPicoseconds = "uop.expected_picoseconds";

/// A text: kiln_kernel.axes.
inline constexpr llvm::StringLiteral kAxes = "uop.axes";

/// The operations that the model asks for, without index and mask arithmetic and recomputation; all operations of the
/// code if a dump does not say.
inline view::Expr modelOperationsOf(FuncOp func) {
  auto known = func->getAttrOfType<ExprAttr>(kModelOperations);
  return known ? known.getValue() : func.getOperations().getValue();
}

/// The expected time of a launch by the device's rates; 0 if a dump does not say.
inline view::Expr expectedPicosecondsOf(FuncOp func) {
  auto known = func->getAttrOfType<ExprAttr>(kExpectedPicoseconds);
  return known ? known.getValue() : view::Expr(0);
}

/// "" if a dump does not say.
inline llvm::StringRef axesOf(FuncOp func) {
  auto known = func->getAttrOfType<mlir::StringAttr>(kAxes);
  return known ? known.getValue() : "";
}

} // namespace kiln::uop
