//===- Host.h - The host dialect: the program that launches kernels ----------------===//
#pragma once

#include "ir/base/Base.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace kiln::host {
/// The axes that an input, an output or a weight may have: what the tables of kiln/program.h hold.
inline constexpr int64_t kMaxPortRank = 8;
} // namespace kiln::host

#include "ir/host/HostDialect.h.inc"
#include "ir/host/HostEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/host/HostAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/host/HostTypes.h.inc"
#define GET_OP_CLASSES
#include "ir/host/HostOps.h.inc"
