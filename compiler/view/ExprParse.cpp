//===- ExprParse.cpp - Reading expressions -----------------------------===//
//
// A module prints its sizes and views as text and has to be read back as the same values. Operators are Python's, a
// comparison is a number (0 or 1), and a variable carries its bounds, batch{1..8}; the upper one may be an expression.
// There is no syntax tree: the functions that build all expressions build these too, and simplify on the way. The text
// may come from anyone, so an error names its column, and the nesting of expressions is limited, since the reader is
// recursive.
//
//===-------------------------------------------------------------------===//
#include "view/ExprParse.h"

#include "support/Error.h"
#include "view/ExprNode.h"

#include "llvm/ADT/StringExtras.h"

using namespace kiln::view;
using llvm::StringRef;

/// Deeper nesting is refused: the reader is recursive, and a stack is finite.
static constexpr int kMostDepth = 200;

bool Reader::accept(StringRef token) {
  skipSpace();
  return rest_.consume_front(token);
}

bool Reader::expect(StringRef token) { return accept(token) || fail("expected '" + token + "'"); }

bool Reader::atEnd() {
  skipSpace();
  return rest_.empty();
}

bool Reader::fail(const llvm::Twine &what) {
  if (error_.empty())
    error_ = (what + " at column " + llvm::Twine(text_.size() - rest_.size() + 1) + " of '" + text_ + "'").str();
  return false;
}

llvm::Error Reader::error() const { return failure(error_); }

StringRef Reader::identifier() {
  skipSpace();
  if (rest_.empty() || !(llvm::isAlpha(rest_[0]) || rest_[0] == '_'))
    return {};
  StringRef name = rest_.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
  rest_ = rest_.drop_front(name.size());
  return name;
}

std::optional<int64_t> Reader::integer() {
  skipSpace();
  int64_t value;
  if (rest_.consumeInteger(10, value)) {
    fail("expected a 64-bit integer");
    return std::nullopt;
  }
  return std::max(value, kMinusInfinity);
}

std::optional<std::string> Reader::quoted() {
  std::string name;
  while (!rest_.empty() && rest_[0] != '"') {
    char c = rest_[0];
    if (c == '\\') {
      if (rest_.size() < 3 || !llvm::isHexDigit(rest_[1]) || !llvm::isHexDigit(rest_[2])) {
        fail("expected two hexadecimal digits after '\\'");
        return std::nullopt;
      }
      c = char(llvm::hexDigitValue(rest_[1]) * 16 + llvm::hexDigitValue(rest_[2]));
      rest_ = rest_.drop_front(2);
    }
    name += c;
    rest_ = rest_.drop_front();
  }
  if (!rest_.consume_front("\"")) {
    fail("expected '\"'");
    return std::nullopt;
  }
  return name;
}

std::optional<Expr> Reader::variable(StringRef name) {
  if (!accept("{"))
    return Expr::variable(name, 0, kMaxDim);
  std::optional<int64_t> min = integer();
  if (!min || !expect(".."))
    return std::nullopt;
  std::optional<Expr> max = expression();
  if (!max || !expect("}"))
    return std::nullopt;
  if (max->isConst() && max->constant() < *min) {
    fail("the bounds of '" + name + "' leave no value");
    return std::nullopt;
  }
  return Expr::variable(name, *min, *max);
}

std::optional<Expr> Reader::primary() {
  skipSpace();
  if (accept("(")) {
    std::optional<Expr> e = expression();
    return e && expect(")") ? e : std::nullopt;
  }
  if (accept("\"")) {
    std::optional<std::string> name = quoted();
    return name ? variable(*name) : std::nullopt;
  }
  if (!rest_.empty() && (llvm::isDigit(rest_[0]) || (rest_.size() > 1 && rest_[0] == '-' && llvm::isDigit(rest_[1])))) {
    std::optional<int64_t> value = integer();
    return value ? std::optional<Expr>(*value) : std::nullopt;
  }
  if (accept("-")) {
    if (++depth_ > kMostDepth) {
      fail("expression nests too deep");
      return std::nullopt;
    }
    std::optional<Expr> e = primary();
    --depth_;
    return e ? std::optional(-*e) : std::nullopt;
  }
  StringRef name = identifier();
  if (name.empty()) {
    fail("expected an expression");
    return std::nullopt;
  }
  if (name != "min" && name != "max")
    return variable(name);
  if (!expect("("))
    return std::nullopt;
  std::optional<Expr> a = expression();
  if (!a || !expect(","))
    return std::nullopt;
  std::optional<Expr> b = expression();
  if (!b || !expect(")"))
    return std::nullopt;
  return name == "min" ? minimum(*a, *b) : maximum(*a, *b);
}

std::optional<Expr> Reader::multiplicative() {
  std::optional<Expr> left = primary();
  while (left) {
    bool times = accept("*"), divide = !times && accept("//"), modulo = !times && !divide && accept("%");
    if (!times && !divide && !modulo)
      break;
    std::optional<Expr> right = primary();
    if (!right)
      return std::nullopt;
    left = times ? *left * *right : divide ? floorDiv(*left, *right) : mod(*left, *right);
  }
  return left;
}

std::optional<Expr> Reader::additive() {
  std::optional<Expr> first = multiplicative();
  if (!first)
    return std::nullopt;
  llvm::SmallVector<Expr, 8> terms{*first};
  while (true) {
    // An arrow joins views.
    bool plus = accept("+"), minus = !plus && !rest_.starts_with("->") && accept("-");
    if (!plus && !minus)
      return sum(terms);
    std::optional<Expr> term = multiplicative();
    if (!term)
      return std::nullopt;
    terms.push_back(plus ? *term : -*term);
  }
}

std::optional<Expr> Reader::comparison() {
  std::optional<Expr> left = additive();
  if (!left)
    return std::nullopt;
  bool atLeast = accept(">=");
  if (!atLeast && !accept("<"))
    return left;
  std::optional<Expr> right = additive();
  if (!right)
    return std::nullopt;
  return atLeast ? greaterEqual(*left, *right) : less(*left, *right);
}

std::optional<Expr> Reader::expression() {
  if (++depth_ > kMostDepth) {
    fail("expression nests too deep");
    return std::nullopt;
  }
  llvm::SmallVector<Expr, 8> conjuncts;
  do {
    std::optional<Expr> e = comparison();
    if (!e)
      return std::nullopt;
    conjuncts.push_back(*e);
  } while (accept("and"));
  --depth_;
  return conjuncts.size() == 1 ? conjuncts[0] : logicalAnd(conjuncts);
}

llvm::Expected<Expr> Expr::parse(StringRef text) {
  Reader reader(text);
  std::optional<Expr> e = reader.expression();
  if (e && !reader.atEnd())
    reader.fail("expected an operator or the end");
  if (!e || !reader.atEnd())
    return reader.error();
  return *e;
}
