//===- Spelling.h - One operation as an expression of the language ------------===//
#pragma once

#include "ir/uop/UOp.h"
#include "render/kernel/Semantics.h"

namespace kiln::render {

/// An operand as text; `constant` if it is one.
struct Operand {
  std::string text;
  mlir::TypedAttr constant = nullptr;
};

/// Spells scalar operations; notes the functions that they call.
class Spelling {
public:
  Spelling(const CLanguage &language, SemanticFunctions &functions) : language_(language), functions_(functions) {}

  std::string constant(mlir::TypedAttr value) const;
  /// `dtype` is the operands' (for WHERE, the last two's). The result is in parentheses, or is a call or a cast.
  std::string alu(Alu kind, DType dtype, llvm::ArrayRef<Operand> operands);
  std::string fma(DType dtype, llvm::ArrayRef<Operand> operands);
  std::string cast(DType from, DType to, const std::string &text);
  std::string bitcast(DType from, DType to, const std::string &text);

  /// Whether the operation's pattern is its whole meaning in `dtype`, so that it holds for vectors too.
  static bool isPlain(Alu kind, DType dtype);
  /// Whether C's own conversion has the meaning of CAST.
  static bool isPlainCast(DType from, DType to);
  /// The pattern filled in, without regard to cases that C leaves open.
  std::string pattern(Alu kind, DType dtype, llvm::ArrayRef<std::string> operands) const;

private:
  std::string call(Alu kind, DType dtype, llvm::ArrayRef<Operand> operands);
  std::string boolean(Alu kind, llvm::ArrayRef<Operand> operands) const;
  std::string widened(Alu kind, DType dtype, llvm::ArrayRef<Operand> operands);

  const CLanguage &language_;
  SemanticFunctions &functions_;
};

} // namespace kiln::render
