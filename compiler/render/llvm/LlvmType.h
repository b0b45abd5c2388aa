//===- LlvmType.h - Dtypes as LLVM holds them ---------------------------------===//
//
// Registers and memory differ in one case: a bool is an i1 in a register and one byte, 0 or 1, in memory. bf16 is an
// i16 everywhere, since CPUs without instructions for it would call a library that many systems lack; f16 is LLVM's
// half.
//
//===--------------------------------------------------------------------------===//
#pragma once

#include "ir/base/Base.h"

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IRBuilder.h"

namespace kiln::render {

/// The type of a value: a scalar or vector of any dtype.
llvm::Type *registerType(llvm::LLVMContext &context, mlir::Type type);
/// The type of such a value in memory.
llvm::Type *memoryType(llvm::LLVMContext &context, mlir::Type type);

/// `type`, or a vector of it with as many lanes as `shape` has, where `shape` is one.
llvm::Type *withLanesOf(llvm::Type *type, llvm::Type *shape);

/// A scalar constant of any dtype.
llvm::Constant *constantOf(llvm::LLVMContext &context, mlir::TypedAttr value);

/// An integer other than bool and the unsigned ones.
bool isSigned(mlir::Type element);

} // namespace kiln::render
