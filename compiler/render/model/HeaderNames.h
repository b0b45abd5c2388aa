//===- HeaderNames.h - Names that C and C++ programs can have ---------------------------===//
//
// A tensor may be called anything: "a/b:0", "int", "INT32_MAX". A header makes identifiers of it that no keyword, type
// or macro takes, whatever headers stand before it and in every C from C11 and C++ from C++11. Macros are met by rule,
// as there is no list of them: nearly all are written in capitals, so a name that is gets small letters.
// A name that was made stays the same in later versions, since programs have it: one that is fine is kept as it is.
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
  /// Nothing is called as one of these.
  void take(llvm::StringRef name) { taken_.insert(name); }
  /// An identifier that is like `name`. It is free, and so is it with each of `endings` behind it: all are taken then.
  std::string add(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> endings = {});

private:
  llvm::StringSet<> taken_;
};

/// What names begin with in the header of a model called `text`: `text` itself where functions may be called so, and
/// none of the runtime's or of the C library's are, nor of those that C keeps for itself.
std::string headerName(llvm::StringRef text);

/// Whether a file of this name hides a header that the C library's and C++'s own include.
bool hidesSystemHeader(llvm::StringRef file);

} // namespace kiln::render
