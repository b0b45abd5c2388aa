//===- Expr.h - Symbolic integers --------------------------------------===//
//
// Sizes, strides, offsets and index math are integers that may not be known yet: a batch size, a loop counter. An Expr
// is an immutable, hash-consed expression over named, bounded variables, kept simplified by its constructors, so two
// equal expressions built the same way are one node and compare as pointers do. One simplifier serves views, the
// graph's dims and the index math of UOps.
//
// Division and modulo floor, as Python's do; a division by zero has no value, and what has no value may simplify to
// anything. Values are int64; constants and bounds saturate at int64's ends. The node pool is global to the process,
// never shrinks, and is safe to use from several threads; constants of up to 63 bits live in the pointer itself, so
// that static shapes never touch it.
//
//===--------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kiln::view {

/// The largest value that a dimension takes when its bounds are not given.
inline constexpr int64_t kMaxDim = (int64_t(1) << 31) - 1;

struct ExprNode;

class Expr {
public:
  enum class Kind : uint8_t { Const, Var, Add, Mul, FloorDiv, Mod, Min, Max, Less, And };

  /// The constant 0.
  Expr() : node_(tagged(0)) {}
  /// A constant; implicit, so that numbers and expressions mix.
  Expr(int64_t value) : node_(fitsTag(value) ? tagged(value) : wideConstant(value)) {}
  Expr(int value) : node_(tagged(value)) {}

  /// The variable `name` with min ≤ value ≤ max. Variables are equal when name and bounds are. If the bounds leave one
  /// value the result is that constant.
  static Expr variable(llvm::StringRef name, int64_t min, int64_t max);
  /// A variable whose inclusive upper bound is symbolic, e.g. an index into an axis of size n with the limit n - 1. The
  /// simplifier uses the relation: n - idx is at least 1.
  static Expr variable(llvm::StringRef name, int64_t min, Expr limit);

  Kind kind() const { return isTagged() ? Kind::Const : nodeKind(); }
  /// Inclusive bounds, never tighter than the truth.
  int64_t min() const { return isTagged() ? untagged() : nodeMin(); }
  int64_t max() const { return isTagged() ? untagged() : nodeMax(); }
  bool isConst() const { return kind() == Kind::Const; }
  bool isConst(int64_t value) const { return isConst() && constant() == value; }
  /// Const only.
  int64_t constant() const { return isTagged() ? untagged() : wideValue(); }
  /// The value when bounds leave only one.
  std::optional<int64_t> asConst() const;
  /// Var only.
  llvm::StringRef name() const;
  /// Var only: the symbolic upper bound, if it has one.
  std::optional<Expr> limit() const;
  /// Operators and leaves, an n-ary sum or conjunction being n - 1 operators: simplification makes this small.
  uint32_t weight() const;
  /// Add and And: two or more operands. Mul, FloorDiv, Mod, Min, Max, Less: two.
  llvm::ArrayRef<Expr> operands() const;

  bool operator==(Expr other) const { return node_ == other.node_; }
  bool operator!=(Expr other) const { return node_ != other.node_; }
  /// The interned node: an identity for hash tables, not to be dereferenced.
  const ExprNode *node() const { return node_; }
  static Expr fromNode(const ExprNode *node) { return Expr(node); }

  /// The expression with every variable that `values` names replaced, and simplified again.
  Expr substitute(const llvm::DenseMap<Expr, Expr> &values) const;
  /// The value under an assignment of every variable that occurs; nullopt when one is missing or a divisor is 0.
  std::optional<int64_t> evaluate(const llvm::DenseMap<Expr, int64_t> &values) const;
  /// Calls `visit` once for each distinct variable, in order of first occurrence.
  void forEachVariable(llvm::function_ref<void(Expr)> visit) const;

  /// The reference's infix form: ((idx0*80)+(idx1*5)+-16).
  std::string render() const;
  /// The form that parse reads back, variables with bounds other than 0..kMaxDim written name{min..max}, and names that
  /// are not identifiers in double quotes.
  std::string print() const;
  static llvm::Expected<Expr> parse(llvm::StringRef text);

private:
  explicit Expr(const ExprNode *node) : node_(node) {}

  static bool fitsTag(int64_t value) { return value >= -(int64_t(1) << 62) && value < (int64_t(1) << 62); }
  static const ExprNode *tagged(int64_t value) {
    return reinterpret_cast<const ExprNode *>((static_cast<uintptr_t>(value) << 1) | 1); // NOLINT(*-no-int-to-ptr)
  }
  static const ExprNode *wideConstant(int64_t value);
  friend Expr operator+(Expr a, Expr b);
  friend Expr operator-(Expr a, Expr b);
  friend Expr operator-(Expr a);
  friend Expr operator*(Expr a, Expr b);
  friend Expr floorDiv(Expr a, Expr b);
  friend Expr mod(Expr a, Expr b);
  friend bool provablyLess(Expr a, Expr b);
  friend bool provablyLessEqual(Expr a, Expr b);
  static bool areTagged(Expr a, Expr b) {
    return reinterpret_cast<uintptr_t>(a.node_) & reinterpret_cast<uintptr_t>(b.node_) & 1;
  }
  bool isTagged() const { return reinterpret_cast<uintptr_t>(node_) & 1; }
  int64_t untagged() const { return reinterpret_cast<intptr_t>(node_) >> 1; }
  Kind nodeKind() const;
  int64_t nodeMin() const;
  int64_t nodeMax() const;
  int64_t wideValue() const;

  const ExprNode *node_;
};

// Values known at compile time are computed in place: static shapes are most of all shapes.
Expr symbolicSum(Expr a, Expr b);
Expr symbolicProduct(Expr a, Expr b);
Expr symbolicFloorDiv(Expr a, Expr b);
Expr symbolicMod(Expr a, Expr b);

inline Expr operator+(Expr a, Expr b) {
  return Expr::areTagged(a, b) ? Expr(a.untagged() + b.untagged()) : symbolicSum(a, b);
}
inline Expr operator*(Expr a, Expr b) {
  int64_t r;
  return Expr::areTagged(a, b) && !__builtin_mul_overflow(a.untagged(), b.untagged(), &r) ? Expr(r)
                                                                                          : symbolicProduct(a, b);
}
inline Expr operator-(Expr a) { return a.isTagged() ? Expr(-a.untagged()) : symbolicProduct(a, -1); }
inline Expr operator-(Expr a, Expr b) {
  return Expr::areTagged(a, b) ? Expr(a.untagged() - b.untagged()) : a == b ? Expr() : symbolicSum(a, -b);
}
/// Sum of any number of terms, as one node.
Expr sum(llvm::ArrayRef<Expr> terms);
/// Product; 1 when empty. The element count of a shape.
Expr product(llvm::ArrayRef<Expr> factors);
inline Expr floorDiv(Expr a, Expr b) {
  if (!Expr::areTagged(a, b) || b.untagged() <= 0)
    return symbolicFloorDiv(a, b);
  int64_t x = a.untagged(), y = b.untagged();
  return x / y - (x % y < 0);
}
Expr ceilDiv(Expr a, Expr b);
inline Expr mod(Expr a, Expr b) {
  if (!Expr::areTagged(a, b) || b.untagged() <= 0)
    return symbolicMod(a, b);
  int64_t r = a.untagged() % b.untagged();
  return r < 0 ? r + b.untagged() : r;
}
Expr minimum(Expr a, Expr b);
Expr maximum(Expr a, Expr b);
/// 1 if a < b, else 0.
Expr less(Expr a, Expr b);
Expr greaterEqual(Expr a, Expr b);
/// Conjunction of 0/1 expressions; 1 when empty.
Expr logicalAnd(llvm::ArrayRef<Expr> terms);

/// True if a == b for every value of the variables, as far as the simplifier can prove it.
bool provablyEqual(Expr a, Expr b);
/// True if a < b (a <= b) for every value of the variables, as far as bounds can prove it.
inline bool provablyLess(Expr a, Expr b) {
  return Expr::areTagged(a, b) ? a.untagged() < b.untagged() : a != b && (b - a).min() > 0;
}
inline bool provablyLessEqual(Expr a, Expr b) {
  return Expr::areTagged(a, b) ? a.untagged() <= b.untagged() : a == b || (b - a).min() >= 0;
}
/// The quotient if b divides a without remainder as a polynomial (b not 0), else nullopt: (b*s*48) / (s*6) = b*8.
std::optional<Expr> exactQuotient(Expr a, Expr b);

/// `expr` simplified for the points where `condition` (0/1) holds: bounds that the condition implies are used.
Expr simplifyUnder(Expr expr, Expr condition);

inline llvm::hash_code hash_value(Expr e) { return llvm::hash_value(static_cast<const void *>(e.node())); }

} // namespace kiln::view

template <> struct llvm::DenseMapInfo<kiln::view::Expr> {
  using Pointers = llvm::DenseMapInfo<const kiln::view::ExprNode *>;
  static kiln::view::Expr getEmptyKey() { return kiln::view::Expr::fromNode(Pointers::getEmptyKey()); }
  static kiln::view::Expr getTombstoneKey() { return kiln::view::Expr::fromNode(Pointers::getTombstoneKey()); }
  static unsigned getHashValue(kiln::view::Expr e) {
    uint64_t bits = reinterpret_cast<uintptr_t>(e.node()) * 0x9e3779b97f4a7c15u;
    return unsigned(bits >> 32);
  }
  static bool isEqual(kiln::view::Expr a, kiln::view::Expr b) { return a == b; }
};
