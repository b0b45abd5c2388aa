#include "support/PlainText.h"

using namespace kiln;

std::string kiln::plainText(llvm::StringRef text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    bool isWide = byte == 0xc2 && next >= 0x80 && next < 0xa0; // U+0080 to U+009F
    bool isControl = (byte < 0x20 && byte != '\n') || byte == 0x7f || isWide;
    plain += isControl ? '?' : text[i];
    i += isWide;
  }
  return plain;
}
