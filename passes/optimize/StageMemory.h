//===- StageMemory.h - The layout of a stage's memory, and its number of buffers -----===//
#pragma once

#include "ir/kernel/Walk.h"

#include "llvm/Support/Error.h"

namespace kiln::optimize {

/// The dimension of memory for a loop axis of a walk. An error if the axis goes through the domain in uneven
/// steps.
llvm::Expected<kernel::PartAttr> partOf(const kernel::Walk &walk, kernel::AxisAttr axis);

/// Points held along an axis of the domain are neighbours, or as far apart as all of a part around them.
llvm::Error checkParts(llvm::ArrayRef<mlir::Attribute> layout);

/// The opt LAYOUT: lays the memory of the stage whose walk this is out along the walk's axes, in the opt's order.
llvm::Error layOut(kernel::FuncOp func, kernel::OptAttr opt, const kernel::Walk &walk);

/// The opt BUFFERS: the stage has as many buffers as the opt's amount, and is filled that much ahead.
llvm::Error giveBuffers(kernel::FuncOp func, kernel::OptAttr opt, const kernel::Walk &walk);

} // namespace kiln::optimize
