//===- IntegerBounds.h - Intervals of integer uops -------------------------------===//
//
// Integers wrap. If the bounds of loops, sizes and constants prove that an operation does not, a renderer may say so:
// LLVM then widens loop counters and folds index math into addresses, and C needs no detour around undefined
// behaviour.
//
//===-----------------------------------------------------------------------------===//
#pragma once

#include "ir/uop/UOp.h"

#include <optional>

namespace kiln::render {

/// Inclusive.
struct Interval {
  int64_t min, max;
  bool contains(int64_t value) const { return min <= value && value <= max; }
};

class IntegerBounds {
public:
  /// The values that `value`, or any lane of it, can have; all values of its dtype if nothing better is known. nullopt:
  /// not an integer, or one that int64 does not hold.
  std::optional<Interval> of(mlir::Value value);

  /// Whether the exact result of `op`, and of each of its steps, fits its dtype.
  bool cannotWrap(uop::AluOp op);

private:
  std::optional<Interval> compute(mlir::Value value);
  std::optional<Interval> exact(uop::AluOp op);

  llvm::DenseMap<mlir::Value, std::optional<Interval>> known_;
};

} // namespace kiln::render
