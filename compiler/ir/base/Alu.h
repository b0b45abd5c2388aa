//===- Alu.h - The table of element-wise operations ------------------------===//
//
// Alu.def has the rows and the meaning of each operation.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/TypeRange.h"
#include "mlir/IR/Types.h"
#include "mlir/Support/LogicalResult.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace kiln {

enum class Alu : uint32_t {
#define KILN_ALU(NAME, ...) NAME,
#include "ir/base/Alu.def"
};

enum class AluRule { Same, Compare, Select, Scale, Convert, Reinterpret };

struct AluInfo {
  llvm::StringLiteral name;
  llvm::StringLiteral mnemonic;
  unsigned arity;
  AluRule rule;
  llvm::StringLiteral c;
};

const AluInfo &aluInfo(Alu kind);
/// "UnaryOps.NEG", "BinaryOps.ADD", "TernaryOps.WHERE": the name in listings and trees.
std::string aluListingName(Alu kind);
std::optional<Alu> symbolizeAlu(llvm::StringRef mnemonic);
llvm::StringRef stringifyAlu(Alu kind);

/// Checks arity and element types against the row's rule; `emit` starts the diagnostic.
llvm::LogicalResult verifyAlu(Alu kind, mlir::TypeRange operands, mlir::Type result,
                              llvm::function_ref<mlir::InFlightDiagnostic()> emit);

} // namespace kiln
