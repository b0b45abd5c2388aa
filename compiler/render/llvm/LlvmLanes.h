//===- LlvmLanes.h - Vectors made of other vectors' lanes ---------------------===//
//
// Code that stores what lies apart takes vectors to lanes and puts these together again. Lane by lane each vector would
// be a chain of steps that wait for each other, so two common kinds of them are found and made by few shuffles.
//
//===--------------------------------------------------------------------------===//
#pragma once

#include "ir/uop/UOp.h"

#include "llvm/IR/IRBuilder.h"

namespace kiln::render {

/// Lane l of several vectors, and for all l: makes all of these at once. Empty if the op is not one of them.
llvm::SmallVector<std::pair<uop::VectorizeOp, llvm::Value *>>
turnLanes(llvm::IRBuilderBase &builder, uop::VectorizeOp op, llvm::function_ref<llvm::Value *(mlir::Value)> valueOf);

/// Lanes of a few vectors. Null if the op is made of anything else.
llvm::Value *pickLanes(llvm::IRBuilderBase &builder, uop::VectorizeOp op,
                       llvm::function_ref<llvm::Value *(mlir::Value)> valueOf);

} // namespace kiln::render
