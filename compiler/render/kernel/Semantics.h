//===- Semantics.h - Functions for cases that the C family leaves open --------===//
//
// Alu.def defines the result of division by zero, of a shift past the width and of a NaN in MAX. If C's operator leaves
// that open or differs, the rendered file has a small static function for that operation and dtype, and only for those
// that its kernels use.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "render/kernel/CLanguage.h"

#include "llvm/ADT/APInt.h"

#include <string>
#include <vector>

namespace kiln::render {

/// A literal of an integer dtype or bool; negative ones are in parentheses.
std::string integerLiteral(const CLanguage &language, DType dtype, const llvm::APInt &value);
/// "f" or another ending of the language's functions for the dtype.
llvm::StringRef mathSuffix(const CLanguage &language, DType dtype);

/// The functions that the kernels of one file call, in order of first use.
class SemanticFunctions {
public:
  explicit SemanticFunctions(const CLanguage &language) : language_(language) {}

  /// The name of the function that computes `kind` in `dtype`; it has as many parameters as the row's arity.
  std::string call(Alu kind, DType dtype);
  /// The name of the function that converts or reinterprets.
  std::string cast(DType from, DType to);
  std::string bitcast(DType from, DType to);

  /// Their definitions, an empty line after each.
  std::string definitions() const;

private:
  std::string define(std::string name, llvm::StringRef pattern, DType from, DType to);

  const CLanguage &language_;
  std::vector<std::pair<std::string, std::string>> functions_; // name, definition
};

} // namespace kiln::render
