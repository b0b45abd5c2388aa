//===- PlainText.h - Names of a model's, for a terminal -----------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace kiln {

/// The text with a '?' in place of each control character but a line's end: names from a model may hold anything, also
/// what moves a terminal's cursor.
std::string plainText(llvm::StringRef text);

} // namespace kiln
