//===- ExprCompare.cpp - Comparison, conjunction, minimum, maximum -------===//
//
// Validity of an index is a conjunction of comparisons. Their canonical form has the constant on the right, the terms
// with positive coefficients on the left and, if both signs occur, the negative ones on the right; x >= c reads (x*-1)
// < 1-c, as in the reference, whose operation counts depend on that form.
//
//===----------------------------------------------------------------------===//
#include "view/ExprNode.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <numeric>

using namespace kiln::view;
using llvm::ArrayRef;
using llvm::SmallVector;
using Kind = Expr::Kind;

bool kiln::view::provablyEqual(Expr a, Expr b) { return a == b || (a - b).isConst(0); }

/// The sum of the terms is less than `bound`, an all-constant right side.
static Expr lessThanConstant(SmallVector<Term, 8> terms, int64_t bound) {
  if (terms.empty())
    return bound > 0;
  if (isInfinite(bound))
    return bound > 0;
  // (x // d) < c is x < c*d: one operation less.
  if (terms.size() == 1) {
    auto [rest, k] = terms[0];
    if (rest.kind() == Kind::FloorDiv && rest.operands()[1].isConst() && rest.operands()[1].constant() > 0) {
      int64_t d = rest.operands()[1].constant();
      int64_t limit = -floorDivide(-bound, k > 0 ? k : -k);
      if (k > 0)
        return less(rest.operands()[0], saturatingMul(limit, d));
      // -(x // d) < c is x // d >= 1-c, that is x >= (1-c)*d; not so where negating a long x costs more than it saves.
      Expr open = greaterEqual(rest.operands()[0], saturatingMul(1 - limit, d));
      Expr closed = intern(Kind::Less, {-rest, Expr(limit)});
      return closed.weight() < open.weight() ? closed : open;
    }
  }
  int64_t low = 0, high = 0;
  for (Term t : terms) {
    Expr e = scaled(t.rest, t.coefficient);
    low = addLo(low, e.min()), high = addHi(high, e.max());
  }
  if (high < bound)
    return 1;
  if (low >= bound)
    return 0;
  // Factors that the large terms share: g*S + R < c is S < c/g if R cannot reach over a multiple of g.
  SmallVector<int64_t, 8> factors;
  int64_t all = 0;
  for (Term t : terms)
    all = std::gcd(all, t.coefficient);
  for (Term t : terms) {
    int64_t g = t.coefficient;
    if (g < 0)
      g = -g;
    for (int64_t candidate : {g, std::gcd(g, bound), all})
      if (candidate > 1 && !llvm::is_contained(factors, candidate))
        factors.push_back(candidate);
  }
  std::sort(factors.begin(), factors.end(), std::greater<>());
  for (int64_t g : factors) {
    SmallVector<Term, 8> multiple;
    int64_t restLow = 0, restHigh = 0;
    for (Term t : terms) {
      if (t.coefficient % g == 0) {
        multiple.push_back({t.rest, t.coefficient / g});
        continue;
      }
      Expr e = scaled(t.rest, t.coefficient);
      restLow = addLo(restLow, e.min()), restHigh = addHi(restHigh, e.max());
    }
    if (isInfinite(restLow) || isInfinite(restHigh))
      continue;
    // With the rest moved up to begin at 0, it reaches up to `span` over a multiple of g.
    int64_t span = addHi(restHigh, -restLow), moved = addHi(bound, -restLow);
    if (span >= g || isInfinite(moved))
      continue;
    int64_t quotient = floorDivide(moved, g), over = floorModulo(moved, g);
    if (over == 0)
      return lessThanConstant(multiple, quotient);
    if (span < over)
      return lessThanConstant(multiple, quotient + 1);
  }
  SmallVector<Expr, 8> parts;
  for (Term t : terms)
    parts.push_back(scaled(t.rest, t.coefficient));
  return intern(Kind::Less, {sum(parts), Expr(bound)});
}

/// q*s + r < 0 is q < 0 where r is from 0 to s - 1, and only a run knows s: r is a variable that ends there, by steps
/// of its coefficient, or s - 1 less that. nullopt: there is no such s.
static std::optional<Expr> lessThanNothing(Expr sum, ArrayRef<Term> terms, int64_t constant) {
  for (Term t : terms) {
    std::optional<Expr> limit = t.rest.kind() == Kind::Var ? t.rest.limit() : std::nullopt;
    if (!limit || t.rest.min() != 0 || t.coefficient == INT64_MIN)
      continue;
    int64_t step = std::abs(t.coefficient);
    Expr size = (*limit + 1) * step, r = scaled(t.rest, t.coefficient);
    if (t.coefficient > 0)
      r = r + floorModulo(constant, step);
    else
      r = r + size - 1 - floorModulo(-1 - constant, step);
    if (std::optional<Expr> quotient = exactQuotient(sum - r, size))
      return less(*quotient, 0);
  }
  return std::nullopt;
}

Expr kiln::view::less(Expr a, Expr b) {
  if (a.isConst() && b.isConst())
    return a.constant() < b.constant();
  Expr difference = a - b;
  if (difference.max() < 0)
    return 1;
  if (difference.min() >= 0)
    return 0;
  SmallVector<Term, 8> terms;
  int64_t constant = 0;
  splitSum(difference, terms, constant);
  if (isLimited(difference))
    if (std::optional<Expr> wholes = lessThanNothing(difference, terms, constant))
      return *wholes;
  bool positive = llvm::any_of(terms, [](Term t) { return t.coefficient > 0; });
  bool negative = llvm::any_of(terms, [](Term t) { return t.coefficient < 0; });
  Expr whole = lessThanConstant(terms, -constant);
  if (!positive || !negative || whole.kind() != Kind::Less || !whole.operands()[1].isConst())
    return whole;
  terms.clear(), constant = 0;
  splitSum(whole.operands()[0], terms, constant);
  SmallVector<Expr, 8> left, right{whole.operands()[1] - Expr(constant)};
  for (Term t : terms)
    (t.coefficient > 0 ? left : right).push_back(scaled(t.rest, std::abs(t.coefficient)));
  if (left.empty() || right.size() == 1)
    return whole;
  Expr split = intern(Kind::Less, {sum(left), sum(right)});
  return split.weight() < whole.weight() ? split : whole;
}

Expr kiln::view::greaterEqual(Expr a, Expr b) { return less(-a, Expr(1) - b); }

Expr kiln::view::logicalAnd(ArrayRef<Expr> conjuncts) {
  SmallVector<Expr, 8> terms;
  for (Expr e : conjuncts) {
    if (e.kind() == Kind::And)
      llvm::append_range(terms, e.operands());
    else
      terms.push_back(e);
  }
  if (llvm::any_of(terms, [](Expr e) { return e.max() == 0 && e.min() == 0; }))
    return 0;
  llvm::erase_if(terms, [](Expr e) { return e.isConst(); });
  std::sort(terms.begin(), terms.end(), [](Expr a, Expr b) { return compare(a, b) < 0; });
  terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
  // x < 3 and x < 5 are now neighbours, the tighter first.
  auto sameLeft = [](Expr a, Expr b) {
    return a.kind() == Kind::Less && b.kind() == Kind::Less && a.operands()[0] == b.operands()[0] &&
           provablyLessEqual(a.operands()[1], b.operands()[1]);
  };
  terms.erase(std::unique(terms.begin(), terms.end(), sameLeft), terms.end());
  // x < 3 and (x*-1) < -4 is never true.
  for (Expr a : terms)
    for (Expr b : terms)
      if (a.kind() == Kind::Less && b.kind() == Kind::Less && a != b && a.operands()[1].isConst() &&
          b.operands()[1].isConst() && a.operands()[0] == -b.operands()[0] &&
          addHi(a.operands()[1].constant(), b.operands()[1].constant()) <= 1)
        return 0;
  return terms.empty() ? Expr(1) : terms.size() == 1 ? terms[0] : intern(Kind::And, terms);
}

static Expr extremum(Kind kind, Expr a, Expr b) {
  bool wantLess = kind == Kind::Min;
  if (a.isConst() && b.isConst())
    return wantLess ? std::min(a.constant(), b.constant()) : std::max(a.constant(), b.constant());
  if (provablyLessEqual(a, b))
    return wantLess ? a : b;
  if (provablyLessEqual(b, a))
    return wantLess ? b : a;
  if (compare(a, b) > 0)
    std::swap(a, b);
  // min(min(a, b), a) is min(a, b).
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)})
    if (x.kind() == kind && llvm::is_contained(x.operands(), y))
      return x;
  // max(a, min(a, b)) is a.
  Kind other = wantLess ? Kind::Max : Kind::Min;
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)})
    if (x.kind() == other && llvm::is_contained(x.operands(), y))
      return y;
  return intern(kind, {a, b});
}

Expr kiln::view::minimum(Expr a, Expr b) { return extremum(Kind::Min, a, b); }
Expr kiln::view::maximum(Expr a, Expr b) { return extremum(Kind::Max, a, b); }
