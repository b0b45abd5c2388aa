//===- Safetensors.h - Weights in a file of their own ------------------------------------===//
//
// The format of https://github.com/huggingface/safetensors: a header in JSON, then the tensors' bytes without gaps. The
// runtime maps such a file (`--weights=FILE`).
//
//===-------------------------------------------------------------------------------------===//
#pragma once

#include "kiln/kiln.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <string>
#include <vector>

namespace kiln::package {

struct SafetensorsEntry {
  std::string name;
  kiln_dtype dtype;
  std::vector<int64_t> dims;
  int64_t bytes;
  std::function<llvm::Error(llvm::raw_ostream &)> write; ///< writes `bytes` bytes
};

/// Whether a tensor of so many bytes comes before others: if they are a multiple of KILN_HOST_ALIGNMENT, so that it
/// begins where the runtime can use it in place; the others are small.
bool comesFirst(int64_t bytes);

/// Writes the file, tensors that come first before the others, and returns its digest (KILN_DIGEST_KEY), which is in
/// its metadata.
llvm::Expected<std::string> writeSafetensors(llvm::ArrayRef<SafetensorsEntry> tensors, llvm::raw_pwrite_stream &out);

} // namespace kiln::package
