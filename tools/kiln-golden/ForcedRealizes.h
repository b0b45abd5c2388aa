//===- ForcedRealizes.h - Tensors that a program keeps in memory on purpose -===//
#pragma once

#include "tools/kiln-golden/Report.h"

#include <optional>
#include <set>

namespace kiln::golden {

/// The primitives that a `contiguous` node marks without a call of its own: a value whose elements are in order
/// already is the same object afterwards, only realized. Found by following the nodes; nullopt, with a mismatch, if
/// that fails.
std::optional<std::set<int64_t>> findForcedRealizes(const Json &program, Report &report);

} // namespace kiln::golden
