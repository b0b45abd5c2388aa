//===- ExprRelax.cpp - Bounds of sums whose terms move together -----------===//
//
// The bounds of a sum, added up from those of its terms, are loose if terms move together, as n and -2 * (n // 2) do. A
// quotient by a constant d is at most its numerator's d-th part and less than 1 below it; a minimum is one of its
// operands, and no more than the other. With these substituted, terms cancel, and the sum's sign is often known.
//   Products move together, too: h*w - w is (h - 1)*w. A sum that is linear in each factor is least and largest where
// each is at one of its ends.
//
//===----------------------------------------------------------------------===//
#include "view/ExprNode.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <numeric>

using namespace kiln::view;
using llvm::ArrayRef;
using llvm::SmallVector;
using Kind = Expr::Kind;

/// Each minimum is tried with both of its operands, each quotient with both of its bounds, so that the number of sums
/// may double with each. The choice depends on the sum alone: it is the same wherever it is made.
static constexpr int kMostDoublings = 12;
/// Quotients by divisors with a larger common multiple stay as they are.
static constexpr int64_t kMostMultiple = 1 << 20;

/// Sums of more different factors have too many corners, and so has none of four sizes of 2^31.
static constexpr size_t kMostFactors = 6;

static bool isQuotient(Expr rest) {
  return rest.kind() == Kind::FloorDiv && rest.operands()[1].isConst() && rest.operands()[1].constant() > 0;
}

/// The least common multiple of the quotients' divisors; 1 if there are none, or if it is large.
static int64_t multipleOf(ArrayRef<Expr> operands) {
  int64_t all = 1;
  for (Expr operand : operands)
    if (Expr rest = splitTerm(operand).rest; !operand.isConst() && isQuotient(rest)) {
      int64_t divisor = rest.operands()[1].constant();
      if (divisor > kMostMultiple || (all = std::lcm(all, divisor)) > kMostMultiple)
        return 1;
    }
  return all;
}

/// `multiple` times the sum, each quotient replaced by a bound nowhere below it (above: or above it, otherwise).
static Expr withNumerators(ArrayRef<Expr> operands, int64_t multiple, bool above) {
  SmallVector<Expr, 8> terms;
  for (Expr operand : operands) {
    Term t = operand.isConst() ? Term{operand, 1} : splitTerm(operand);
    if (operand.isConst() || !isQuotient(t.rest)) {
      terms.push_back(operand * multiple);
      continue;
    }
    int64_t divisor = t.rest.operands()[1].constant(), lost = (t.coefficient > 0) == above ? 0 : divisor - 1;
    int64_t factor = saturatingMul(multiple / divisor, t.coefficient);
    terms.push_back((t.rest.operands()[0] - Expr(lost)) * Expr(factor));
  }
  return sum(terms);
}

/// The bound with a minimum or maximum replaced by either of its operands: the sum is one of the two, the larger if the
/// extremum makes it so. Of two extrema each is tried first, since which one cancels more is not known; of more only
/// the first, as there would be too many orders.
static std::optional<int64_t> boundByOperands(ArrayRef<Expr> operands, bool above) {
  SmallVector<size_t, 4> extrema;
  for (auto [index, operand] : llvm::enumerate(operands))
    if (!operand.isConst() && llvm::is_contained({Kind::Min, Kind::Max}, splitTerm(operand).rest.kind()))
      extrema.push_back(index);
  std::optional<int64_t> best;
  for (size_t index : ArrayRef(extrema).take_front(extrema.size() == 2 ? 2 : 1)) {
    auto [rest, coefficient] = splitTerm(operands[index]);
    SmallVector<int64_t, 2> bounds;
    for (Expr choice : rest.operands()) {
      SmallVector<Expr, 8> terms(operands);
      terms[index] = choice * Expr(coefficient);
      Expr replaced = sum(terms);
      bounds.push_back(above ? replaced.max() : replaced.min());
    }
    bool isLarger = (rest.kind() == Kind::Max) == (coefficient > 0);
    int64_t bound = isLarger ? std::max(bounds[0], bounds[1]) : std::min(bounds[0], bounds[1]);
    best = !best ? bound : above ? std::min(*best, bound) : std::max(*best, bound);
  }
  return best;
}

static int64_t boundOf(ArrayRef<Expr> operands, bool above, int64_t known) {
  if (int64_t multiple = multipleOf(operands); multiple > 1) {
    Expr relaxed = withNumerators(operands, multiple, above);
    int64_t bound = above ? floorDivide(relaxed.max(), multiple) : -floorDivide(-relaxed.min(), multiple);
    known = above ? std::min(known, bound) : std::max(known, bound);
  }
  if (std::optional<int64_t> bound = boundByOperands(operands, above))
    known = above ? std::min(known, *bound) : std::max(known, *bound);
  return known;
}

namespace {
/// A sum as a polynomial: the places of each term's factors among all, as bits. What moves by itself, as a term that
/// shares no factor with a product, is in `low` and `high` alone: its corners add nothing.
struct Polynomial {
  SmallVector<Expr, 8> factors;
  SmallVector<std::pair<unsigned, int64_t>, 8> terms;
  __int128 low = 0, high = 0;
};
} // namespace

/// nullopt if it is linear, not linear in one of its factors, or has many of these in products.
static std::optional<Polynomial> polynomialOf(ArrayRef<Expr> operands) {
  Polynomial polynomial;
  SmallVector<std::pair<SmallVector<Expr, 4>, int64_t>, 8> terms;
  llvm::DenseSet<Expr> inProducts;
  for (Expr operand : operands) {
    if (operand.isConst()) {
      polynomial.low += operand.constant(), polynomial.high += operand.constant();
      continue;
    }
    auto [rest, coefficient] = splitTerm(operand);
    SmallVector<Expr, 4> factors;
    splitFactors(rest, factors);
    if (factors.size() > 1)
      inProducts.insert_range(factors);
    terms.push_back({factors, coefficient});
  }
  if (inProducts.empty())
    return std::nullopt;
  for (const auto &[factors, coefficient] : terms) {
    if (Expr alone = factors.front(); factors.size() == 1 && !inProducts.contains(alone)) {
      if (isInfinite(alone.min()) || isInfinite(alone.max()))
        return std::nullopt;
      __int128 atMin = __int128(coefficient) * alone.min(), atMax = __int128(coefficient) * alone.max();
      polynomial.low += std::min(atMin, atMax);
      polynomial.high += std::max(atMin, atMax);
      continue;
    }
    unsigned own = 0;
    for (Expr factor : factors) {
      auto *known = llvm::find(polynomial.factors, factor);
      unsigned bit = 1U << (known - polynomial.factors.begin());
      if (known == polynomial.factors.end())
        polynomial.factors.push_back(factor);
      if ((own & bit) || polynomial.factors.size() > kMostFactors || isInfinite(factor.min()) ||
          isInfinite(factor.max()))
        return std::nullopt;
      own |= bit;
    }
    polynomial.terms.push_back({own, coefficient});
  }
  return polynomial;
}

/// The value with the factors in `high` at their upper ends, the others at their lower ones; nullopt if 127 bits do not
/// hold it.
static std::optional<__int128> valueAt(const Polynomial &polynomial, unsigned high) {
  __int128 value = 0;
  for (auto [factors, coefficient] : polynomial.terms) {
    __int128 product = coefficient;
    for (auto [i, factor] : llvm::enumerate(polynomial.factors))
      if ((factors >> i & 1) &&
          __builtin_mul_overflow(product, __int128(high >> i & 1 ? factor.max() : factor.min()), &product))
        return std::nullopt;
    if (__builtin_add_overflow(value, product, &value))
      return std::nullopt;
  }
  return value;
}

static void boundByCorners(ExprNode &sum) {
  std::optional<Polynomial> polynomial = polynomialOf(sum.operands);
  if (!polynomial)
    return;
  __int128 low = kPlusInfinity, high = kMinusInfinity;
  for (unsigned corner = 0; corner < 1U << polynomial->factors.size(); ++corner) {
    std::optional<__int128> value = valueAt(*polynomial, corner);
    if (!value)
      return;
    low = std::min(low, *value);
    high = std::max(high, *value);
  }
  auto clamped = [](__int128 bound) { return int64_t(std::clamp<__int128>(bound, kMinusInfinity, kPlusInfinity)); };
  if (__builtin_add_overflow(low, polynomial->low, &low) || __builtin_add_overflow(high, polynomial->high, &high))
    return;
  sum.min = std::max(sum.min, clamped(low));
  sum.max = std::min(sum.max, clamped(high));
}

void kiln::view::tightenSum(ExprNode &sum) {
  auto isSignKnown = [&] { return sum.min >= 0 || sum.max < 0; };
  if (isSignKnown())
    return;
  boundByCorners(sum);
  if (isSignKnown() || sum.extrema + sum.quotients == 0 || sum.extrema + sum.quotients > kMostDoublings)
    return;
  bool positive = false, negative = false;
  for (Expr operand : sum.operands)
    if (!operand.isConst())
      (splitTerm(operand).coefficient > 0 ? positive : negative) = true;
  if (!positive || !negative)
    return;
  int64_t low = boundOf(sum.operands, /*above=*/false, sum.min);
  int64_t high = boundOf(sum.operands, /*above=*/true, sum.max);
  if (low <= high)
    sum.min = low, sum.max = high;
}
