//===- Graph.h - The graph dialect: tensors, their movement and arithmetic ---===//
#pragma once

#include "ir/base/Base.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/graph/GraphDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/graph/GraphAttrs.h.inc"
#define GET_OP_CLASSES
#include "ir/graph/GraphOps.h.inc"

namespace kiln::graph {

/// The names of function argument and result attributes.
inline constexpr llvm::StringLiteral kNameAttr = "graph.name";
inline constexpr llvm::StringLiteral kValueAttr = "graph.value";
inline constexpr llvm::StringLiteral kAliasAttr = "graph.alias";
/// The module's list of SymbolAttr.
inline constexpr llvm::StringLiteral kSymbolsAttr = "kiln.symbols";
/// What --check reads of a node's indices; the symbol is called "NODE.least index".
inline constexpr llvm::StringLiteral kLeastIndex = "least index", kLargestIndex = "largest index";

/// The identity of a reduction: 0, 1, or the dtype's lowest or highest value.
mlir::TypedAttr reductionIdentity(Alu kind, mlir::Type element);

/// The place of an assign's value in its target: all of it, or the part that begins at `begin`.
view::ShapeTracker placeOf(AssignOp assign);

} // namespace kiln::graph
