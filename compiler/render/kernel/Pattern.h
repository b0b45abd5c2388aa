//===- Pattern.h - The little patterns that renderers' tables are written in --===//
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace kiln::render {

/// `pattern` with every $c replaced by what `value` gives for the character c.
std::string fillPattern(llvm::StringRef pattern, llvm::function_ref<std::string(char)> value);

/// `text` without the parentheses around it where one pair encloses the whole.
llvm::StringRef stripParens(llvm::StringRef text);

} // namespace kiln::render
