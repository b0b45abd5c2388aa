//===- Scatter.h - Stores at places that are data -----------------------------===//
//
// If an index hits a place twice, the order of the updates decides: the host stores one after another. The arithmetic
// part, computing the places, stays with the kernels.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "import/TensorBuilder.h"

namespace kiln::import {

/// A function of kiln/call.h, which explains its results, operands and numbers. Null values after a failure.
llvm::SmallVector<mlir::Value> callHost(TensorBuilder &b, llvm::StringRef callee,
                                        llvm::ArrayRef<mlir::RankedTensorType> results,
                                        llvm::ArrayRef<mlir::Value> operands, llvm::ArrayRef<Expr> numbers);

/// The places in x, flattened, of the elements that GatherElements and ScatterElements name; null after a failure. An
/// index out of range gives a place past the end.
mlir::Value elementPlaces(TensorBuilder &b, mlir::Value x, mlir::Value indices, int64_t axis);
/// The places of the rows of GatherND and ScatterND in x with its `batch` axes and those that the indices name
/// flattened; as above.
mlir::Value rowPlaces(TensorBuilder &b, mlir::Value x, mlir::Value indices, int64_t batch);

/// How an update and the old element are combined, in the order of the runtime's kiln_scatter.
enum class Combine { Set, Add, Mul, Max, Min };

/// x [n, r…] with updates [i…, r…] stored into the rows at `places` [i…], in order. A place outside x ends the run.
mlir::Value scatter(TensorBuilder &b, mlir::Value x, mlir::Value places, mlir::Value updates, Combine how);
/// x with updates[i…] stored at i… with indices[i…] at `axis`; both have x's rank.
mlir::Value scatterElements(TensorBuilder &b, mlir::Value x, mlir::Value indices, mlir::Value updates, int64_t axis,
                            Combine how);
/// x with updates[i…, r…] stored at [indices[i…], r…]: the last axis of indices holds places along x's first axes.
mlir::Value scatterND(TensorBuilder &b, mlir::Value x, mlir::Value indices, mlir::Value updates, Combine how);

} // namespace kiln::import
