//===- LlvmTurn.h - Vectors of rows made vectors of columns -------------------===//
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace kiln::render {

/// Vector l of the result has lane l of each of the vectors, in their order: as many vectors as those have lanes. Both
/// numbers are powers of two.
llvm::SmallVector<llvm::Value *> turnVectors(llvm::IRBuilderBase &builder, llvm::ArrayRef<llvm::Value *> vectors);

} // namespace kiln::render
