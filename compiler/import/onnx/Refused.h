//===- Refused.h - Operators that are known and not imported -------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace kiln::import::onnx {

struct Refusal {
  llvm::StringLiteral cause, remedy;
};

/// The reason why an operator is not imported, and a remedy; null if it is not known.
const Refusal *refusalOf(llvm::StringRef domain, llvm::StringRef name);

/// All of them, as "domain:Name"; if a whole domain is refused, "domain:".
std::vector<std::string> refusedNames();

} // namespace kiln::import::onnx
