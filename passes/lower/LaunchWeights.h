//===- LaunchWeights.h - Weights that launches pass, made while kernels are lowered ----===//
#pragma once

#include "ir/host/Host.h"
#include "ir/uop/UOp.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace kiln::lower {

/// The programs of a module, to which weights come that their launches pass to kernels.
class LaunchWeights {
public:
  explicit LaunchWeights(mlir::ModuleOp module);

  /// The launches of a kernel, before any was changed.
  llvm::ArrayRef<host::LaunchOp> launchesOf(uop::FuncOp kernel) const;
  /// Has a launch pass the data, as a weight `name`, name1 …: the last of its buffers but for scratch memory. Equal
  /// data are one weight.
  void pass(host::LaunchOp launch, mlir::DenseElementsAttr data, llvm::StringRef name);
  /// Adds an argument for it to the kernel.
  mlir::Value receive(uop::FuncOp kernel, mlir::Type element);
  /// Gives the programs those that came.
  void finish();

private:
  struct Program {
    mlir::Operation *first = nullptr; ///< of its ops before weights came
    mlir::SmallVector<mlir::Attribute> weights;
    llvm::StringSet<> names;
    llvm::DenseMap<mlir::Attribute, int64_t> indexOf;
    llvm::DenseMap<std::pair<int64_t, int64_t>, mlir::Value> memory; ///< (weight, device) →
  };

  llvm::MapVector<mlir::Operation *, Program> programs_;
  llvm::StringMap<mlir::SmallVector<host::LaunchOp>> launches_;
};

} // namespace kiln::lower
