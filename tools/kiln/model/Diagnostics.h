//===- Diagnostics.h - MLIR's reports as kiln's errors ------------------------===//
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"

namespace kiln::driver {

/// While it lives, a context's errors are kept instead of printed, and its warnings are logged as lines about `file`.
/// Remarks are dropped.
class Diagnostics {
public:
  Diagnostics(mlir::MLIRContext &context, std::string file);

  /// The first error since the last call as one line about `file`; `otherwise` if there was none.
  llvm::Error take(llvm::StringRef file, llvm::StringRef otherwise, llvm::StringRef remedy = "");

private:
  std::string first_;
  std::string file_; ///< that it is about, with its line; "": the one that is compiled
  mlir::ScopedDiagnosticHandler handler_;
};

} // namespace kiln::driver
