#include "support/PlainText.h"

#include "llvm/Support/ConvertUTF.h"

using namespace kiln;

static std::string withoutControls(llvm::StringRef text, bool keepsLines) {
  std::string plain;
  while (!text.empty()) {
    llvm::StringRef character = text.take_front(llvm::getNumBytesForUTF8(text.front()));
    const auto *bytes = reinterpret_cast<const llvm::UTF8 *>(character.data());
    bool isUtf8 = llvm::isLegalUTF8Sequence(bytes, bytes + character.size());
    if (!isUtf8)
      character = text.take_front();
    bool isWide = isUtf8 && bytes[0] == 0xc2 && bytes[1] < 0xa0; // U+0080 to U+009F
    bool isControl = bytes[0] < 0x20 || bytes[0] == 0x7f || isWide;
    if (bytes[0] == '\n')
      plain += keepsLines ? '\n' : ' ';
    else
      plain += isUtf8 && !isControl ? character : "?";
    text = text.drop_front(character.size());
  }
  return plain;
}

std::string kiln::plainText(llvm::StringRef text) { return withoutControls(text, /*keepsLines=*/false); }

std::string kiln::plainLines(llvm::StringRef text) { return withoutControls(text, /*keepsLines=*/true); }
