//===- LeastSize.h - The least value of a symbol for a size ------------------===//
#pragma once

#include "view/Expr.h"

#include <optional>

namespace kiln::import {

struct LeastSize {
  view::Expr symbol;
  int64_t value;
};

/// The least value of a size's only symbol with which the size is at least `wanted`, also past the symbol's largest.
/// Nothing if the size has no symbol or several, if the symbol's least is enough, or no value up to some thousands is.
std::optional<LeastSize> leastFor(view::Expr size, int64_t wanted);

} // namespace kiln::import
