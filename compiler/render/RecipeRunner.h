//===- RecipeRunner.h - Run the models that make weights --------------------------===//
//
// What is computed from weights alone, such as a packed panel, is computed once, here, while a model is packaged. A
// recipe is a small model without inputs, so its program is a straight list of launches. Weights are written one after
// the other, and a large model's results do not fit in memory together: so a recipe runs shortly before its turn, those
// of the next turns on the other cores, and what it gave is dropped after it.
//
//===------------------------------------------------------------------------------===//
#pragma once

#include "render/WeightData.h"
#include "target/KernelRunner.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ThreadPool.h"

#include <deque>
#include <mutex>

namespace kiln::render {

/// Computes the weights whose data is a #graph.recipe, when they are asked for, and those that are expected next
/// meanwhile, a recipe on each core. It holds the results of as many recipes, and one's weights while it runs.
class RecipeRunner {
public:
  explicit RecipeRunner(std::unique_ptr<target::KernelRunner> runner);
  ~RecipeRunner();

  /// From now on weights will be asked for in about this order, which is best kept. Others may be, too.
  void expect(llvm::ArrayRef<WeightEntry> weights);
  /// The bytes of `weight`, which has a recipe; they are there until the next call. The recipe's own weights are read
  /// from `source`, and fail as they do there.
  llvm::Expected<llvm::ArrayRef<char>> make(const WeightEntry &weight, const WeightSource &source);

private:
  struct Made;
  struct Kernel;

  std::unique_ptr<Made> run(mlir::ModuleOp recipe, const WeightSource &source);
  llvm::Error run(Made &made, const WeightSource &source);
  llvm::Error readInto(const WeightEntry &weight, const WeightSource &source, llvm::MutableArrayRef<char> to);
  /// Begins recipes that are expected, as long as there are cores for them.
  void runAhead(const WeightSource &source);
  /// Equal kernels of all recipes are compiled once.
  llvm::Expected<const target::LoadedKernel *> load(uop::FuncOp kernel);

  std::unique_ptr<target::KernelRunner> runner_;
  std::mutex lock_;                                  ///< of the next
  llvm::StringMap<std::unique_ptr<Kernel>> kernels_; ///< by their text
  std::unique_ptr<Made> made_;                       ///< what the last call of make gave
  std::deque<mlir::ModuleOp> expected_;              ///< in this order
  std::deque<std::unique_ptr<Made>> ahead_;          ///< begun
  llvm::DefaultThreadPool pool_;                     ///< whose threads use all of these
};

} // namespace kiln::render
