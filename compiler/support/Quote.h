//===- Quote.h - A stranger's text within other text ---------------------------------===//
//
// A model comes from anywhere, and its names may hold anything: "*/" and a line of C, a quote, half a character, codes
// that move a terminal's cursor. kiln's output is read by compilers, shells, Graphviz, pkg-config and people, each with
// rules of its own. So there is one function here for each of these languages, and every name goes through it on its
// way into a text, whether it looks harmful or not.
// JSON, MLIR and LLVM IR have printers that quote by themselves: llvm::json, mlir's and llvm's.
//
//===------------------------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace kiln {

/// For a terminal or a log, in one line: a blank in place of a line's end and a '?' in place of each other control
/// character, each character that changes the direction of text, and each byte that is not part of UTF-8, which to some
/// terminals is a control character.
std::string plainText(llvm::StringRef text);

/// The same for a text of several lines, which stay: names in it are as plainText makes them.
std::string plainLines(llvm::StringRef text);

/// For an error's one line: as plainText makes it, the middle of a long one left out.
std::string shortName(llvm::StringRef text);

/// The same in quotes: 'TEXT'.
std::string quotedName(llvm::StringRef text);

/// Within a comment of C, between blanks: printable ASCII that neither ends the comment nor begins another, has no
/// backslash or trigraph that would continue a line, and is cut if it is long.
std::string cComment(llvm::StringRef text);

/// A C string literal, quotes included, of any bytes. It holds no trigraph.
std::string cString(llvm::StringRef bytes);

/// A C identifier: a letter, digit or underscore of ASCII stays, any other byte becomes an underscore. Two names may
/// give the same one, and it may be a keyword.
std::string cIdentifier(llvm::StringRef name);

/// Whether a name is a C identifier already.
bool isCIdentifier(llvm::StringRef name);

/// A string of Graphviz, quotes included; lines stay lines. Text that looks like an entity of HTML is shown literally.
std::string dotString(llvm::StringRef text);

/// A word as a shell reads it: characters that are special to it have a backslash before them.
std::string shellWord(llvm::StringRef text);

/// A file's name in a rule of make, as compilers write it in depfiles. It holds no line's end, which make cannot read.
std::string makeWord(llvm::StringRef name);

} // namespace kiln
