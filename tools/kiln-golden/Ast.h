//===- Ast.h - A kernel against the reference's AST ----------------------===//
#pragma once

#include "tools/kiln-golden/Report.h"

#include "ir/kernel/Kernel.h"

namespace kiln::golden {

/// Compares a kernel to which no opt was applied with an AST as a post-order list: the same ops on the same operands,
/// buffers by position (outputs, then inputs), views field by field. Each difference is a mismatch that begins with
/// `where`.
void checkAst(kernel::FuncOp func, const Json &ast, const std::string &where, Report &report);

} // namespace kiln::golden
