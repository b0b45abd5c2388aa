//===- Target.h - The target of a module -------------------------------------===//
//
// Target.td lists its fields. Every stage reads it from the module, which gets it from the driver at import; the
// recipes in a module have targets of their own.
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

/// The module's target; TargetAttr::unknown if it does not have one.
TargetAttr targetOf(mlir::ModuleOp module);

} // namespace kiln
