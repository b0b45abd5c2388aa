//===- LlvmLookup.h - Bytes of vectors looked up in a table ----------------------------===//
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace kiln::render {

/// For each lane of `index`, a vector of bytes, the byte of the table of 256 that it numbers. For a CPU with vpermi2b,
/// which finds bytes in two vectors of 64.
llvm::Value *emitLookup(llvm::IRBuilderBase &b, llvm::Value *table, llvm::Value *index);

} // namespace kiln::render
