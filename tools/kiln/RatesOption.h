//===- RatesOption.h - --rates ------------------------------------------------===//
#pragma once

#include "target/Target.h"

#include "llvm/Support/Error.h"

namespace kiln::driver {

/// Reads NAME=NUMBER,NAME=NUMBER… into the rates of those names: bytes-per-ns, ops-per-ns, product-ops-per-ns,
/// launch-ns, units, tile-reuse.
llvm::Error parseRates(llvm::StringRef text, target::Rates &rates);

} // namespace kiln::driver
