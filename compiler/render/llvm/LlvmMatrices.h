//===- LlvmMatrices.h - Matrix instructions, and loops of them as functions ------------===//
//
// x86's matrix registers are configured once per function, each for one shape. A kernel with products of several shapes
// keeps each loop of them in a function of its own. That is cut out at the end, when the blocks are whole.
//
//===----------------------------------------------------------------------------------===//
#pragma once

#include "ir/uop/UOp.h"

#include "llvm/IR/IRBuilder.h"

namespace kiln::render {

/// Whether a value is in a matrix register.
bool isMatrix(mlir::Type type);

/// A matrix of this type, all zeros.
llvm::Value *zeroMatrix(llvm::IRBuilderBase &b, mlir::Type type);
/// The bytes from a row of a matrix in memory to the next, which are so many elements apart.
llvm::Value *pitchInBytes(llvm::IRBuilderBase &b, mlir::Type matrix, llvm::Value *elements);
/// `pitch`: in bytes.
llvm::Value *loadMatrix(llvm::IRBuilderBase &b, mlir::Type type, llvm::Value *address, llvm::Value *pitch);
void storeMatrix(llvm::IRBuilderBase &b, mlir::Type type, llvm::Value *address, llvm::Value *pitch,
                 llvm::Value *stored);
/// The op's sums, with the product of these rows and columns added.
llvm::Value *multiplyMatrices(llvm::IRBuilderBase &b, uop::WmmaOp op, llvm::Value *sum, llvm::Value *rows,
                              llvm::Value *columns);

/// The loops of a kernel that have to be functions of their own; none if all its products have one shape.
class MatrixPhases {
public:
  explicit MatrixPhases(uop::FuncOp kernel);
  /// To be called before and after each op is rendered: has a phase begin and end with a block.
  void before(mlir::Operation &op, llvm::IRBuilderBase &b);
  void after(mlir::Operation &op, llvm::IRBuilderBase &b);
  /// Makes each phase of the kernel's whole function a function.
  void split(llvm::Function &function) const;

private:
  /// Loops that multiply matrices of the same shapes, and store their sums.
  struct Phase {
    mlir::Operation *first, *last; ///< in one block
    llvm::BasicBlock *begin = nullptr, *end = nullptr;
  };
  llvm::SmallVector<Phase> phases_;
};

} // namespace kiln::render
