#include "render/kernel/Pattern.h"

#include "llvm/ADT/StringExtras.h"

using namespace kiln;

std::string render::fillPattern(llvm::StringRef pattern, llvm::function_ref<std::string(char)> value) {
  std::string text;
  while (!pattern.empty()) {
    auto [plain, rest] = pattern.split('$');
    text += plain;
    if (plain.size() == pattern.size())
      break;
    text += value(rest.front());
    pattern = rest.drop_front();
  }
  return text;
}

llvm::StringRef render::stripParens(llvm::StringRef text) {
  if (!text.starts_with("(") || !text.ends_with(")"))
    return text;
  int depth = 0;
  for (char c : text.drop_back()) {
    depth += (c == '(') - (c == ')');
    if (depth == 0)
      return text;
  }
  return text.drop_front().drop_back();
}

std::string render::identifier(llvm::StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : '_';
  if (text.empty() || llvm::isDigit(text[0]))
    text.insert(0, 1, '_');
  return text;
}

std::string render::stringLiteral(llvm::StringRef bytes) {
  std::string text = "\"";
  for (unsigned char c : bytes) {
    if (c == '"' || c == '\\')
      text += {'\\', char(c)};
    else if (c == '\n')
      text += "\\n";
    else if (c >= ' ' && c < 127 && c != '?') // no trigraphs
      text += char(c);
    else
      // Three octal digits end by themselves, whatever follows; \x would not.
      text += {'\\', char('0' + c / 64), char('0' + c / 8 % 8), char('0' + c % 8)};
  }
  return text + "\"";
}
