//===- ExprDivMod.cpp - Division and modulo that floor -------------------===//
//
// Reshapes turn into divisions and remainders, and most of them vanish once it is known what divides what. Terms that
// are a multiple of the divisor leave the division; terms smaller than the common factor of the rest drop out of it.
// Numerators are kept non-negative if a small constant makes them so, because there floor and truncation agree. A
// multiple of the divisor is kept outside, so that (h + 23) // 4 and (h + 3) // 4 + 5 are one expression, whose
// quotient is a term like others.
//
//===----------------------------------------------------------------------===//
#include "view/ExprNode.h"
#include "view/WithoutZeros.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <numeric>

using namespace kiln::view;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using Kind = Expr::Kind;

static Expr join(llvm::ArrayRef<Term> terms, int64_t constant) {
  SmallVector<Expr, 8> parts;
  for (Term t : terms)
    parts.push_back(scaled(t.rest, t.coefficient));
  parts.push_back(constant);
  return sum(parts);
}

/// The smaller; the first if they are equal.
static Expr lighter(Expr a, Expr b) { return b.weight() < a.weight() ? b : a; }

/// A numerator gets no larger constant to begin at 0: multiplied with others it could pass 64 bits.
static constexpr int64_t kMostMoved = 1 << 20;

/// By how many divisors b a numerator of at least `least` can be moved down to begin near 0; up if negative. 0 if that
/// is not known, or far.
static int64_t divisorsToMove(int64_t least, int64_t b) {
  if (isInfinite(least) || least < -kMostMoved)
    return 0;
  int64_t low = floorDivide(least, b);
  return saturatingMul(low, b) < -kMostMoved ? 0 : low;
}

/// Whether a is one of two neighbours. Where their quotients differ, the larger one's is one more, so that a quotient
/// or a remainder of a is a sum that has a in it.
static bool isOneOfTwo(Expr a) { return !isInfinite(a.min()) && !isInfinite(a.max()) && a.max() - a.min() == 1; }

/// a // b without looking into a; b > 1.
static Expr makeDivision(Expr a, int64_t b) {
  int64_t low = floorDivide(a.min(), b);
  if (a.isConst())
    return floorDivide(a.constant(), b);
  if (!isInfinite(a.min()) && !isInfinite(a.max()) && low == floorDivide(a.max(), b))
    return low;
  if (isOneOfTwo(a))
    return a + Expr(low - a.min());
  if (int64_t moved = divisorsToMove(a.min(), b); moved < 0)
    return intern(Kind::FloorDiv, {a + Expr(-moved * b), Expr(b)}) + Expr(moved);
  return intern(Kind::FloorDiv, {a, Expr(b)});
}

/// A sum cut at a common factor: factor * multiple + rest with 0 <= rest < factor.
struct Cut {
  Expr multiple, rest;
};

static std::optional<Cut> cutAt(llvm::ArrayRef<Term> terms, int64_t constant, int64_t factor) {
  SmallVector<Term, 8> multiple, rest;
  for (Term t : terms) {
    if (t.coefficient % factor == 0)
      multiple.push_back({t.rest, t.coefficient / factor});
    else
      rest.push_back(t);
  }
  Expr left = join(rest, floorModulo(constant, factor));
  // The rest may be in another multiple of the factor as a whole: then that part goes over to the multiples.
  int64_t shift = floorDivide(left.min(), factor);
  if (isInfinite(left.min()) || isInfinite(left.max()) || shift != floorDivide(left.max(), factor))
    return std::nullopt;
  return Cut{join(multiple, saturatingAdd(floorDivide(constant, factor), shift, 0)),
             left - Expr(saturatingMul(shift, factor))};
}

/// The proper factors of b that some of the terms share with it, largest first.
static SmallVector<int64_t, 8> sharedFactors(llvm::ArrayRef<Term> terms, int64_t b) {
  SmallVector<int64_t, 8> factors;
  for (Term t : terms) {
    int64_t g = std::gcd(t.coefficient, b);
    if (g > 1 && g < b && !llvm::is_contained(factors, g))
      factors.push_back(g);
  }
  std::sort(factors.begin(), factors.end(), std::greater<>());
  return factors;
}

static Expr divideSum(Expr a, int64_t b) {
  SmallVector<Term, 8> terms, out, rest;
  int64_t constant = 0, outConstant = 0;
  splitSum(a, terms, constant);
  int64_t g = b;
  for (Term t : terms) {
    if (t.coefficient % b == 0) {
      out.push_back({t.rest, t.coefficient / b});
    } else {
      rest.push_back(t);
      g = std::gcd(g, t.coefficient);
    }
  }
  if (constant % b == 0)
    outConstant = constant / b, constant = 0;
  if (rest.empty())
    return join(out, saturatingAdd(outConstant, floorDivide(constant, b), 0));
  // The least numerator that is not negative, as far as its constant can be moved; else the least constant.
  int64_t least = join(rest, constant).min(), low = divisorsToMove(least, b);
  if (low > 0)
    low = std::max<int64_t>(std::min(low, floorDivide(constant, b)), 0);
  else if (low == 0 && least < 0)
    low = floorDivide(constant, b);
  constant = saturatingAdd(constant, saturatingMul(-low, b), 0);
  outConstant = saturatingAdd(outConstant, low, 0);
  Expr quotient = join(out, outConstant);
  // A common factor of every term divides the constant too, rounded down.
  if (g > 1) {
    for (Term &t : rest)
      t.coefficient /= g;
    return quotient + floorDiv(join(rest, floorDivide(constant, g)), b / g);
  }
  Expr whole = join(rest, constant);
  if (whole.kind() != Kind::Add)
    return quotient + floorDiv(whole, b);
  for (int64_t factor : sharedFactors(rest, b))
    if (std::optional<Cut> cut = cutAt(rest, constant, factor))
      return quotient + floorDiv(cut->multiple, b / factor);
  Expr best = makeDivision(whole, b);
  for (Term t : rest) {
    int64_t factor = t.coefficient;
    if (factor <= 1 || b % factor != 0)
      continue;
    Expr nested = floorDiv(divideSum(whole, factor), b / factor);
    if (nested.weight() < best.weight())
      best = nested;
    break;
  }
  // (n // d + c) // b is (n + d*c) // (d*b): one division.
  if (Expr inner = rest.front().rest;
      rest.size() == 1 && rest.front().coefficient == 1 && inner.kind() == Kind::FloorDiv)
    if (Expr divisor = inner.operands()[1]; divisor.isConst() && divisor.constant() > 0)
      if (int64_t both = saturatingMul(divisor.constant(), b); !isInfinite(both))
        return quotient + floorDiv(inner.operands()[0] + divisor * constant, both);
  return quotient + best;
}

static Expr divideByConstant(Expr a, int64_t b) {
  if (b == 0)
    return intern(Kind::FloorDiv, {a, Expr(0)});
  if (b < 0)
    return divideByConstant(-a, -b);
  if (b == 1)
    return a;
  if (a.isConst())
    return floorDivide(a.constant(), b);
  switch (a.kind()) {
  case Kind::Add:
    return divideSum(a, b);
  case Kind::Mul: {
    Term t = splitTerm(a);
    if (t.coefficient == 1)
      break;
    int64_t g = std::gcd(t.coefficient, b);
    if (g > 1)
      return floorDiv(scaled(t.rest, t.coefficient / g), b / g);
    break;
  }
  case Kind::FloorDiv:
    if (int64_t inner = a.operands()[1].isConst() ? a.operands()[1].constant() : 0; inner > 0)
      if (int64_t both = saturatingMul(inner, b); !isInfinite(both))
        return floorDiv(a.operands()[0], both);
    break;
  case Kind::Mod:
    if (int64_t inner = a.operands()[1].isConst() ? a.operands()[1].constant() : 0; inner > 0 && inner % b == 0)
      return mod(floorDiv(a.operands()[0], b), inner / b);
    break;
  default:
    break;
  }
  return makeDivision(a, b);
}

/// a % b without looking into a; b > 1.
static Expr makeModulo(Expr a, int64_t b) {
  if (a.isConst())
    return floorModulo(a.constant(), b);
  if (!isInfinite(a.min()) && !isInfinite(a.max())) {
    int64_t low = floorDivide(a.min(), b);
    if (low == floorDivide(a.max(), b))
      return a - Expr(saturatingMul(low, b));
    if (isOneOfTwo(a))
      return (a - Expr(a.max())) * Expr(1 - b);
  }
  if (int64_t moved = divisorsToMove(a.min(), b); moved < 0)
    return intern(Kind::Mod, {a - Expr(moved * b), Expr(b)});
  return intern(Kind::Mod, {a, Expr(b)});
}

static Expr moduloOfSum(Expr a, int64_t b) {
  SmallVector<Term, 8> terms, kept;
  int64_t constant = 0;
  splitSum(a, terms, constant);
  if (Expr same = makeModulo(a, b); same.kind() != Kind::Mod)
    return same;
  bool opened = false;
  SmallVector<Expr, 8> parts;
  for (Term t : terms) {
    t.coefficient = floorModulo(t.coefficient, b);
    if (t.coefficient == 0)
      continue;
    kept.push_back(t);
    // (x % m) is x here if the sum is taken modulo a divisor of m.
    Expr part = scaled(t.rest, t.coefficient);
    if (t.rest.kind() == Kind::Mod && t.rest.operands()[1].isConst() &&
        saturatingMul(t.coefficient, t.rest.operands()[1].constant()) % b == 0) {
      part = t.rest.operands()[0] * Expr(t.coefficient);
      opened = true;
    }
    parts.push_back(part);
  }
  constant = floorModulo(constant, b);
  Expr whole = join(kept, constant);
  if (whole.kind() != Kind::Add)
    return mod(whole, b);
  Expr best = makeModulo(whole, b);
  if (best.kind() != Kind::Mod)
    return best;
  if (opened) {
    parts.push_back(constant);
    best = lighter(mod(sum(parts), b), best);
  }
  for (int64_t factor : sharedFactors(kept, b))
    if (std::optional<Cut> cut = cutAt(kept, constant, factor))
      best = lighter(mod(cut->multiple, b / factor) * Expr(factor) + cut->rest, best);
  return best;
}

static Expr moduloByConstant(Expr a, int64_t b) {
  if (b == 0)
    return intern(Kind::Mod, {a, Expr(0)});
  if (b < 0)
    return -moduloByConstant(-a, -b);
  if (b == 1)
    return 0;
  if (a.isConst())
    return floorModulo(a.constant(), b);
  switch (a.kind()) {
  case Kind::Add:
    return moduloOfSum(a, b);
  case Kind::Mul: {
    Term t = splitTerm(a);
    if (t.coefficient == 1)
      break;
    int64_t c = floorModulo(t.coefficient, b);
    if (c == 0)
      return 0;
    if (c == 1)
      return mod(t.rest, b);
    // A factor in common with b leaves: (6x) % 8 = 2 * ((3x) % 4).
    Expr best = makeModulo(scaled(t.rest, c), b);
    if (int64_t g = std::gcd(c, b); g > 1 && best.kind() == Kind::Mod)
      best = lighter(mod(scaled(t.rest, c / g), b / g) * Expr(g), best);
    return best;
  }
  case Kind::Mod:
    if (int64_t inner = a.operands()[1].isConst() ? a.operands()[1].constant() : 0; inner > 0 && inner % b == 0)
      return mod(a.operands()[0], b);
    break;
  default:
    break;
  }
  return makeModulo(a, b);
}

/// Whether 0 <= a < b wherever b is not 0.
static bool isRemainderOf(Expr a, Expr b) {
  if (a.min() >= 0 && (a - b).max() < 0) // bounds stop at a sign: those of b - a at 0, which would not do
    return true;
  if (b.min() != 0)
    return false;
  llvm::DenseMap<Expr, Expr> positive = withoutZeros(b, b);
  return !positive.empty() && isRemainderOf(a.substitute(positive), b.substitute(positive));
}

int64_t kiln::view::commonFactor(Expr e) {
  SmallVector<Term, 8> terms;
  int64_t common = 0;
  splitSum(e, terms, common);
  for (Term t : terms)
    common = std::gcd(common, t.coefficient);
  return isInfinite(common) ? 1 : common;
}

/// a cut at a factor of a symbolic b, which is at least 0: a part smaller than the factor counts for nothing in a
/// quotient and stays unchanged in a remainder.
struct CommonCut {
  int64_t factor;
  Cut numerator;
  Expr divisor;
};

static std::optional<CommonCut> cutAtCommonFactor(Expr a, Expr b) {
  int64_t common = commonFactor(b);
  if (common <= 1 || b.min() < 0)
    return std::nullopt;
  SmallVector<Term, 8> terms;
  int64_t constant = 0;
  splitSum(a, terms, constant);
  SmallVector<int64_t, 8> factors{common};
  llvm::append_range(factors, sharedFactors(terms, common));
  for (int64_t factor : factors)
    if (std::optional<Cut> cut = cutAt(terms, constant, factor))
      return CommonCut{factor, *cut, *exactQuotient(b, factor)};
  return std::nullopt;
}

/// a = quotient * part + remainder with 0 <= remainder < part, where part is a factor of b = part * times.
struct FactorCut {
  Expr quotient, remainder, part, times;
};

/// a cut at a symbolic factor of b, which is at least 0: (c*h*w + y*w + x) // (4*h*w) is c // 4 where y*w + x < h*w,
/// and (y*w + x) // (h*w) is y // h. nullopt if no factor leaves a remainder that is provably one.
static std::optional<FactorCut> cutAtSymbolicFactor(Expr a, Expr b) {
  if (b.min() < 0)
    return std::nullopt;
  auto cut = [&](Expr part, Expr times) -> std::optional<FactorCut> {
    auto [quotient, remainder] = dividePolynomial(a, part);
    if (quotient.isConst(0) || part.min() < 0 || (!remainder.isConst(0) && !isRemainderOf(remainder, part)))
      return std::nullopt;
    return FactorCut{quotient, remainder, part, times};
  };
  if (int64_t common = commonFactor(b); common > 1)
    if (std::optional<FactorCut> found = cut(*exactQuotient(b, common), common))
      return found;
  if (b.kind() != Kind::Mul)
    return std::nullopt;
  SmallVector<Expr, 4> factors;
  splitFactors(splitTerm(b).rest, factors);
  if (factors.size() == 1)
    return std::nullopt;
  for (Expr factor : factors)
    if (std::optional<FactorCut> found = cut(factor, *exactQuotient(b, factor)))
      return found;
  return std::nullopt;
}

Expr kiln::view::symbolicFloorDiv(Expr a, Expr b) {
  if (b.isConst())
    return divideByConstant(a, b.constant());
  if (a == b)
    return 1;
  if (a.isConst(0))
    return 0;
  auto [quotient, remainder] = dividePolynomial(a, b);
  if (remainder.isConst(0) || isRemainderOf(remainder, b))
    return quotient;
  if (std::optional<CommonCut> cut = cutAtCommonFactor(remainder, b))
    return quotient + floorDiv(cut->numerator.multiple, cut->divisor);
  if (std::optional<FactorCut> cut = cutAtSymbolicFactor(remainder, b))
    return quotient + floorDiv(cut->quotient, cut->times);
  return quotient + intern(Kind::FloorDiv, {remainder, b});
}

Expr kiln::view::symbolicMod(Expr a, Expr b) {
  if (b.isConst())
    return moduloByConstant(a, b.constant());
  if (a == b || a.isConst(0))
    return 0;
  Expr remainder = dividePolynomial(a, b).remainder;
  if (remainder.isConst(0) || isRemainderOf(remainder, b))
    return remainder;
  if (std::optional<CommonCut> cut = cutAtCommonFactor(remainder, b))
    return mod(cut->numerator.multiple, cut->divisor) * Expr(cut->factor) + cut->numerator.rest;
  if (std::optional<FactorCut> cut = cutAtSymbolicFactor(remainder, b))
    return mod(cut->quotient, cut->times) * cut->part + cut->remainder;
  return intern(Kind::Mod, {remainder, b});
}

Expr kiln::view::ceilDiv(Expr a, Expr b) {
  if (!b.isConst())
    if (std::optional<Expr> exact = exactQuotient(a, b))
      return *exact;
  // Not -floor(-a/b): most numerators are not negative, and the floor of one that may be needs an offset as large as
  // the bounds before the division.
  if (b.isConst() && b.constant() > 0)
    return floorDiv(a + (b - 1), b);
  return -floorDiv(-a, b);
}
