#include "support/DebugStream.h"

using namespace kiln;

static llvm::raw_ostream *&chosen() {
  static llvm::raw_ostream *stream = nullptr;
  return stream;
}

llvm::raw_ostream &kiln::debugStream() { return chosen() ? *chosen() : llvm::errs(); }

void kiln::setDebugStream(llvm::raw_ostream &stream) { chosen() = &stream; }
