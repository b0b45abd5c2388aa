//===- ExprNode.cpp - The pool that makes equal expressions one node -----===//
//
// Expressions are compared all the time (is this stride that product?), so equal ones must be one node. The pool is cut
// into shards by hash, each with a lock of its own, so that threads that compile kernels in parallel seldom wait. A
// node's bounds may need further expressions and are found with no lock held; if two threads make the same node at
// once, the second takes the first one's.
//
//===---------------------------------------------------------------------===//
#include "view/ExprNode.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Allocator.h"

#include <algorithm>
#include <array>
#include <mutex>

using namespace kiln::view;
using llvm::ArrayRef;
using llvm::StringRef;
using Kind = Expr::Kind;

namespace {

struct NodeInfo {
  static ExprNode *getEmptyKey() { return llvm::DenseMapInfo<ExprNode *>::getEmptyKey(); }
  static ExprNode *getTombstoneKey() { return llvm::DenseMapInfo<ExprNode *>::getTombstoneKey(); }
  static unsigned getHashValue(const ExprNode *n) {
    // Bounds distinguish variables; otherwise they follow from the operands.
    if (n->kind == Kind::Var)
      return unsigned(llvm::hash_combine(n->name, n->min, n->max, hash_value(n->limit)));
    return unsigned(llvm::hash_combine(unsigned(n->kind), n->value,
                                       llvm::hash_combine_range(n->operands.begin(), n->operands.end())));
  }
  static bool isEqual(const ExprNode *a, const ExprNode *b) {
    if (a == b)
      return true;
    if (a == getEmptyKey() || a == getTombstoneKey() || b == getEmptyKey() || b == getTombstoneKey())
      return false;
    if (a->kind != b->kind)
      return false;
    if (a->kind == Kind::Var)
      return a->name == b->name && a->min == b->min && a->max == b->max && a->limited == b->limited &&
             a->limit == b->limit;
    return a->value == b->value && a->operands == b->operands;
  }
};

class Pool {
public:
  /// The node equal to `key`; a new one is completed by `finish` before anyone else can see it.
  template <typename Finish> const ExprNode *get(ExprNode &key, Finish finish) {
    unsigned hash = NodeInfo::getHashValue(&key);
    Shard &shard = shards_[(hash * 0x9e3779b9u) >> 28];
    {
      std::lock_guard lock(shard.mutex);
      if (auto it = shard.nodes.find(&key); it != shard.nodes.end())
        return *it;
    }
    // Bounds may need further expressions, so they are found outside the lock.
    finish(key);
    std::lock_guard lock(shard.mutex);
    if (auto it = shard.nodes.find(&key); it != shard.nodes.end())
      return *it;
    auto *node = new (shard.memory.Allocate<ExprNode>()) ExprNode(key);
    node->name = key.name.copy(shard.memory);
    node->operands = key.operands.copy(shard.memory);
    shard.nodes.insert(node);
    return node;
  }

private:
  struct Shard {
    std::mutex mutex;
    llvm::DenseSet<ExprNode *, NodeInfo> nodes;
    llvm::BumpPtrAllocator memory;
  };
  std::array<Shard, 16> shards_;
};

Pool &pool() {
  static Pool *pool = new Pool;
  return *pool;
}

struct Bounds {
  int64_t min, max;
};

Bounds boundsOfProduct(Bounds a, Bounds b) {
  int64_t corners[] = {saturatingMul(a.min, b.min), saturatingMul(a.min, b.max), saturatingMul(a.max, b.min),
                       saturatingMul(a.max, b.max)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

Bounds boundsOfQuotient(Bounds a, Bounds b) {
  // A divisor is never 0 if the quotient has a value.
  if (b.min == 0)
    b.min = 1;
  if (b.max == 0)
    b.max = -1;
  if (b.min > b.max || (b.min < 0 && b.max > 0)) {
    int64_t most = std::max(-a.min, a.max);
    most = std::max<int64_t>(most, std::max(a.min, -a.max));
    return {-most, most};
  }
  int64_t corners[] = {floorDivide(a.min, b.min), floorDivide(a.min, b.max), floorDivide(a.max, b.min),
                       floorDivide(a.max, b.max)};
  Bounds r{*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
  // An infinite divisor shrinks the quotient to 0 or -1.
  if (isInfinite(b.min) || isInfinite(b.max))
    r = {std::min<int64_t>(r.min, -1), std::max<int64_t>(r.max, 0)};
  return r;
}

Bounds boundsOfModulo(Bounds a, Bounds b) {
  if (b.min == b.max && b.min > 0 && !isInfinite(a.min) && !isInfinite(a.max) &&
      floorDivide(a.min, b.min) == floorDivide(a.max, b.min))
    return {floorModulo(a.min, b.min), floorModulo(a.max, b.min)};
  int64_t low = b.min < 0 ? addLo(b.min, 1) : 0, high = b.max > 0 ? addHi(b.max, -1) : 0;
  // A remainder is no larger than the numerator, if both are of one sign.
  if (a.min >= 0 && b.min >= 0)
    high = std::min(high, a.max);
  return {low, high};
}

Bounds boundsOf(Kind kind, ArrayRef<Expr> operands) {
  Bounds a{operands[0].min(), operands[0].max()}, b{operands[1].min(), operands[1].max()};
  switch (kind) {
  case Kind::Add: {
    Bounds r{0, 0};
    for (Expr e : operands)
      r = {addLo(r.min, e.min()), addHi(r.max, e.max())};
    return r;
  }
  case Kind::Mul: {
    Bounds r = boundsOfProduct(a, b);
    return operands[0] == operands[1] ? Bounds{std::max<int64_t>(r.min, 0), r.max} : r;
  }
  case Kind::FloorDiv:
    return boundsOfQuotient(a, b);
  case Kind::Mod:
    return boundsOfModulo(a, b);
  case Kind::Min:
    return {std::min(a.min, b.min), std::min(a.max, b.max)};
  case Kind::Max:
    return {std::max(a.min, b.min), std::max(a.max, b.max)};
  case Kind::Less:
    return {a.max < b.min && !isInfinite(a.max) && !isInfinite(b.min), !(a.min >= b.max)};
  case Kind::And: {
    Bounds r{1, 1};
    for (Expr e : operands)
      r = {std::min(r.min, e.min()), std::min(r.max, e.max())};
    return r;
  }
  case Kind::Const:
  case Kind::Var:
    break;
  }
  llvm_unreachable("a leaf has no operands");
}

const ExprNode *internLeaf(ExprNode &key) {
  return pool().get(key, [](ExprNode &) {});
}

} // namespace

Expr kiln::view::intern(Kind kind, ArrayRef<Expr> operands) {
  ExprNode key{.kind = kind, .operands = operands};
  const ExprNode *node = pool().get(key, [](ExprNode &n) {
    Bounds bounds = boundsOf(n.kind, n.operands);
    uint64_t weight = n.kind == Kind::Add || n.kind == Kind::And ? n.operands.size() - 1 : 1;
    uint64_t divisions = n.kind == Kind::FloorDiv || n.kind == Kind::Mod;
    for (Expr e : n.operands) {
      weight += e.weight();
      n.limited |= isLimited(e);
      if (!e.isConst()) {
        n.extrema = uint8_t(std::min(UINT8_MAX, n.extrema + e.node()->extrema));
        n.quotients = std::max(n.quotients, e.node()->quotients);
        divisions += e.node()->divisions;
      }
    }
    if (n.kind == Kind::Min || n.kind == Kind::Max)
      n.extrema = uint8_t(std::min(UINT8_MAX, n.extrema + 1));
    if (n.kind == Kind::FloorDiv)
      n.quotients = uint8_t(std::min(UINT8_MAX, n.quotients + 1));
    n.weight = uint32_t(std::min<uint64_t>(weight, UINT32_MAX));
    n.divisions = uint32_t(std::min<uint64_t>(divisions, UINT32_MAX));
    n.min = bounds.min, n.max = bounds.max;
    if (n.limited && n.kind == Kind::Add) {
      if (std::optional<Expr> above = boundSum(n.operands, /*above=*/true))
        n.max = std::min(n.max, above->max());
      if (std::optional<Expr> below = boundSum(n.operands, /*above=*/false))
        n.min = std::max(n.min, below->min());
    }
    if (n.kind == Kind::Add)
      tightenSum(n);
  });
  return node->min == node->max && !isInfinite(node->min) ? Expr(node->min) : Expr::fromNode(node);
}

const ExprNode *Expr::wideConstant(int64_t value) {
  value = std::max(value, kMinusInfinity);
  ExprNode key{.kind = Kind::Const, .min = value, .max = value, .value = value};
  return internLeaf(key);
}

Expr Expr::variable(StringRef name, int64_t min, int64_t max) {
  assert(min <= max && "a variable needs a value");
  min = std::max(min, kMinusInfinity);
  max = std::max(max, kMinusInfinity);
  if (min == max)
    return min;
  ExprNode key{.kind = Kind::Var, .min = min, .max = max, .name = name};
  return Expr(internLeaf(key));
}

Expr Expr::variable(StringRef name, int64_t min, Expr limit) {
  if (limit.isConst())
    return variable(name, min, std::max(min, limit.constant()));
  ExprNode key{.kind = Kind::Var, .limited = true, .min = min, .max = std::max(min, limit.max()), .name = name};
  key.limit = limit;
  if (key.min == key.max)
    return key.min;
  return Expr(internLeaf(key));
}

Kind Expr::nodeKind() const { return node_->kind; }
int64_t Expr::nodeMin() const { return node_->min; }
int64_t Expr::nodeMax() const { return node_->max; }
int64_t Expr::wideValue() const {
  assert(node_->kind == Kind::Const && "the value of what is not a constant");
  return node_->value;
}

std::optional<int64_t> Expr::asConst() const { return min() == max() ? std::optional(min()) : std::nullopt; }

StringRef Expr::name() const {
  assert(kind() == Kind::Var && "only variables have names");
  return node_->name;
}

std::optional<Expr> Expr::limit() const {
  assert(kind() == Kind::Var && "only variables have limits");
  return node_->limited ? std::optional(node_->limit) : std::nullopt;
}

uint32_t Expr::weight() const { return isTagged() ? 1 : node_->weight; }

ArrayRef<Expr> Expr::operands() const { return isTagged() ? ArrayRef<Expr>() : node_->operands; }

bool kiln::view::isLimited(Expr e) { return !e.isConst() && e.node()->limited; }

static int rank(Expr e) {
  // Variables before composed terms; constants last, as one writes sums.
  return e.kind() == Kind::Const ? 100 : e.kind() == Kind::Var ? 0 : int(e.kind());
}

static int order(int64_t a, int64_t b) { return a < b ? -1 : a > b; }

int kiln::view::compare(Expr a, Expr b) {
  if (a == b)
    return 0;
  if (int c = order(rank(a), rank(b)))
    return c;
  if (a.isConst())
    return order(a.constant(), b.constant());
  if (a.kind() == Kind::Var) {
    if (int c = a.name().compare(b.name()))
      return c;
    if (int c = order(a.min(), b.min()))
      return c;
    if (int c = order(a.max(), b.max()))
      return c;
    return compare(a.limit().value_or(0), b.limit().value_or(0));
  }
  for (size_t i = 0; i < a.operands().size() && i < b.operands().size(); ++i)
    if (int c = compare(a.operands()[i], b.operands()[i]))
      return c;
  return order(int64_t(a.operands().size()), int64_t(b.operands().size()));
}
