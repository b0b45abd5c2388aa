//===- RecipeRunner.h - Run the models that make weights --------------------------===//
#pragma once

#include "render/ModelTables.h"
#include "target/KernelRunner.h"

#include "llvm/Support/MemoryBuffer.h"

namespace kiln::render {

struct WeightSource;

/// Computes the weights whose data is a #graph.recipe, when they are asked for. It holds the results of one recipe at a
/// time, and that one's weights while it runs.
class RecipeRunner {
public:
  explicit RecipeRunner(std::unique_ptr<target::KernelRunner> runner) : runner_(std::move(runner)) {}

  /// The bytes of `weight`, which has a recipe; they are there until the next call. The recipe's own weights are read
  /// from `source`, and fail as they do there.
  llvm::Expected<llvm::ArrayRef<char>> make(const WeightEntry &weight, const WeightSource &source);

private:
  llvm::Error run(mlir::ModuleOp recipe, const WeightSource &source);
  /// Equal kernels of all recipes are compiled once.
  llvm::Expected<const target::LoadedKernel *> load(uop::FuncOp kernel);

  std::unique_ptr<target::KernelRunner> runner_;
  llvm::StringMap<std::unique_ptr<target::LoadedKernel>> kernels_; ///< by their text
  mlir::ModuleOp made_;                                            ///< whose results are held
  std::vector<std::unique_ptr<llvm::WritableMemoryBuffer>> results_;
};

} // namespace kiln::render
