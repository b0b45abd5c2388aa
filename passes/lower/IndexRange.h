//===- IndexRange.h - Expressions that an int32 holds ---------------------------===//
#pragma once

#include "view/Expr.h"

namespace kiln::lower {

/// Whether every value that the expression can have is an int32.
inline bool fitsInt32(view::Expr expr) { return expr.max() <= INT32_MAX && expr.min() >= INT32_MIN; }

} // namespace kiln::lower
