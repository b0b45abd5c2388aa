//===- ContentHash.h - Recognise bytes by their hash ---------------------===//
//
// Weights can be gigabytes and are hashed at import and again when they are written, so the hash is BLAKE3: as hard to
// forge as SHA-256, and some twenty times faster here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/BLAKE3.h"

#include <string>

namespace kiln {

/// The hash of bytes that come in pieces.
class ContentHash {
public:
  static constexpr size_t kDigits = 64;

  void update(llvm::StringRef bytes) { hasher_.update(bytes); }
  /// kDigits hexadecimal digits, in lower case.
  std::string digits();

private:
  llvm::BLAKE3 hasher_;
};

std::string contentHash(llvm::StringRef bytes);

} // namespace kiln
