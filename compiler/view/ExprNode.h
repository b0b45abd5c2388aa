//===- ExprNode.h - The parts of an expression (private) -----------------===//
//
// A node knows its bounds and its weight from the moment it is made; both follow from kind and operands alone, so nodes
// compare by those. Everything here is private to the folder.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "view/Expr.h"

#include <algorithm>

namespace kiln::view {

struct ExprNode {
  Expr::Kind kind;
  /// A variable with a symbolic limit occurs below.
  bool limited = false;
  /// Minima and maxima in it, and how deep quotients nest.
  uint8_t extrema = 0, quotients = 0;
  uint32_t weight = 1;
  uint32_t divisions = 0; ///< quotients and remainders, each as often as it occurs
  int64_t min = 0, max = 0;
  int64_t value = 0;         ///< Const that does not fit the tag
  llvm::StringRef name = {}; ///< Var
  Expr limit = {};           ///< Var with limited set
  llvm::ArrayRef<Expr> operands = {};
};

/// The interned node with these operands, which must be canonical; a constant if bounds leave one value.
Expr intern(Expr::Kind kind, llvm::ArrayRef<Expr> operands);

bool isLimited(Expr e);

/// e with every symbolic divisor that may be 0 replaced by its maximum with 1.
Expr guardSymbolicDivisors(Expr e);

/// The result of building this expression anew from its leaves, until nothing changes. The form of a quotient can
/// depend on the order in which its parts became known; a settled one is the form that reading its text gives.
Expr settled(Expr e);
inline Expr guardDivisors(Expr e) { return e.isConst() ? e : guardSymbolicDivisors(e); }

/// A total order that depends on names and structure only, so that output is the same in every run. Constants come
/// last.
int compare(Expr a, Expr b);

/// A term of a sum: coefficient * rest, where rest is not a constant and has no constant factor.
struct Term {
  Expr rest;
  int64_t coefficient;
};
/// Splits a non-constant expression that is not a sum.
Term splitTerm(Expr e);
Expr scaled(Expr rest, int64_t coefficient);
/// The terms of e without its constant, which is added to `constant`.
void splitSum(Expr e, llvm::SmallVectorImpl<Term> &terms, int64_t &constant);
/// The largest number that divides every term and the constant.
int64_t commonFactor(Expr e);
/// Appends the factors of a term's rest, in order.
void splitFactors(Expr rest, llvm::SmallVectorImpl<Expr> &factors);
/// a without a multiple of b: a = quotient * b + remainder, by polynomial long division. b is not a constant.
struct Division {
  Expr quotient, remainder;
};
Division dividePolynomial(Expr a, Expr b);

/// The sum of `terms` with variables that have symbolic limits replaced, so that it is nowhere below (above) its old
/// value; nullopt if there is none to replace.
std::optional<Expr> boundSum(llvm::ArrayRef<Expr> terms, bool above);

/// Narrows the bounds of a sum, if they leave its sign open, by how its terms move together.
void tightenSum(ExprNode &sum);

// Bounds treat int64's ends as infinities. Lo and Hi say which way a sum of opposite infinities falls. INT64_MIN itself
// occurs nowhere, so that every value has a negative.
inline constexpr int64_t kMinusInfinity = -INT64_MAX, kPlusInfinity = INT64_MAX;
inline bool isInfinite(int64_t v) { return v == kMinusInfinity || v == kPlusInfinity; }

inline int64_t saturatingAdd(int64_t a, int64_t b, int64_t ifBoth) {
  if (isInfinite(a) || isInfinite(b))
    return a == b || !isInfinite(b) ? a : !isInfinite(a) ? b : ifBoth;
  int64_t r;
  if (__builtin_add_overflow(a, b, &r))
    return a < 0 ? kMinusInfinity : kPlusInfinity;
  return std::max(r, kMinusInfinity);
}
inline int64_t addLo(int64_t a, int64_t b) { return saturatingAdd(a, b, kMinusInfinity); }
inline int64_t addHi(int64_t a, int64_t b) { return saturatingAdd(a, b, kPlusInfinity); }

inline int64_t saturatingMul(int64_t a, int64_t b) {
  if (a == 0 || b == 0)
    return 0;
  int64_t r;
  if (isInfinite(a) || isInfinite(b) || __builtin_mul_overflow(a, b, &r))
    return (a < 0) != (b < 0) ? kMinusInfinity : kPlusInfinity;
  return std::max(r, kMinusInfinity);
}

/// Floor division; infinities stay. b is not 0.
inline int64_t floorDivide(int64_t a, int64_t b) {
  if (isInfinite(a))
    return b > 0 ? a : -a;
  int64_t q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}
inline int64_t floorModulo(int64_t a, int64_t b) {
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

} // namespace kiln::view
