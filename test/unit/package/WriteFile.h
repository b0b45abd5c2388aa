//===- WriteFile.h - One output, from its first byte to its name ------------------===//
#pragma once

#include "package/OutputFile.h"

namespace kiln::test {

inline llvm::Error writeFile(llvm::StringRef path, package::Writer write) {
  package::Outputs outputs;
  if (llvm::Error error = outputs.write(path, write))
    return error;
  return outputs.commit();
}

} // namespace kiln::test
