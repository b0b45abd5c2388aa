//===- GraphDrawing.h - The tensor graph, kernels around their nodes: --graph ----===//
#pragma once

#include "package/OutputFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln::driver {

/// Writes the source nodes of a scheduled module in Graphviz's language: one cluster per launch, an edge for each
/// tensor that one node passes to another; those in memory with dtype, shape and bytes.
void writeDot(mlir::ModuleOp module, llvm::StringRef name, llvm::raw_ostream &out);

/// The same as one of the files `outputs`: .dot or .gv, or .svg by Graphviz.
llvm::Error drawGraph(mlir::ModuleOp module, llvm::StringRef name, llvm::StringRef path, package::Outputs &outputs);

/// A wrong use unless the file's name says which of these it is.
llvm::Error checkGraphPath(llvm::StringRef path);

} // namespace kiln::driver
