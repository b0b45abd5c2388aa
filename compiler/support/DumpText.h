//===- DumpText.h - Aliases of a dump stand last -------------------------------------===//
//
// MLIR prints the aliases of long attributes, such as the target's tables, before the module, and its parser wants them
// there. A reader wants the module first. So a dump is written with them after it, and read as MLIR wants it.
//
//===------------------------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace kiln {

/// A module as MLIR prints it, with the lines of aliases (`#target = …`) after it.
std::string aliasesLast(llvm::StringRef text);

/// The other way round, for text with aliases anywhere. They come before the first line, in it, so that errors still
/// name the lines of `text`. A text of several modules, which MLIR splits, is left as it is.
std::string aliasesFirst(llvm::StringRef text);

} // namespace kiln
