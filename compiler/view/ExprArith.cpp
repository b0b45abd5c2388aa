//===- ExprArith.cpp - Sums and products ---------------------------------===//
//
// A sum is kept as a polynomial: products are distributed over sums, equal terms are added up, terms are in a fixed
// order with the constant last. So strides that are products of dims compare as pointers, whatever the order of the
// multiplications.
//
//===----------------------------------------------------------------------===//
#include "view/ExprNode.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>

using namespace kiln::view;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using Kind = Expr::Kind;

/// Products of sums with more terms than this stay products: distributing without end could grow exponentially.
static constexpr size_t kMostTerms = 64;

Term kiln::view::splitTerm(Expr e) {
  if (e.kind() == Kind::Mul && e.operands()[1].isConst())
    return {e.operands()[0], e.operands()[1].constant()};
  return {e, 1};
}

Expr kiln::view::scaled(Expr rest, int64_t coefficient) {
  if (coefficient == 0)
    return 0;
  return coefficient == 1 ? rest : intern(Kind::Mul, {rest, Expr(coefficient)});
}

void kiln::view::splitSum(Expr e, SmallVectorImpl<Term> &terms, int64_t &constant) {
  auto add = [&](Expr term) {
    if (term.isConst())
      constant = saturatingAdd(constant, term.constant(), 0);
    else
      terms.push_back(splitTerm(term));
  };
  if (e.kind() != Kind::Add)
    return add(e);
  for (Expr term : e.operands())
    add(term);
}

void kiln::view::splitFactors(Expr rest, SmallVectorImpl<Expr> &factors) {
  if (rest.kind() != Kind::Mul) {
    factors.push_back(rest);
    return;
  }
  splitFactors(rest.operands()[0], factors);
  factors.push_back(rest.operands()[1]);
}

/// Divisions by one divisor whose numerators differ by a multiple of it become one division and a multiple, and a
/// quotient with its remainder becomes the numerator again. True when it changed something.
static bool combineDivisions(SmallVectorImpl<Term> &terms, SmallVectorImpl<Expr> &more) {
  auto differ = [](Expr a, Expr b, Expr divisor) { return exactQuotient(a - b, divisor); };
  for (Term &a : terms) {
    if (a.coefficient == 0 || a.rest.kind() != Kind::FloorDiv)
      continue;
    Expr numerator = a.rest.operands()[0], divisor = a.rest.operands()[1];
    for (Term &b : terms) {
      if (&a == &b || b.coefficient == 0)
        continue;
      bool quotient = b.rest.kind() == Kind::FloorDiv, remainder = b.rest.kind() == Kind::Mod;
      if ((!quotient && !remainder) || b.rest.operands()[1] != divisor || divisor.isConst(0))
        continue;
      if (quotient) {
        if (std::optional<Expr> by = differ(numerator, b.rest.operands()[0], divisor)) {
          more.push_back(*by * a.coefficient);
          b.coefficient = saturatingAdd(b.coefficient, a.coefficient, 0);
          a.coefficient = 0;
          return true;
        }
      } else if (divisor.isConst() && a.coefficient == saturatingMul(b.coefficient, divisor.constant())) {
        if (differ(numerator, b.rest.operands()[0], divisor)) {
          more.push_back(numerator * b.coefficient);
          a.coefficient = b.coefficient = 0;
          return true;
        }
      }
    }
  }
  return false;
}

/// max(x, 0) - max(-x, 0) is x. True when it changed something.
static bool combineParts(SmallVectorImpl<Term> &terms, SmallVectorImpl<Expr> &more) {
  auto partOf = [](Term t) -> std::optional<Expr> {
    if (t.rest.kind() == Kind::Max)
      for (size_t zero : {0, 1})
        if (t.rest.operands()[zero].isConst(0))
          return t.rest.operands()[1 - zero];
    return std::nullopt;
  };
  for (Term &a : terms)
    if (std::optional<Expr> part = partOf(a))
      for (Term &b : terms)
        if (b.coefficient == -a.coefficient && partOf(b) == -*part) {
          more.push_back(*part * a.coefficient);
          a.coefficient = b.coefficient = 0;
          return true;
        }
  return false;
}

Expr kiln::view::sum(ArrayRef<Expr> summands) {
  int64_t constant = 0;
  SmallVector<Term, 8> all;
  for (Expr e : summands)
    splitSum(e, all, constant);
  if (all.empty())
    return constant;
  if (all.size() > 1) {
    std::sort(all.begin(), all.end(), [](Term a, Term b) { return compare(a.rest, b.rest) < 0; });
    size_t last = 0;
    for (size_t i = 1; i < all.size(); ++i) {
      if (all[i].rest == all[last].rest)
        all[last].coefficient = saturatingAdd(all[last].coefficient, all[i].coefficient, 0);
      else
        all[++last] = all[i];
    }
    all.truncate(last + 1);
    llvm::erase_if(all, [](Term t) { return t.coefficient == 0; });
    SmallVector<Expr, 8> more;
    if (combineDivisions(all, more) || combineParts(all, more)) {
      for (Term t : all)
        more.push_back(scaled(t.rest, t.coefficient));
      more.push_back(constant);
      return sum(more);
    }
  }
  SmallVector<Expr, 8> operands;
  for (Term t : all)
    operands.push_back(scaled(t.rest, t.coefficient));
  if (constant)
    operands.push_back(constant);
  return operands.empty() ? Expr(0) : operands.size() == 1 ? operands[0] : intern(Kind::Add, operands);
}

static Expr multiplyTerms(Term a, Term b) {
  SmallVector<Expr, 4> factors;
  splitFactors(a.rest, factors);
  splitFactors(b.rest, factors);
  std::sort(factors.begin(), factors.end(), [](Expr x, Expr y) { return compare(x, y) < 0; });
  Expr rest = factors[0];
  for (Expr factor : llvm::drop_begin(factors))
    rest = intern(Kind::Mul, {rest, factor});
  int64_t coefficient = saturatingMul(a.coefficient, b.coefficient);
  return rest.isConst() ? rest * Expr(coefficient) : scaled(rest, coefficient);
}

Expr kiln::view::symbolicProduct(Expr a, Expr b) {
  if (a.isConst() && b.isConst())
    return saturatingMul(a.constant(), b.constant());
  if (a.isConst())
    std::swap(a, b);
  if (b.isConst(1))
    return a;
  if (b.isConst(0))
    return 0;
  if (b.isConst() && a.kind() != Kind::Add) {
    Term t = splitTerm(a);
    return scaled(t.rest, saturatingMul(t.coefficient, b.constant()));
  }
  auto terms = [](Expr e) { return e.kind() == Kind::Add ? e.operands() : ArrayRef<Expr>(); };
  size_t count = std::max<size_t>(terms(a).size(), 1) * std::max<size_t>(terms(b).size(), 1);
  auto isSum = [](Expr e) { return e.kind() == Kind::Add; };
  if ((isSum(a) || isSum(b)) && (b.isConst() || count <= kMostTerms)) {
    SmallVector<Expr, 8> products;
    for (Expr x : isSum(a) ? a.operands() : ArrayRef(a))
      for (Expr y : isSum(b) ? b.operands() : ArrayRef(b))
        products.push_back(x * y);
    return sum(products);
  }
  return multiplyTerms(splitTerm(a), splitTerm(b));
}

Expr kiln::view::symbolicSum(Expr a, Expr b) {
  if (a.isConst() && b.isConst())
    return saturatingAdd(a.constant(), b.constant(), 0);
  if (b.isConst(0))
    return a;
  if (a.isConst(0))
    return b;
  return sum({a, b});
}

Expr kiln::view::product(ArrayRef<Expr> factors) {
  Expr result = 1;
  for (Expr factor : factors)
    result = result * factor;
  return result;
}

/// The term with limited variables at the end of their range that makes it largest (smallest), if there are any.
static std::optional<Expr> boundTerm(Expr term, bool above) {
  if (!isLimited(term))
    return std::nullopt;
  Term t = splitTerm(term);
  SmallVector<Expr, 4> factors;
  splitFactors(t.rest, factors);
  bool changed = false;
  for (size_t i = 0; i < factors.size(); ++i) {
    Expr factor = factors[i];
    if (!isLimited(factor))
      continue;
    int64_t sign = t.coefficient < 0 ? -1 : 1;
    for (size_t j = 0; j < factors.size(); ++j)
      if (j != i)
        sign = factors[j].min() >= 0 ? sign : factors[j].max() <= 0 ? -sign : 0;
    if (sign == 0)
      return std::nullopt;
    bool high = (sign > 0) == above;
    if (factor.kind() == Kind::Var) {
      factors[i] = high ? *factor.limit() : Expr(factor.min());
      changed = true;
    } else if (factor.kind() == Kind::FloorDiv && factor.operands()[1].isConst() && factor.operands()[1].min() > 0) {
      Expr numerator = factor.operands()[0];
      auto terms = numerator.kind() == Kind::Add ? numerator.operands() : ArrayRef(numerator);
      if (std::optional<Expr> bound = boundSum(terms, high)) {
        factors[i] = floorDiv(*bound, factor.operands()[1]);
        changed = true;
      }
    }
  }
  return changed ? std::optional(product(factors) * Expr(t.coefficient)) : std::nullopt;
}

std::optional<Expr> kiln::view::boundSum(ArrayRef<Expr> terms, bool above) {
  SmallVector<Expr, 8> bounds;
  bool changed = false;
  for (Expr term : terms) {
    std::optional<Expr> bound = boundTerm(term, above);
    changed |= bound.has_value();
    bounds.push_back(bound.value_or(term));
  }
  return changed ? std::optional(sum(bounds)) : std::nullopt;
}
