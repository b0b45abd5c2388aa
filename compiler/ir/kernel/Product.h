//===- Product.h - A sum of products, and what its operands are made of -------------===//
//
// Matrix products, convolutions and both halves of attention are one thing in a kernel: a reduce that adds up what a
// MUL makes. Whatever gives such a sum a register tile, a panel or an instruction asks the same of its two operands:
// which loads they are made of, and what a narrow one is before it is widened, since an instruction widens by itself.
// All these questions are answered here, so that no two passes disagree about what a product is.
//
//===-------------------------------------------------------------------------------===//
#pragma once

#include "ir/kernel/Kernel.h"

#include <array>

namespace kiln::kernel {

/// The loads that a value is made of by element-wise ops, in the order in which they are reached from it; and whether a
/// reduce or a stage is among what it is made of, which these loads do not tell of.
struct Sources {
  llvm::SmallVector<LoadOp, 2> loads;
  bool hasReduce = false, hasStage = false;
};
Sources sourcesOf(mlir::Value value);

/// The one load that a value is made of by element-wise ops; null when there are several, none, a reduce or a stage.
LoadOp onlyLoadOf(mlir::Value value);

/// An operand before it was widened for the product; null: it is not widened.
mlir::Value narrowOperand(mlir::Value operand);

/// The tensor that an operand of a dot instruction is read from: its source, where registers widen it once more, else
/// itself.
mlir::Value readOperand(mlir::Value operand);

/// One factor of a sum of products.
struct Operand {
  mlir::Value value;  ///< as it is multiplied
  mlir::Value narrow; ///< as an instruction takes it, before it is widened for the product; null: it is not widened

  LoadOp onlyLoad() const { return onlyLoadOf(value); }
  /// The load with the most elements among those that it is made of; null if it has no loads, or a reduce.
  LoadOp widestLoad() const;
};

/// A sum of products. Its kernel may have opts: then a stage may stand for what an operand was.
struct Product {
  mutable ReduceOp reduce;
  mutable AluOp multiply;
  std::array<Operand, 2> operands; ///< in the order of `multiply`

  /// Whether both operands are widened for it, so that an instruction may take them before.
  bool isNarrow() const { return operands[0].narrow && operands[1].narrow; }
  mlir::Type sum() const { return reduce.getResult().getType(); }
};

/// The product that a reduce adds up; nullopt where it does something else, or weighs by scores.
std::optional<Product> productOf(ReduceOp reduce);
/// That of a kernel's only reduce; nullopt if it has none or several.
std::optional<Product> onlyProductOf(FuncOp func);

} // namespace kiln::kernel
