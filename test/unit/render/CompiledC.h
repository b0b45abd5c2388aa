//===- CompiledC.h - C source, compiled and loaded into the test -------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace kiln::test {

/// The compilers that generated C must please.
inline constexpr llvm::StringLiteral kCompilers[] = {"gcc", "clang-22"};

/// Compiles under the flags that a file's comment names, every warning an error; the test fails with the compiler's
/// words where that fails.
class CompiledC {
public:
  CompiledC(llvm::StringRef compiler, llvm::StringRef source, llvm::ArrayRef<std::string> flags = {});
  ~CompiledC();
  CompiledC(const CompiledC &) = delete;

  template <class Function> Function *function(const char *name) const {
    return reinterpret_cast<Function *>(address(name));
  }
  void *address(const char *name) const;

private:
  llvm::SmallString<128> folder_;
  void *library_ = nullptr;
};

} // namespace kiln::test
