//===- KernelFilter.h - The kernels that are shown: --kernel ------------------------===//
//
// A model has hundreds of kernels, and somebody who looks at one does not want to see the others. Kernels are called as
// --stats, --profile and DEBUG call them, which is by the order of axes that stage optimize gives them; after stage
// schedule they have other names, and are found through what they write.
//
//===------------------------------------------------------------------------------------===//
#pragma once

#include "passes/Pipeline.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace kiln::driver {

class KernelFilter {
public:
  /// Without patterns every kernel passes.
  explicit KernelFilter(std::vector<std::string> patterns = {}) : patterns_(std::move(patterns)) {}

  bool isEmpty() const { return patterns_.empty(); }
  const std::vector<std::string> &patterns() const { return patterns_; }
  bool passes(llvm::StringRef kernel) const;

  /// A usage error that names the nearest kernel, unless each pattern matches one. `module` is after stage optimize, or
  /// after schedule if resolve was called.
  llvm::Error check(mlir::ModuleOp module, llvm::StringRef model) const;

  /// For a module after stage schedule: lets kernels pass, too, that become those of the patterns in stage optimize.
  llvm::Error resolve(mlir::ModuleOp module, llvm::StringRef model, const PipelineOptions &pipeline);

  /// A usage error if no kernel passes of a module after stage schedule that is to be shown.
  llvm::Error checkShown(mlir::ModuleOp module, llvm::StringRef model) const;

  /// The kernels that pass, in a module of their own, for reading.
  mlir::OwningOpRef<mlir::ModuleOp> select(mlir::ModuleOp module) const;

private:
  std::vector<std::string> patterns_;
  llvm::StringSet<> scheduled_; ///< names after stage schedule
};

/// The lines of the opts file of these kernels.
void printOptsOf(mlir::ModuleOp module, const KernelFilter &filter, llvm::raw_ostream &out);

} // namespace kiln::driver
