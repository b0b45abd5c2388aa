#include "support/PlainText.h"

using namespace kiln;

static std::string withoutControls(llvm::StringRef text, bool keepsLines) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    bool isWide = byte == 0xc2 && next >= 0x80 && next < 0xa0; // U+0080 to U+009F
    bool isControl = byte < 0x20 || byte == 0x7f || isWide;
    if (byte == '\n')
      plain += keepsLines ? '\n' : ' ';
    else
      plain += isControl ? '?' : text[i];
    i += isWide;
  }
  return plain;
}

std::string kiln::plainText(llvm::StringRef text) { return withoutControls(text, /*keepsLines=*/false); }

std::string kiln::plainLines(llvm::StringRef text) { return withoutControls(text, /*keepsLines=*/true); }
