#include "support/DumpText.h"

#include "llvm/ADT/Twine.h"

using namespace kiln;
using llvm::StringRef;

/// At the beginning of a line, since MLIR's strings do not pass lines.
static bool isAlias(StringRef line) {
  return line.consume_front("#") &&
         line.ltrim("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$-").starts_with(" = ");
}

std::string kiln::aliasesLast(StringRef text) {
  StringRef module = text;
  while (!module.empty() && isAlias(module.split('\n').first))
    module = module.split('\n').second;
  StringRef aliases = text.drop_back(module.size());
  bool isWhole = module.empty() || module.ends_with("\n");
  return (module + llvm::Twine(isWhole ? "" : "\n") + aliases).str();
}

std::string kiln::aliasesFirst(StringRef text) {
  if (text.contains("// -----"))
    return text.str();
  std::string aliases, module;
  for (StringRef rest = text; !rest.empty();) {
    auto [line, next] = rest.split('\n');
    bool hasEnd = rest.size() > line.size();
    if (isAlias(line))
      aliases += line.str() + " ";
    else
      module += line;
    module += hasEnd ? "\n" : "";
    rest = next;
  }
  return aliases + module;
}
