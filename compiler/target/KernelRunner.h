//===- KernelRunner.h - Compile and run code in this process --------------------===//
//
// Recipes for weights and `kiln run` execute code that they have just compiled. They use this interface; the driver
// gives them the implementation, so that no pass depends on a code generator.
//
//===----------------------------------------------------------------------------===//
#pragma once

#include "ir/host/Host.h"
#include "ir/uop/UOp.h"

#include "llvm/Support/Error.h"

#include <memory>

struct kiln_model; // kiln/program.h NOLINT(readability-identifier-naming)

namespace kiln::target {

/// A kernel in this process; its code is freed with it.
class LoadedKernel {
public:
  virtual ~LoadedKernel() = default;
  /// Runs one chunk: a pointer for each buffer and a number for each size, as kiln_kernel.entry takes them.
  virtual void run(void *const *buffers, const int64_t *sizes, int64_t chunk) const = 0;
};

/// A model in this process; its code and its weights are freed with it.
class LoadedModel {
public:
  virtual ~LoadedModel() = default;
  virtual const kiln_model &model() const = 0;
};

/// Any number of kernels and models may be loaded at once, and be loaded from several threads.
class KernelRunner {
public:
  virtual ~KernelRunner() = default;
  virtual llvm::Expected<std::unique_ptr<LoadedKernel>> load(uop::FuncOp kernel) = 0;
};

} // namespace kiln::target
