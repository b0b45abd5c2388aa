//===- LazyTensor.h - Tensors that are computed where they are read ----------===//
//
// A matrix product arrives as reduce(mul(expand, expand)): the product's M*N*K elements must never lie in memory at
// once. So element-wise operations build a tree whose leaves are strided views of arrays, and the tree is evaluated
// tile by tile, either into an array (hold) or into accumulators (reduce).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "interp/Strided.h"
#include "ir/base/Evaluate.h"

#include "llvm/Support/Error.h"

#include <memory>

namespace kiln::interp {

struct LazyTensor;
using TensorRef = std::shared_ptr<LazyTensor>;

struct LazyTensor {
  DType dtype;
  Dims dims;
  /// An array and how it is read: held tensors only.
  std::shared_ptr<const char> data;
  Strided map;
  /// A computed tensor: its operands have its dims.
  AluLoop loop = nullptr;
  llvm::SmallVector<TensorRef, 3> operands;

  bool isHeld() const { return data != nullptr; }

  static TensorRef held(DType dtype, std::shared_ptr<const char> data, Strided map);
  /// One number at every position.
  static TensorRef splat(Scalar value, llvm::ArrayRef<int64_t> dims);
  static TensorRef computed(DType dtype, AluLoop loop, llvm::ArrayRef<TensorRef> operands);
};

/// Room for `count` elements, zeroed; fails if it is more than `limit` bytes.
llvm::Expected<std::shared_ptr<char>> allocate(int64_t count, unsigned elementBytes, int64_t limit);

/// Makes a computed tensor a held one.
llvm::Error hold(LazyTensor &tensor, int64_t limit);
/// Holds the tensor and, if its elements are not consecutive, copies them.
llvm::Error holdRowMajor(LazyTensor &tensor, int64_t limit);
/// The elements of a held, row-major tensor.
const char *rowMajorData(const LazyTensor &tensor);

/// ADD, MUL, MAX or MIN along axes, which stay as size 1. Floats accumulate in double, integers in their dtype.
llvm::Expected<TensorRef> reduce(Alu kind, const LazyTensor &tensor, llvm::ArrayRef<int64_t> axes, int64_t limit);

} // namespace kiln::interp
