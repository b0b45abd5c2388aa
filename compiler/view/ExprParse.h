//===- ExprParse.h - Reading expressions (private) -----------------------===//
#pragma once

#include "view/Expr.h"

namespace kiln::view {

/// Reads expressions, and the punctuation between them, from the front of a text. Every function skips white space
/// before what it reads; on failure `error()` says what was expected and where.
class Reader {
public:
  explicit Reader(llvm::StringRef text) : text_(text), rest_(text) {}

  /// Takes `token` if the text goes on with it.
  bool accept(llvm::StringRef token);
  /// Takes `token`, which must be there.
  bool expect(llvm::StringRef token);
  /// An expression; nullopt after an error.
  std::optional<Expr> expression();
  bool atEnd();
  bool fail(const llvm::Twine &what);
  llvm::Error error() const;

private:
  std::optional<Expr> comparison();
  std::optional<Expr> additive();
  std::optional<Expr> multiplicative();
  std::optional<Expr> primary();
  std::optional<Expr> variable(llvm::StringRef name);
  std::optional<int64_t> integer();
  std::optional<std::string> quoted();
  llvm::StringRef identifier();
  void skipSpace() { rest_ = rest_.ltrim(); }

  llvm::StringRef text_, rest_;
  std::string error_;
  int depth_ = 0;
};

} // namespace kiln::view
