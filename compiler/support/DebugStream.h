//===- DebugStream.h - Where listings for DEBUG go --------------------------------===//
//
// Passes and the driver list kernels, uops and rewrites at DEBUG's levels. Where that is read is the program's matter:
// it may give it to its log, and until it does, it goes to standard error.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "llvm/Support/raw_ostream.h"

namespace kiln {

llvm::raw_ostream &debugStream();
/// Not to be called while something is listed. The stream must live as long as the process.
void setDebugStream(llvm::raw_ostream &stream);

} // namespace kiln
