//===- ExprPolynomial.cpp - Division of polynomials ----------------------===//
//
// A symbolic shape can be reshaped into another if one product of dims divides another. That is decided by long
// division of polynomials in the graded order: terms of higher degree first, ties by the order of the factors.
//
//===----------------------------------------------------------------------===//
#include "view/ExprNode.h"

#include "llvm/ADT/SmallVector.h"

using namespace kiln::view;
using llvm::SmallVector;

namespace {
struct Monomial {
  SmallVector<Expr, 4> factors;
  int64_t coefficient = 1;
};
} // namespace

static Monomial monomial(Expr term) {
  if (term.isConst())
    return {{}, term.constant()};
  Term t = splitTerm(term);
  Monomial m{{}, t.coefficient};
  splitFactors(t.rest, m.factors);
  return m;
}

static bool leads(const Monomial &a, const Monomial &b) {
  if (a.factors.size() != b.factors.size())
    return a.factors.size() > b.factors.size();
  for (auto [x, y] : llvm::zip(a.factors, b.factors))
    if (int c = compare(x, y))
      return c < 0;
  return false;
}

static llvm::ArrayRef<Expr> termsOf(const Expr &e) {
  return e.kind() == Expr::Kind::Add ? e.operands() : llvm::ArrayRef(e);
}

static Monomial leadingTerm(Expr e) {
  Monomial lead = monomial(termsOf(e)[0]);
  for (Expr term : llvm::drop_begin(termsOf(e)))
    if (Monomial m = monomial(term); leads(m, lead))
      lead = m;
  return lead;
}

/// a / b if b divides a.
static std::optional<Expr> divideMonomial(const Monomial &a, const Monomial &b) {
  if (b.coefficient == 0 || isInfinite(a.coefficient) || a.coefficient % b.coefficient != 0 ||
      a.factors.size() < b.factors.size())
    return std::nullopt;
  SmallVector<Expr, 4> left = a.factors;
  for (Expr factor : b.factors) {
    auto *it = llvm::find(left, factor);
    if (it == left.end())
      return std::nullopt;
    left.erase(it);
  }
  return product(left) * Expr(a.coefficient / b.coefficient);
}

Division kiln::view::dividePolynomial(Expr a, Expr b) {
  Monomial lead = leadingTerm(b);
  SmallVector<Expr, 4> quotient;
  // Each step removes a term for good, but adds those of b's tail; a bound keeps odd operands from going on for ever.
  for (int step = 0; step < 64; ++step) {
    std::optional<Expr> best;
    Monomial bestTerm;
    for (Expr term : termsOf(a)) {
      Monomial m = monomial(term);
      if (best && !leads(m, bestTerm))
        continue;
      if (std::optional<Expr> q = divideMonomial(m, lead); q && !q->isConst(0))
        best = q, bestTerm = m;
    }
    if (!best)
      break;
    quotient.push_back(*best);
    a = a - *best * b;
  }
  return {sum(quotient), a};
}

std::optional<Expr> kiln::view::exactQuotient(Expr a, Expr b) {
  if (b.isConst(0))
    return std::nullopt;
  if (a.isConst(0))
    return 0;
  if (b.isConst(1))
    return a;
  if (a == b)
    return 1;
  if (a.isConst() && b.isConst())
    return floorModulo(a.constant(), b.constant()) == 0 ? std::optional<Expr>(floorDivide(a.constant(), b.constant()))
                                                        : std::nullopt;
  if (b.isConst()) {
    SmallVector<Expr, 4> parts;
    for (Expr term : termsOf(a)) {
      std::optional<Expr> q = divideMonomial(monomial(term), monomial(b));
      if (!q)
        return std::nullopt;
      parts.push_back(*q);
    }
    return sum(parts);
  }
  auto [quotient, remainder] = dividePolynomial(a, b);
  return remainder.isConst(0) ? std::optional(quotient) : std::nullopt;
}
