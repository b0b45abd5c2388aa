//===- Pattern.h - The patterns of renderers' tables --------------------------===//
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace kiln::render {

/// `pattern` with every $c replaced by the text that `value` returns for the character c.
std::string fillPattern(llvm::StringRef pattern, llvm::function_ref<std::string(char)> value);

/// `text` without the parentheses around it, if one pair encloses the whole.
llvm::StringRef stripParens(llvm::StringRef text);

} // namespace kiln::render
