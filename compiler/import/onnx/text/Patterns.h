//===- Patterns.h - Patterns of strings, looked at when a model is imported ---===//
#pragma once

#include "kiln/call.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace kiln::import::onnx {

/// What is wrong with patterns, by the call that programs match with: given buffers (the patterns are its third) and
/// numbers that begin with no strings. "" where nothing is.
std::string patternError(kiln_call call, llvm::ArrayRef<std::string> patterns, llvm::ArrayRef<int64_t> numbers);

} // namespace kiln::import::onnx
