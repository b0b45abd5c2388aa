//===- RatesOption.h - --rates ------------------------------------------------===//
#pragma once

#include "ir/base/Target.h"

#include "llvm/Support/Error.h"

#include <utility>
#include <vector>

namespace kiln::driver {

/// Some of a target's rates: the names are of RatesAttr::names.
using Rates = std::vector<std::pair<std::string, Rate>>;

/// Reads NAME=NUMBER,NAME=NUMBER… ; a usage error if a name is not a rate or a number not finite and above 0.
llvm::Expected<Rates> parseRates(llvm::StringRef text);

} // namespace kiln::driver
