//===- OtherWords.h - Other tools' words for kiln's ---------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace kiln::driver {

/// A remedy for an unknown option: "did you mean '--quiet'?", the one of `known` that others call so or that is spelt
/// nearly so, else `otherwise`. One letter is near to every other, so for a single letter only names that others use
/// are offered.
std::string nearestOption(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> known, llvm::StringRef otherwise);

/// The same for a kind of --emit.
std::string nearestKind(llvm::StringRef given, llvm::ArrayRef<llvm::StringRef> known, llvm::StringRef otherwise);

/// The whole name of a system that is given only by its architecture, "aarch64-linux-gnu" for aarch64; else `text`.
llvm::StringRef systemOf(llvm::StringRef text);

/// The kind of --emit that makes a file with this ending; "" if it is the name of a program, or of anything else.
llvm::StringRef kindOfFile(llvm::StringRef file);

} // namespace kiln::driver
