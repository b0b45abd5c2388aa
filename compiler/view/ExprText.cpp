//===- ExprText.cpp - Expressions as text --------------------------------===//
//
// Two spellings. render() is the reference's, for listings that must look like its own: terms of sums and conjunctions
// sorted as text. print() is the form that parse() reads: bounds follow variables, terms are in canonical order.
//
//===----------------------------------------------------------------------===//
#include "view/ExprNode.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace kiln::view;
using llvm::StringRef;
using Kind = Expr::Kind;

static const char *infix(Kind kind) {
  switch (kind) {
  case Kind::Add:
    return "+";
  case Kind::Mul:
    return "*";
  case Kind::FloorDiv:
    return "//";
  case Kind::Mod:
    return "%";
  case Kind::Less:
    return "<";
  case Kind::And:
    return " and ";
  case Kind::Min:
  case Kind::Max:
    return ", ";
  case Kind::Const:
  case Kind::Var:
    break;
  }
  llvm_unreachable("a leaf has no operator");
}

static bool isIdentifier(StringRef name) {
  if (name.empty() || name == "and" || name == "min" || name == "max" || !(llvm::isAlpha(name[0]) || name[0] == '_'))
    return false;
  return llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
}

static std::string printVariable(Expr e) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (isIdentifier(e.name())) {
    os << e.name();
  } else {
    os << '"';
    for (char c : e.name()) {
      if (c == '"' || c == '\\' || !llvm::isPrint(c))
        os << '\\' << llvm::hexdigit(uint8_t(c) >> 4) << llvm::hexdigit(c & 15);
      else
        os << c;
    }
    os << '"';
  }
  if (e.limit())
    os << '{' << e.min() << ".." << e.limit()->print() << '}';
  else if (e.min() != 0 || e.max() != kMaxDim)
    os << '{' << e.min() << ".." << e.max() << '}';
  return text;
}

static std::string toText(Expr e, bool forReference) {
  if (e.isConst())
    return std::to_string(e.constant());
  if (e.kind() == Kind::Var)
    return forReference ? e.name().str() : printVariable(e);
  llvm::SmallVector<std::string, 8> parts;
  for (Expr operand : e.operands())
    parts.push_back(toText(operand, forReference));
  if (forReference && (e.kind() == Kind::Add || e.kind() == Kind::And))
    std::sort(parts.begin(), parts.end());
  StringRef function = e.kind() == Kind::Min ? "min" : e.kind() == Kind::Max ? "max" : "";
  return (function + "(" + llvm::join(parts, infix(e.kind())) + ")").str();
}

std::string Expr::render() const { return toText(*this, true); }
std::string Expr::print() const { return toText(settled(*this), false); }
