#include "render/kernel/Pattern.h"

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
