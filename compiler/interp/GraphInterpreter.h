//===- GraphInterpreter.h - The meaning of a model -------------------------===//
//
// Runs the imported graph, before any pass, on the host: the judge of `kiln verify`, of fuzzing and of constant
// folding. It shares only the ALU table with the passes that it judges. Float reductions accumulate in double, so that
// its own error is a few roundings per result however long the sum.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "interp/HostTensor.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace kiln::interp {

struct GraphInterpreterOptions {
  /// The model's file: named in errors, and the folder that files of weights are relative to.
  std::string modelPath;
  /// No tensor may take more bytes.
  int64_t memoryLimit = int64_t(16) << 30;
  /// All ops together, those of a loop in each iteration, may not compute more elements.
  int64_t mostElements = INT64_MAX;
};

/// Runs func @main. `inputs` are in declared order, as many as the function has arguments; an absent one takes its
/// stored default. The symbols are bound from the inputs' dims. Fails if an input does not fit its declaration, a bound
/// value is outside its bounds, a gather's index is out of range, or a weight's file is missing or changed.
llvm::Expected<std::vector<HostTensor>> interpretGraph(mlir::ModuleOp module, llvm::ArrayRef<HostTensor> inputs,
                                                       const GraphInterpreterOptions &options = {});

} // namespace kiln::interp
