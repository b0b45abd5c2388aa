//===- ObjectSection.h - Put data into a compiled object ------------------------------===//
//
// Weights may be larger than memory, so they never pass through LLVM: the object is compiled with an empty section, and
// the section's bytes are appended to the object.
//
//===----------------------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln::target {

/// Writes `object`, a relocatable little-endian ELF file, with its empty section `section` grown to `bytes`, which
/// `write` writes. Another format is an error.
llvm::Error fillSection(llvm::StringRef object, llvm::StringRef section, int64_t bytes,
                        llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write, llvm::raw_ostream &out);

} // namespace kiln::target
