//===- WeightData.h - The bytes of a weight ----------------------------------===//
#pragma once

#include "interp/LazyTensor.h"
#include "ir/graph/Graph.h"

namespace kiln::interp {

/// The elements as a held tensor.
llvm::Expected<TensorRef> elementsTensor(mlir::DenseElementsAttr elements);

/// A file's part, `folder` before its path; fails if it is missing, too short, or has another hash.
llvm::Expected<TensorRef> fileTensor(graph::FileAttr file, DType dtype, llvm::ArrayRef<int64_t> dims,
                                     llvm::StringRef folder);

} // namespace kiln::interp
