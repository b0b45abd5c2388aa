//===- Rate.h - A number above 0, as a parameter of an attribute ----------------===//
#pragma once

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/bit.h"

namespace kiln {

/// Finite and above 0. It is written in as few digits as identify it.
struct Rate {
  double value = 1;

  operator double() const { return value; }
};

inline llvm::hash_code hash_value(Rate rate) { return llvm::hash_value(llvm::bit_cast<uint64_t>(rate.value)); }

mlir::AsmPrinter &operator<<(mlir::AsmPrinter &printer, Rate rate);

} // namespace kiln

template <> struct mlir::FieldParser<kiln::Rate> {
  static FailureOr<kiln::Rate> parse(AsmParser &parser);
};
