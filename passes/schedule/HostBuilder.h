//===- HostBuilder.h - Write the host program of a graph ---------------------------===//
#pragma once

#include "passes/schedule/KernelBuilder.h"

#include "target/Target.h"

#include "ir/host/Host.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace kiln::schedule {

/// Names kernels as tinygrad does: equal kernels are one, and repeats of a name get n1, n2, …
class KernelTable {
public:
  /// Gives `func` its name; if an equal kernel is known, erases `func` and returns that one's name.
  mlir::StringAttr add(kernel::FuncOp func);

private:
  llvm::StringMap<mlir::StringAttr> byText_;
  llvm::StringMap<unsigned> repeats_; ///< of a name, so far
  llvm::StringSet<> names_;
};

/// The way in which a graph is cut into kernels.
struct Policy {
  bool classic = false; ///< tinygrad v0.9.2's rules
  TargetAttr target;    ///< otherwise: the device's abilities and times
};

/// Writes `host.program` and the kernels that it launches into the function's module, before the function.
void buildHostProgram(mlir::func::FuncOp main, llvm::ArrayRef<SymbolAttr> symbols, const Policy &policy);

} // namespace kiln::schedule
