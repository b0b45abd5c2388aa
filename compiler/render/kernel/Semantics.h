//===- Semantics.h - Functions for what the C family leaves open --------------===//
//
// Alu.def says what division by zero, a shift past the width or a NaN in MAX gives. Where C's operator says nothing or
// something else, the rendered file has a small static function for that operation and dtype, and only for those that
// its kernels use.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "render/kernel/CLanguage.h"

#include "llvm/ADT/APInt.h"

#include <string>
#include <vector>

namespace kiln::render {

/// A literal of an integer dtype or bool; negative ones stand in parentheses.
std::string integerLiteral(const CLanguage &language, DType dtype, const llvm::APInt &value);
/// "f" or what the language's functions for the dtype end in.
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
