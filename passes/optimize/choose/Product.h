//===- Product.h - Sums of products, and how their operands move -----------------===//
#pragma once

#include "ir/base/Target.h"
#include "ir/kernel/Kernel.h"
#include "ir/kernel/Operands.h"
#include "ir/kernel/Product.h"

#include "llvm/ADT/SmallBitVector.h"

namespace kiln::optimize {

/// A size, or that of an axis of the domain; -1: it is not fixed.
inline int64_t fixedSize(view::Expr size) { return size.asConst().value_or(-1); }
inline int64_t fixedSize(kernel::FuncOp func, size_t axis) { return fixedSize(func.getDomain().getSizes()[axis]); }

/// How one load or store moves along each axis of the domain of a kernel without opts.
struct Access {
  mlir::Operation *op;
  unsigned buffer;
  llvm::SmallVector<std::optional<view::Expr>, 4> strides; ///< nullopt: it moves by no stride

  bool isStill(size_t axis) const { return strides[axis] && strides[axis]->isConst(0); }
  bool isContiguous(size_t axis) const { return strides[axis] && strides[axis]->isConst(1); }
};

Access accessOf(kernel::LoadOp load);
Access accessOf(kernel::StoreOp store);
/// How far apart in memory the elements of `count` points along an axis are, from each multiple of `count` on: of an
/// axis whose points lie in parts, within these. Nullopt if that is no number.
std::optional<int64_t> strideWithin(const Access &access, size_t axis, int64_t count);
/// Whether an access has no points at which it is masked.
bool isWhole(const Access &access);
/// The bytes of an element in memory.
int64_t bytesOfElement(const Access &access);

using kernel::dependsOn;
using kernel::onlyLoadOf;

/// The dot instruction for a product of narrow operands, in their order, if it is faster than multiply-adds of widened
/// ones; null: none is.
ProductAttr fastDot(const kernel::Product &product, TargetAttr target);

/// Whether a matrix or dot instruction adds up several of a product's narrow terms at a time.
bool hasFastInstruction(const kernel::Product &product, TargetAttr target);

/// A sum of products of an operand that moves along `m` and one that moves along `n`: what a register tile is for.
struct TiledProduct {
  kernel::Product sum;
  unsigned rowSide;     ///< which of its operands the rows are
  Access rows, columns; ///< still along n, and along m
  size_t m, n;
  bool packs = false;   ///< the columns are a weight: they are packed before, so lanes can run along any n
  bool areLoads = true; ///< each operand is made of one load; else all sizes are fixed, or the columns are a weight

  const kernel::Operand &rowOperand() const { return sum.operands[rowSide]; }
  const kernel::Operand &columnOperand() const { return sum.operands[1 - rowSide]; }
  /// Whether rows are computed from several loads: a mask gates them, or a scale is a tensor.
  bool computesRows() const { return !rowOperand().onlyLoad(); }
  /// Whether columns are, or looked up in a table: to read one again takes long.
  bool computesColumns() const {
    kernel::LoadOp load = columnOperand().onlyLoad();
    return !load || load.getRow();
  }
  /// Whether a vector of columns is made of what lies side by side in memory, or is the same for all, and has no mask.
  bool areVectors() const;
};

/// The product that is a kernel's only reduce, if there is one. `weights` says which buffers are the same in every run.
/// `relays`: the result can be laid out such that it is contiguous along n.
std::optional<TiledProduct> findProduct(kernel::FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights,
                                        bool relays = false);

/// A sum of floats whose terms are sums of products: the columns are a weight of few bits, with scales for blocks of
/// its rows.
struct BlockProduct {
  kernel::Product product; ///< of a block
  unsigned columnSide;     ///< which of its operands the weight is
  Access matrix, rows;     ///< the weight, and what it is multiplied with
  ProductAttr dot;         ///< the instruction; null: of floats
  size_t n, terms;         ///< axes: columns; terms of a dot
  std::optional<size_t> m; ///< of rows, if there are several
};

/// That of a kernel which is nothing else, of floats or of what a dot instruction multiplies; `weights` says which
/// buffers are the same in every run.
std::optional<BlockProduct> findBlocks(kernel::FuncOp func, TargetAttr target, const llvm::SmallBitVector &weights);

} // namespace kiln::optimize
