//===- LlvmProducts.h - LLVM's intrinsics for the products of a target ------------===//
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace kiln::render {

/// The intrinsic of a matrix instruction of x86's tiles, by the name that the target has for it.
llvm::Intrinsic::ID matrixIntrinsic(llvm::StringRef name);

/// Emits a dot instruction, by the name that the target has for it: the sum with the products of neighbouring terms
/// added in each lane. `x` and `y` have the terms of all lanes, or once what all lanes take. The lanes may be several
/// times the instruction's.
llvm::Value *emitDot(llvm::IRBuilderBase &b, llvm::StringRef name, llvm::Value *x, llvm::Value *y, llvm::Value *sum);

} // namespace kiln::render
