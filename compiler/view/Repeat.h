//===- Repeat.h - Axes that are expanded -------------------------------------===//
#pragma once

#include "view/Expr.h"

namespace kiln::view {

/// How an axis of `from` elements moves along one of `to` when it is expanded: 1 where both are equal, 0 where `from`
/// is 1, and r where it is 1 + r * (to - 1), r being 0 or 1. nullopt where it cannot be expanded.
std::optional<Expr> repeatStep(Expr from, Expr to);

} // namespace kiln::view
