//===- Refused.h - Operators that are known and not imported -------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace kiln::import::onnx {

struct Refusal {
  llvm::StringLiteral cause, remedy;
};

/// Why an operator is not imported, and what to do instead; null where it is not known.
const Refusal *refusalOf(llvm::StringRef domain, llvm::StringRef name);

/// All of them, as "domain:Name"; where a whole domain is refused, "domain:".
std::vector<std::string> refusedNames();

} // namespace kiln::import::onnx
