//===- Listing.h - The uops of a kernel, in tinygrad's columns --------------===//
#pragma once

#include "render/kernel/Linear.h"

namespace kiln::render {

/// One line per uop: row, name, dtype, sources (rows; constants by value, quoted), argument. The columns are those of
/// tinygrad v0.9.2. Uops that it lacks are UOps.ELSE, UOps.DEFINE_REG and TernaryOps.FMA.
std::string listing(const LinearProgram &program);
inline std::string listing(uop::FuncOp function) { return listing(linearize(function)); }

} // namespace kiln::render
