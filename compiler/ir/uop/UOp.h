//===- UOp.h - The uop dialect: what one item of a launch executes --------------===//
#pragma once

#include "ir/base/Base.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/uop/UOpDialect.h.inc"
#include "ir/uop/UOpEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/uop/UOpAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/uop/UOpTypes.h.inc"
#define GET_OP_CLASSES
#include "ir/uop/UOpOps.h.inc"

namespace kiln::uop {

/// The lanes of a vector type; 1 for a scalar.
unsigned lanesOf(mlir::Type type);

} // namespace kiln::uop
