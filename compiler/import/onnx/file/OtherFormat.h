//===- OtherFormat.h - The format of a file that is not an ONNX model --------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace kiln::import::onnx {

/// The kind of a file, and a remedy, in an error's words.
struct OtherFormat {
  llvm::StringLiteral cause, remedy;
};

/// The format that the first bytes of a file are known by; none of them begins an ONNX model that a program writes.
std::optional<OtherFormat> otherFormat(llvm::StringRef file);

} // namespace kiln::import::onnx
