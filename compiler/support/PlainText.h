//===- PlainText.h - Names of a model's, for a terminal -----------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace kiln {

/// The text in one line, with a blank in place of a line's end and a '?' in place of each other control character and
/// of each byte that is not part of UTF-8, which to some terminals is one: names from a model may hold anything, also
/// what moves a terminal's cursor or begins a line that looks like one of kiln's.
std::string plainText(llvm::StringRef text);

/// The same of a text of several lines, which stay: names are in it as plainText has them.
std::string plainLines(llvm::StringRef text);

} // namespace kiln
