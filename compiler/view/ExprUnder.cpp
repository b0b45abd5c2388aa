//===- ExprUnder.cpp - Use a condition to simplify an expression ---------===//
//
// After padding, an index counts only where the mask holds, and there its variables have tighter bounds than elsewhere:
// divisions and remainders that the padding brought in fall away.
//
//===----------------------------------------------------------------------===//
#include "view/ExprNode.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"

using namespace kiln::view;
using llvm::DenseMap;
using llvm::SmallVector;
using Kind = Expr::Kind;

namespace {
struct Interval {
  int64_t min, max;
};
/// Bounds of terms' rests (variables, quotients, remainders) where the condition holds.
using Facts = llvm::MapVector<Expr, Interval>;

/// sum of `terms` <= limit.
struct Inequality {
  SmallVector<Term, 8> terms;
  int64_t limit = 0;
};
} // namespace

static Interval boundsIn(const Facts &facts, Expr e) {
  auto it = facts.find(e);
  return it == facts.end() ? Interval{e.min(), e.max()} : it->second;
}

static int64_t leastOf(const Facts &facts, Term t) {
  Interval i = boundsIn(facts, t.rest);
  return saturatingMul(t.coefficient, t.coefficient > 0 ? i.min : i.max);
}

/// Bounds each term by the room that the others leave. False if the inequality cannot hold.
static bool propagate(const Inequality &inequality, Facts &facts) {
  for (const Term &term : inequality.terms) {
    int64_t others = 0;
    for (const Term &other : inequality.terms)
      if (&other != &term)
        others = addLo(others, leastOf(facts, other));
    int64_t room = addHi(inequality.limit, -others);
    if (isInfinite(room) || term.coefficient == 0)
      continue;
    Interval i = boundsIn(facts, term.rest);
    if (term.coefficient > 0)
      i.max = std::min(i.max, floorDivide(room, term.coefficient));
    else
      i.min = std::max(i.min, -floorDivide(room, -term.coefficient));
    if (i.min > i.max)
      return false;
    facts[term.rest] = i;
  }
  return true;
}

/// `e` with the expressions of `from` replaced by tighter ones, simplified, and turned back.
static Expr through(Expr e, const DenseMap<Expr, Expr> &there, DenseMap<Expr, Expr> back) {
  // A variable is another one when its limit changes.
  e.forEachVariable([&](Expr variable) {
    if (Expr moved = variable.substitute(there); moved != variable && !there.contains(variable))
      back.try_emplace(moved, variable);
  });
  return e.substitute(there).substitute(back);
}

/// How many other operators a division takes as long as.
static constexpr int64_t kDivisionWeight = 4;

static bool isSimpler(Expr a, Expr b) {
  auto cost = [](Expr e) { return e.weight() + kDivisionWeight * (e.isConst() ? 0 : int64_t(e.node()->divisions)); };
  return cost(a) < cost(b);
}

Expr kiln::view::simplifyUnder(Expr e, Expr condition) {
  if (e.isConst() || condition.isConst())
    return e;
  SmallVector<Inequality, 4> inequalities;
  DenseMap<Expr, Expr> there, back;
  auto learn = [&](Expr conjunct) {
    if (conjunct.kind() != Kind::Less)
      return;
    Inequality i;
    int64_t constant = 0;
    splitSum(conjunct.operands()[0] - conjunct.operands()[1], i.terms, constant);
    i.limit = addHi(-1, -constant);
    inequalities.push_back(std::move(i));
  };
  if (condition.kind() == Kind::And)
    llvm::for_each(condition.operands(), learn);
  else
    learn(condition);

  Facts facts;
  for (int round = 0; round < 2; ++round)
    for (const Inequality &i : inequalities)
      if (!propagate(i, facts))
        return e;

  unsigned fresh = 0;
  for (auto &[rest, i] : facts) {
    if (i.min <= rest.min() && i.max >= rest.max())
      continue;
    // The prefix cannot occur in a model's names without being quoted, and the number keeps stand-ins apart.
    Expr standIn = Expr::variable("\1" + std::to_string(fresh++), i.min, i.max);
    there.try_emplace(rest, standIn);
    if (!standIn.isConst())
      back.try_emplace(standIn, rest);
  }
  Expr best = there.empty() ? e : through(e, there, back);
  if (isSimpler(e, best))
    best = e;

  // A bounded sum x + y < c as a variable of its own: x becomes sum - y.
  for (const Inequality &i : inequalities) {
    if (i.terms.size() < 2)
      continue;
    Interval total{0, i.limit};
    SmallVector<Expr, 8> parts;
    std::optional<Term> unit;
    for (const Term &t : i.terms) {
      total.min = addLo(total.min, leastOf(facts, t));
      parts.push_back(scaled(t.rest, t.coefficient));
      if (!unit && t.rest.kind() == Kind::Var && (t.coefficient == 1 || t.coefficient == -1))
        unit = t;
    }
    if (!unit || total.min > total.max)
      continue;
    Expr whole = sum(parts), standIn = Expr::variable("\1" + std::to_string(fresh++), total.min, total.max);
    Expr others = whole - scaled(unit->rest, unit->coefficient);
    DenseMap<Expr, Expr> there, back;
    there.try_emplace(unit->rest, (standIn - others) * Expr(unit->coefficient));
    if (!standIn.isConst())
      back.try_emplace(standIn, whole);
    Expr candidate = through(best, there, back);
    if (isSimpler(candidate, best))
      best = candidate;
  }
  return best;
}
