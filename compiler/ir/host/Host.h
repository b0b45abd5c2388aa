//===- Host.h - The host dialect: the program that launches kernels ----------------===//
#pragma once

#include "ir/base/Base.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace kiln::host {
/// The most axes of an input, an output or a weight: those that the tables of kiln/program.h hold.
inline constexpr int64_t kMaxPortRank = 8;
} // namespace kiln::host

// The text after ops that make or take memory of another device than the first: ` on 1`, for a copy ` to 1 from 0`, if
// several differ ` on [0, 1]`.
namespace kiln::host {
mlir::ParseResult parseDevice(mlir::OpAsmParser &parser, mlir::Type &slice);
void printDevice(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type slice);
mlir::ParseResult parseTwoDevices(mlir::OpAsmParser &parser, mlir::Type &to, mlir::Type &from);
void printTwoDevices(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type to, mlir::Type from);
mlir::ParseResult parseDevices(mlir::OpAsmParser &parser, llvm::ArrayRef<mlir::OpAsmParser::UnresolvedOperand> buffers,
                               llvm::SmallVectorImpl<mlir::Type> &slices);
void printDevices(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::OperandRange buffers, mlir::TypeRange slices);
} // namespace kiln::host

#include "ir/host/HostDialect.h.inc"
#include "ir/host/HostEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/host/HostAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/host/HostTypes.h.inc"
#define GET_OP_CLASSES
#include "ir/host/HostOps.h.inc"

namespace kiln::host {
/// The number of the device that owns the slice's memory.
inline int64_t deviceOf(mlir::Value slice) { return llvm::cast<SliceType>(slice.getType()).getDevice(); }
} // namespace kiln::host
