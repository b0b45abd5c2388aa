#include "support/ContentHash.h"

#include "llvm/ADT/StringExtras.h"

using namespace kiln;

std::string ContentHash::digits() {
  llvm::BLAKE3Result<kDigits / 2> result = hasher_.final<kDigits / 2>();
  return llvm::toHex(result, /*LowerCase=*/true);
}

std::string kiln::contentHash(llvm::StringRef bytes) {
  ContentHash hash;
  hash.update(bytes);
  return hash.digits();
}
