#include "support/Quote.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace kiln;
using llvm::StringRef;

/// Bytes of a name that are shown if the whole is too long.
static constexpr size_t kMostInError = 120, kMostInComment = 400, kMostInLabel = 200;

/// Takes the first character off the text. A byte that is not part of UTF-8 is one, with the code 0.
static StringRef takeCharacter(StringRef &text, llvm::UTF32 &code) {
  StringRef character = text.take_front(llvm::getNumBytesForUTF8(text.front()));
  const auto *bytes = reinterpret_cast<const llvm::UTF8 *>(character.data());
  const llvm::UTF8 *end = bytes + character.size();
  code = 0;
  if (llvm::isLegalUTF8Sequence(bytes, end))
    std::ignore = llvm::convertUTF8Sequence(&bytes, end, &code, llvm::strictConversion);
  else
    character = text.take_front();
  text = text.drop_front(character.size());
  return character;
}

/// Control characters, line separators, and characters that change the direction of the text around them.
static bool isControl(llvm::UTF32 code) {
  bool turns = code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
               (code >= 0x2066 && code <= 0x2069);
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 || turns;
}

static std::string withoutControls(StringRef text, bool keepsLines) {
  std::string plain;
  while (!text.empty()) {
    llvm::UTF32 code = 0;
    StringRef character = takeCharacter(text, code);
    if (code == '\n')
      plain += keepsLines ? '\n' : ' ';
    else
      plain += isControl(code) ? "?" : character;
  }
  return plain;
}

/// The beginning and the end of a text that is longer than `most` bytes.
static std::string shortened(StringRef text, size_t most) {
  if (text.size() <= most)
    return text.str();
  return (text.take_front(most / 2) + "..." + text.take_back(most - most / 2 - 3)).str();
}

std::string kiln::plainText(StringRef text) { return withoutControls(text, /*keepsLines=*/false); }

std::string kiln::plainLines(StringRef text) { return withoutControls(text, /*keepsLines=*/true); }

std::string kiln::shortName(StringRef text) { return plainText(shortened(text, kMostInError)); }

std::string kiln::quotedName(StringRef text) { return "'" + shortName(text) + "'"; }

std::string kiln::cComment(StringRef text) {
  std::string result;
  for (char c : shortened(text, kMostInComment)) {
    char last = result.empty() ? ' ' : result.back();
    bool isMark = (c == '/' && last == '*') || (c == '*' && last == '/');
    bool isSign = c == '\\' || (c == '?' && last == '?');
    result += llvm::isPrint(c) && !isMark && !isSign ? c : last == '?' ? '_' : '?';
  }
  return result;
}

std::string kiln::cString(StringRef bytes) {
  std::string text = "\"";
  for (unsigned char c : bytes) {
    if (c == '"' || c == '\\')
      text += {'\\', char(c)};
    else if (c == '\n')
      text += "\\n";
    else if (c >= ' ' && c < 127 && c != '?')
      text += char(c);
    else
      // Three octal digits end by themselves, whatever follows; \x would not.
      text += {'\\', char('0' + c / 64), char('0' + c / 8 % 8), char('0' + c % 8)};
  }
  return text + "\"";
}

std::string kiln::cIdentifier(StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : '_';
  if (text.empty() || llvm::isDigit(text[0]))
    text.insert(0, 1, '_');
  return text;
}

bool kiln::isCIdentifier(StringRef name) { return name == cIdentifier(name); }

std::string kiln::dotString(StringRef text) {
  std::string result = "\"";
  for (char c : plainLines(shortened(text, kMostInLabel))) {
    if (c == '\n')
      result += "\\n";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"' || c == '\\')
      (result += '\\') += c;
    else
      result += c;
  }
  return result + '"';
}

std::string kiln::shellWord(StringRef text) {
  std::string word;
  for (char c : text) {
    if (llvm::isASCII(c) && !llvm::isAlnum(c) && !StringRef("_-./+,:=@%^").contains(c))
      word += '\\';
    word += c;
  }
  return word;
}

std::string kiln::makeWord(StringRef name) {
  std::string word;
  size_t backslashes = 0; // just before this character
  for (char c : name) {
    // Only before a blank or a '#' does make read a backslash as one that escapes.
    if (c == ' ' || c == '#')
      word.append(backslashes + 1, '\\');
    else if (c == '$')
      word += '$';
    word += c;
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
  return word;
}
