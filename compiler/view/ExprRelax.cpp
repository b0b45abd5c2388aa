//===- ExprRelax.cpp - Bounds of sums whose terms move together -----------===//
//
// The bounds of a sum, added up from those of its terms, are loose if terms move together, as n and -2 * (n // 2) do. A
// quotient by a constant d is at most its numerator's d-th part and less than 1 below it; a minimum is one of its
// operands, and no more than the other. With these substituted, terms cancel, and the sum's sign is often known.
//
//===----------------------------------------------------------------------===//
#include "view/ExprNode.h"

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

/// The bound with the first minimum or maximum replaced by either of its operands: the sum is one of the two, the
/// larger if the extremum makes it so.
static std::optional<int64_t> boundByOperands(ArrayRef<Expr> operands, bool above) {
  for (auto [index, operand] : llvm::enumerate(operands)) {
    if (operand.isConst())
      continue;
    auto [rest, coefficient] = splitTerm(operand);
    if (rest.kind() != Kind::Min && rest.kind() != Kind::Max)
      continue;
    SmallVector<int64_t, 2> bounds;
    for (Expr choice : rest.operands()) {
      SmallVector<Expr, 8> terms(operands);
      terms[index] = choice * Expr(coefficient);
      Expr replaced = sum(terms);
      bounds.push_back(above ? replaced.max() : replaced.min());
    }
    bool isLarger = (rest.kind() == Kind::Max) == (coefficient > 0);
    return isLarger ? std::max(bounds[0], bounds[1]) : std::min(bounds[0], bounds[1]);
  }
  return std::nullopt;
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

void kiln::view::tightenSum(ExprNode &sum) {
  bool isSignKnown = sum.min >= 0 || sum.max < 0;
  if (isSignKnown || sum.extrema + sum.quotients == 0 || sum.extrema + sum.quotients > kMostDoublings)
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
