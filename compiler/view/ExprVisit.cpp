//===- ExprVisit.cpp - Substitution and evaluation -----------------------===//
//
// Equal parts of an expression are one node, so it is a graph in which a part may be reached in many ways, more than
// anyone can walk. Each function here remembers its result for a node, at least for a large one, and does not compute
// it again. Changed parts are built anew by the functions that build all expressions, so that they are simplified as if
// they had been written so: with 0 for i, i * 4 + j becomes j. A value exists only if every variable has one and
// nothing divides by 0.
//
//===---------------------------------------------------------------------===//
#include "view/ExprNode.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

using namespace kiln::view;
using llvm::ArrayRef;
using llvm::DenseMap;
using llvm::SmallVector;
using Kind = Expr::Kind;

static Expr rebuild(Kind kind, ArrayRef<Expr> operands) {
  switch (kind) {
  case Kind::Add:
    return sum(operands);
  case Kind::Mul:
    return operands[0] * operands[1];
  case Kind::FloorDiv:
    return floorDiv(operands[0], operands[1]);
  case Kind::Mod:
    return mod(operands[0], operands[1]);
  case Kind::Min:
    return minimum(operands[0], operands[1]);
  case Kind::Max:
    return maximum(operands[0], operands[1]);
  case Kind::Less:
    return less(operands[0], operands[1]);
  case Kind::And:
    return logicalAnd(operands);
  case Kind::Const:
  case Kind::Var:
    break;
  }
  llvm_unreachable("a leaf has no operands");
}

static Expr substituted(Expr e, const DenseMap<Expr, Expr> &values, DenseMap<Expr, Expr> &done) {
  if (e.isConst())
    return e;
  if (auto it = values.find(e); it != values.end())
    return it->second;
  if (e.kind() == Kind::Var && !e.limit())
    return e;
  if (auto it = done.find(e); it != done.end())
    return it->second;
  Expr result = e;
  if (e.kind() == Kind::Var) {
    Expr limit = substituted(*e.limit(), values, done);
    if (limit != *e.limit())
      result = Expr::variable(e.name(), e.min(), limit);
  } else {
    SmallVector<Expr, 8> operands;
    for (Expr operand : e.operands())
      operands.push_back(substituted(operand, values, done));
    if (ArrayRef(operands) != e.operands())
      result = rebuild(e.kind(), operands);
  }
  done.try_emplace(e, result);
  return result;
}

Expr Expr::substitute(const DenseMap<Expr, Expr> &values) const {
  DenseMap<Expr, Expr> done;
  return values.empty() ? *this : substituted(*this, values, done);
}

/// A divisor with 1 in place of 0; in place of a multiple of it, so that its dividend still can be cut there.
static Expr atLeastOne(Expr divisor) {
  int64_t common = commonFactor(divisor);
  std::optional<Expr> rest = common > 1 ? exactQuotient(divisor, common) : std::nullopt;
  return rest ? maximum(*rest, 1) * Expr(common) : maximum(divisor, 1);
}

static Expr guarded(Expr e, DenseMap<Expr, Expr> &done) {
  if (e.isConst() || e.kind() == Kind::Var)
    return e;
  if (auto it = done.find(e); it != done.end())
    return it->second;
  SmallVector<Expr, 8> operands;
  for (Expr operand : e.operands())
    operands.push_back(guarded(operand, done));
  bool divides = e.kind() == Kind::FloorDiv || e.kind() == Kind::Mod;
  if (divides && !operands[1].isConst() && operands[1].min() <= 0)
    operands[1] = atLeastOne(operands[1]);
  Expr result = ArrayRef(operands) == e.operands() ? e : rebuild(e.kind(), operands);
  done.try_emplace(e, result);
  return result;
}

Expr kiln::view::guardSymbolicDivisors(Expr e) {
  DenseMap<Expr, Expr> done;
  return guarded(e, done);
}

static Expr rebuilt(Expr e, DenseMap<Expr, Expr> &done) {
  if (e.isConst() || (e.kind() == Kind::Var && !e.limit()))
    return e;
  if (auto it = done.find(e); it != done.end())
    return it->second;
  SmallVector<Expr, 8> operands;
  Expr result = e;
  if (e.kind() == Kind::Var) {
    result = Expr::variable(e.name(), e.min(), rebuilt(*e.limit(), done));
  } else {
    for (Expr operand : e.operands())
      operands.push_back(rebuilt(operand, done));
    result = rebuild(e.kind(), operands);
  }
  done.try_emplace(e, result);
  return result;
}

Expr kiln::view::settled(Expr e) {
  constexpr int kMostRounds = 8;
  for (int round = 0; round < kMostRounds; ++round) {
    DenseMap<Expr, Expr> done;
    Expr next = rebuilt(e, done);
    if (next == e)
      break;
    e = next;
  }
  return e;
}

using Values = DenseMap<Expr, int64_t>;
using MaybeValues = DenseMap<Expr, std::optional<int64_t>>;

static std::optional<int64_t> evaluated(Expr e, const Values &values, MaybeValues &done);

static std::optional<int64_t> evaluateNode(Expr e, const Values &values, MaybeValues &done) {
  SmallVector<int64_t, 8> v;
  for (Expr operand : e.operands()) {
    std::optional<int64_t> value = evaluated(operand, values, done);
    if (!value)
      return std::nullopt;
    v.push_back(*value);
  }
  switch (e.kind()) {
  case Kind::Add: {
    int64_t total = 0;
    for (int64_t x : v)
      total = saturatingAdd(total, x, 0);
    return total;
  }
  case Kind::Mul:
    return saturatingMul(v[0], v[1]);
  case Kind::FloorDiv:
    return v[1] == 0 ? std::nullopt : std::optional(floorDivide(v[0], v[1]));
  case Kind::Mod:
    return v[1] == 0 ? std::nullopt : std::optional(floorModulo(v[0], v[1]));
  case Kind::Min:
    return std::min(v[0], v[1]);
  case Kind::Max:
    return std::max(v[0], v[1]);
  case Kind::Less:
    return v[0] < v[1];
  case Kind::And:
    return llvm::all_of(v, [](int64_t x) { return x != 0; });
  case Kind::Const:
  case Kind::Var:
    break;
  }
  llvm_unreachable("a leaf has no operands");
}

static std::optional<int64_t> evaluated(Expr e, const Values &values, MaybeValues &done) {
  if (e.isConst())
    return e.constant();
  if (e.kind() == Kind::Var) {
    auto it = values.find(e);
    return it == values.end() ? std::nullopt : std::optional(it->second);
  }
  // A small expression is computed again faster than remembered.
  if (e.weight() < 32)
    return evaluateNode(e, values, done);
  if (auto it = done.find(e); it != done.end())
    return it->second;
  std::optional<int64_t> value = evaluateNode(e, values, done);
  done.try_emplace(e, value);
  return value;
}

std::optional<int64_t> Expr::evaluate(const Values &values) const {
  MaybeValues done;
  return evaluated(*this, values, done);
}

static void visitVariables(Expr e, llvm::DenseSet<Expr> &seen, llvm::function_ref<void(Expr)> visit) {
  if (e.isConst() || !seen.insert(e).second)
    return;
  if (e.kind() == Kind::Var)
    return visit(e);
  for (Expr operand : e.operands())
    visitVariables(operand, seen, visit);
}

void Expr::forEachVariable(llvm::function_ref<void(Expr)> visit) const {
  llvm::DenseSet<Expr> seen;
  visitVariables(*this, seen, visit);
}
