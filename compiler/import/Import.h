//===- Import.h - A model file becomes a graph module ---------------------===//
//
// Stage: import (file → graph).  ONNX and JSON files both end as one `func.func @main` of primitive tensor ops. Their
// every dim is an expression over named, bounded symbols; every op's location is the name of its source node.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/ReadNodes.h"
#include "ir/base/DType.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kiln::import {

/// The values of --dim for a named size.
struct SymbolBounds {
  int64_t min = 0;
  int64_t max = (int64_t(1) << 31) - 1;
  int64_t value = 1; ///< used for the size in estimates, --random and --bench
};

/// The values of --alias: an output that lies in the memory of an input.
struct AliasOption {
  std::string text; ///< as it was given
  std::string input, output;
  std::optional<int64_t> capacity; ///< the elements of that memory along the axis that grows
};

struct ImportOptions {
  /// By the name of a size, or as INPUT.AXIS.
  llvm::StringMap<SymbolBounds> dims;
  /// The values of --shape: an input's sizes, each a number, a name or an expression of names; "?" leaves it open.
  llvm::StringMap<std::vector<std::string>> shapes;
  /// The ranks of the data for the inputs, in declared order, for those whose rank the model leaves open.
  std::vector<std::optional<int64_t>> ranks;
  std::vector<AliasOption> aliases;
  /// A tensor of more bytes than this is refused before anything is allocated.
  int64_t memoryLimit = int64_t(16) << 30;
  /// Whether a run ends where an index of a gather or a scatter is outside its axis.
  bool checksIndices = false;
  /// The dtype of operands in sums of products of float32; nullopt: the model's.
  std::optional<DType> precision;
  /// Called with the path of every file that is read with the model; may be empty.
  std::function<void(llvm::StringRef path)> reads;
  /// Filled with the nodes of the file; may be null.
  ReadNodes *nodes = nullptr;
};

/// Reads `path`: JSON when it ends in .json, else ONNX. The context must have the func, graph and kiln dialects loaded.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importModel(mlir::MLIRContext &context, llvm::StringRef path,
                                                              const ImportOptions &options);

/// Refuses models that no artefact can hold: one without an output, and inputs, outputs or weights of more axes than
/// the runtime's tables hold. For graphs of any source.
llvm::Error checkPorts(mlir::ModuleOp module);

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importOnnx(mlir::MLIRContext &context, llvm::StringRef path,
                                                             const ImportOptions &options);
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importJson(mlir::MLIRContext &context, llvm::StringRef path,
                                                             const ImportOptions &options);

} // namespace kiln::import
