//===- DebugStream.h - Where listings for DEBUG go --------------------------------===//
//
// Passes and the driver list kernels, uops and rewrites at DEBUG's levels. The program decides where the listing goes:
// it may pass it to its log, and until it does, it goes to standard error.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "llvm/Support/raw_ostream.h"

namespace kiln {

llvm::raw_ostream &debugStream();
/// Do not call this while something is listed. The stream must live as long as the process.
void setDebugStream(llvm::raw_ostream &stream);

} // namespace kiln
