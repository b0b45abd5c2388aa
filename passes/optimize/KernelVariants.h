//===- KernelVariants.h - Kernels whose tensors lie elsewhere ---------------------------===//
//
// Where a tensor lies is what the views of those say that read and write it. A launch for which they change gets a copy
// of its kernel; launches of one kernel for which they change alike share it.
//
//===------------------------------------------------------------------------------------===//
#pragma once

#include "ir/host/Host.h"
#include "ir/kernel/Kernel.h"
#include "view/ShapeTracker.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace kiln::optimize {

/// The buffer that a load or store accesses; null for other ops.
mlir::Value bufferOf(mlir::Operation *access);
/// Of a load or store.
view::ShapeTracker trackerOf(mlir::Operation *access);
/// The loads and stores of a kernel, in order.
llvm::SmallVector<mlir::Operation *> accessesOf(kernel::FuncOp func);
/// Those of its argument `buffer`.
llvm::SmallVector<mlir::Operation *> accessesOf(kernel::FuncOp func, unsigned buffer);
/// What a launch hands to its kernel for what `access` accesses.
mlir::Value memoryOf(host::LaunchOp launch, mlir::Operation *access);

/// The launches of each kernel, by its name.
llvm::StringMap<llvm::SmallVector<host::LaunchOp>> launchesOf(mlir::ModuleOp module);
/// The names that kernels have.
llvm::StringSet<> kernelNames(mlir::ModuleOp module);

/// Has a kernel without opts take something else for a symbol.
void replaceSymbol(kernel::FuncOp func, view::Expr symbol, view::Expr by);
/// Launches `kernel` with what `otherwise` has where the condition holds, and `otherwise` where it does not. Gives the
/// launch that it makes, which is said to compute no tensor: one is computed in one launch, whichever of the two it is.
host::LaunchOp launchIf(mlir::Value condition, kernel::FuncOp kernel, host::LaunchOp otherwise);

class KernelVariants {
public:
  explicit KernelVariants(mlir::ModuleOp module);

  kernel::FuncOp kernelOf(host::LaunchOp launch) const { return kernels_.lookup(launch.getKernel()); }
  /// Lets the launch have its kernel with these trackers, one for each of accessesOf(kernel), and whatever `finish`
  /// makes of that: the same for one kernel and the same trackers.
  void launchWith(host::LaunchOp launch, llvm::ArrayRef<view::ShapeTracker> trackers,
                  llvm::function_ref<void(kernel::FuncOp)> finish);
  /// Erases what is not launched any more and gives what was made the names that kernels have.
  void nameKernels();

private:
  mlir::ModuleOp module_;
  llvm::StringMap<kernel::FuncOp> kernels_;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, mlir::StringAttr> variants_;
  llvm::SmallVector<kernel::FuncOp> made_;
};

} // namespace kiln::optimize
