//===- Kernel.h - The kernel dialect: what one launch computes --------------------===//
#pragma once

#include "ir/base/Base.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/kernel/KernelDialect.h.inc"
#include "ir/kernel/KernelEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/kernel/KernelAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/kernel/KernelTypes.h.inc"
#define GET_OP_CLASSES
#include "ir/kernel/KernelOps.h.inc"

namespace kiln::kernel {

/// The variable of a loop axis, in [0, size).
view::Expr loopVariable(int64_t id, view::Expr size);
inline view::Expr loopVariable(AxisAttr axis) { return loopVariable(axis.getId(), axis.getSize().getValue()); }

/// The id of the loop axis whose variable this is; -1 for a symbol.
int64_t loopAxisOf(view::Expr variable);

/// The variable of a row that a load chooses among `size`, in [0, size); `number` tells the rows of lowered code apart.
view::Expr rowVariable(view::Expr size, int64_t number = 0);

/// The position at which a view of the domain's rank is read when the axes of the domain are at `index`: 0 along axes
/// that have one element in the view. If the view has one more axis, the row variable is its position there.
llvm::SmallVector<view::Expr> positionOf(llvm::ArrayRef<view::Expr> index, const view::ShapeTracker &tracker);

/// The tree of a kernel in tinygrad's form, one line per node:  0 ━┳ STORE MemBuffer(idx=0, …).
void printTree(FuncOp func, llvm::raw_ostream &os);

} // namespace kiln::kernel
