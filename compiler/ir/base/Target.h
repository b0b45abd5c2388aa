//===- Target.h - The target of a module -------------------------------------===//
//
// Target.td says what it holds. Every stage reads it from the module, which the driver gives it when it is imported;
// the recipes in a module have targets of their own.
//
//===--------------------------------------------------------------------------===//
#pragma once

#include "ir/base/Base.h"
#include "ir/base/Rate.h"

#include "mlir/IR/BuiltinOps.h"

#define GET_ATTRDEF_CLASSES
#include "ir/base/TargetAttrs.h.inc"

namespace kiln {

/// The module's attribute that is a #kiln.target.
inline constexpr llvm::StringLiteral kTargetAttr = "kiln.target";

/// What the module is compiled for; TargetAttr::unknown where it does not say.
TargetAttr targetOf(mlir::ModuleOp module);

} // namespace kiln
