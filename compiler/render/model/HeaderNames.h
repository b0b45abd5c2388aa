//===- HeaderNames.h - Make names for C and C++ programs --------------------------------===//
//
// A tensor may have any name: "a/b:0", "int", "INT32_MAX". A header makes identifiers of them that no keyword, type or
// macro has, whatever headers come before it and in every C from C11 and C++ from C++11. Macros are avoided by rule, as
// there is no list of them: nearly all are written in capitals, so a name in capitals gets small letters. A name that
// was made stays the same in later versions, since programs use it: one that is valid is kept.
//
//===--------------------------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace kiln::render {

/// Identifiers for parameters and members; what C and C++ reserve, or another name has taken, gets a number.
class HeaderNames {
public:
  HeaderNames();
  /// These names are never used.
  void take(llvm::StringRef name) { taken_.insert(name); }
  /// An identifier that is like `name`. It is free, also with each of `endings` appended: all are taken then.
  std::string add(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> endings = {});

private:
  llvm::StringSet<> taken_;
};

/// The beginning of names in the header of a model called `text`: `text` itself if functions may have such names, and
/// no function of the runtime or of the C library has one, nor does C reserve them.
std::string headerName(llvm::StringRef text);

/// Whether a file of this name hides a header that the C library's and C++'s own include.
bool hidesSystemHeader(llvm::StringRef file);

} // namespace kiln::render
