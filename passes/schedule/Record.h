//===- Record.h - A record of the scheduler's decisions ----------------------------===//
//
// A launch keeps the tensors that it computes and reads, the source nodes that they came from, and why each is in
// memory or not. It is data next to the program: kernels, their names and the executed code do not depend on it. When
// somebody asks (--why, --stats, --graph) the graph is gone, so all names have to be kept here: those of the nodes, and
// of the views between them that became part of how a tensor is read.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "passes/schedule/Partition.h"

#include "ir/host/Host.h"

namespace kiln::schedule {

class Recorder {
public:
  /// Notes the model's name of an output that is held as `base`.
  void nameOutput(mlir::Value base, llvm::StringRef name) { outputs_[base] = name.str(); }

  /// The tensors that a launch of `group` computes and reads: host.launch's `tensors`.
  mlir::ArrayAttr record(const KernelGroup &group, const Partition &partition,
                         llvm::function_ref<bool(mlir::Value)> isMemory);

private:
  int64_t memoryIdOf(mlir::Value tensor) { return memory_.try_emplace(tensor, memory_.size() + 1).first->second; }
  mlir::ArrayAttr namesOf(mlir::Value tensor, llvm::ArrayRef<mlir::Value> views);

  llvm::DenseMap<mlir::Value, std::string> outputs_;
  llvm::DenseMap<mlir::Value, int64_t> memory_;
};

} // namespace kiln::schedule
