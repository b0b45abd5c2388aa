//===- Patterns.h - Check patterns of strings at import -----------------------===//
#pragma once

#include "kiln/call.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace kiln::import::onnx {

/// The fault of patterns, by the call that programs match with: given buffers (the patterns are its third) and numbers
/// that begin with no strings. "" if there is none.
std::string patternError(kiln_call call, llvm::ArrayRef<std::string> patterns, llvm::ArrayRef<int64_t> numbers);

} // namespace kiln::import::onnx
