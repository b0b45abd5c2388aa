//===- RecipeRunner.h - Run the models that make weights --------------------------===//
//
// Values that depend on weights alone, such as a packed panel, are computed once, here, while a model is packaged. A
// recipe is a small model without inputs, so its program is a straight list of launches. Weights are written one after
// the other, and a large model's results do not fit in memory together. So a recipe runs shortly before its turn, those
// of the next turns on the other cores as far as a fixed amount of memory goes, and its results are dropped after it.
//
//===------------------------------------------------------------------------------===//
#pragma once

#include "render/model/WeightData.h"
#include "target/KernelRunner.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ThreadPool.h"

#include <deque>
#include <mutex>

namespace kiln::render {

/// Computes the weights whose data is a #graph.recipe, when they are asked for, and meanwhile those that are expected
/// next, a recipe on each core. It holds the results of the last recipe and of those that wait for their turn, and the
/// weights of each that runs.
class RecipeRunner {
public:
  explicit RecipeRunner(std::unique_ptr<target::KernelRunner> runner);
  ~RecipeRunner();

  /// From now on weights will be asked for in this order. Any other order is right too, but slower.
  void expect(llvm::ArrayRef<WeightEntry> weights);
  /// The bytes of `weight`, which has a recipe; they are valid until the next call. The recipe's own weights are read
  /// from `source`, and fail as they do there.
  llvm::Expected<llvm::ArrayRef<char>> make(const WeightEntry &weight, const WeightSource &source);

private:
  struct Made;
  struct Kernel;
  struct Turn {
    mlir::ModuleOp recipe;
    int64_t bytes; ///< of all weights that it makes
  };

  std::unique_ptr<Made> run(mlir::ModuleOp recipe, const WeightSource &source);
  llvm::Error run(Made &made, const WeightSource &source);
  /// Reads a recipe's inputs. `other` is the recipe that made the last of them, if one did.
  llvm::Error readInto(const WeightEntry &weight, const WeightSource &source, llvm::MutableArrayRef<char> to,
                       std::unique_ptr<Made> &other);
  /// Begins recipes that are expected, as long as there are cores and memory for them.
  void runAhead(const WeightSource &source);
  /// Equal kernels of all recipes are compiled once.
  llvm::Expected<const target::LoadedKernel *> load(uop::FuncOp kernel);

  std::unique_ptr<target::KernelRunner> runner_;
  std::mutex lock_;                                  ///< of kernels_; the rest is the caller's thread's alone
  llvm::StringMap<std::unique_ptr<Kernel>> kernels_; ///< by their text
  std::unique_ptr<Made> made_;                       ///< the result of the last call of make
  std::deque<Turn> expected_;                        ///< in this order
  std::deque<std::unique_ptr<Made>> ahead_;          ///< begun
  llvm::DefaultThreadPool pool_;                     ///< the last, so that it ends before what its threads use
};

} // namespace kiln::render
