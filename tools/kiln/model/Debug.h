//===- Debug.h - The compiler's output for DEBUG=n ----------------------------===//
//
// The levels are tinygrad's: 1 devices opened and 2 a line per launch (both from the runtime), 3 kernels as trees,
// their opts, as tinygrad shows them and as --opts takes them, and the weights that are computed at compile time, 4
// their source, 5 their trees as scheduled and their uops, 6 their machine code, 7 the module after every pass. All of
// it goes to standard error.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "passes/Pipeline.h"

#include "llvm/Support/Error.h"

namespace kiln::driver {

class KernelFilter;
class Rendering;

inline constexpr int kDebugKernels = 3, kDebugSource = 4, kDebugUOps = 5, kDebugMachineCode = 6, kDebugRewrites = 7;

/// This level's output after a stage.
void printStage(mlir::ModuleOp module, Stage stage, int debug, const KernelFilter &filter);

/// This level's output for stage render.
llvm::Error printRendering(const Rendering &rendering, int debug, const KernelFilter &filter);

/// Has the manager print the module after every pass that changes it; with a filter the kernels that it passes,
/// whenever one has changed. The filter has to live as long.
void printRewrites(mlir::PassManager &passes, const KernelFilter &filter);

} // namespace kiln::driver
