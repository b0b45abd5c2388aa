//===- Operators.h - The operators that a JSON graph may name ----------------===//
//
// One table per family: the operator's name, how many inputs it takes, the attributes that it knows, and the function
// that builds it. The names of the element-wise primitives come from Alu.def and need no row.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/json/Node.h"

namespace kiln::import::json {

/// One result, or several; a null one means a failure that the builder keeps.
struct Results {
  Results(mlir::Value value) : values{value} {}
  Results(llvm::SmallVector<mlir::Value> list) : values(std::move(list)) {}
  llvm::SmallVector<mlir::Value> values;
};

struct Operator {
  static constexpr unsigned any = ~0u;

  llvm::StringLiteral name;
  unsigned minInputs, maxInputs;
  std::initializer_list<llvm::StringLiteral> attributes;
  Results (*build)(Node &node);
};

llvm::ArrayRef<Operator> elementwiseOperators();
llvm::ArrayRef<Operator> movementOperators();
llvm::ArrayRef<Operator> reduceOperators();
llvm::ArrayRef<Operator> windowOperators();
llvm::ArrayRef<Operator> modelOperators();

/// The name of every operator, sorted.
std::vector<std::string> operatorNames();
/// The attributes that an operator knows.
std::vector<std::string> attributesOf(llvm::StringRef op);

/// Checks the node's inputs and attributes against its row and builds it. The results are as many as the outputs that
/// the node names, or the builder keeps a failure.
llvm::SmallVector<mlir::Value> buildOperator(llvm::StringRef op, const Json &json, Node &node);

} // namespace kiln::import::json
