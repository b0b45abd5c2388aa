//===- Products.h - The table of instructions that multiply small matrices --===//
//
// Products.def has the rows. Renderers and the interpreter have tables of their own made from the same file, in the
// same order.
//
//===------------------------------------------------------------------------===//
#pragma once

#include "ir/base/DType.h"

namespace kiln {

/// The CPUs whose features a row's feature is one of.
enum class ProductCpu { X86, Arm };

struct ProductRow {
  llvm::StringLiteral name;
  ProductCpu cpu;
  llvm::StringLiteral feature;
  DType a, b, sum;
  int64_t m, n, k;
  bool isMade;                      ///< kiln makes code with it
  int64_t steps = 0, fastSteps = 0; ///< of a dot instruction, in multiply-adds: in general, and on CPUs with `fastWith`
  llvm::StringLiteral fastWith = ""; ///< a feature; "": it takes equally long on all
};

llvm::ArrayRef<ProductRow> productRows();
/// The number of the row with this name, or nullopt.
std::optional<size_t> productNumber(llvm::StringRef name);
/// The row with this name, or null.
const ProductRow *findProductRow(llvm::StringRef name);

} // namespace kiln
