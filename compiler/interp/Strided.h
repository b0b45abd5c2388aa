//===- Strided.h - Movement of data on known sizes --------------------------===//
//
// A map from positions to elements of an array: dims, strides, offset, all numbers. A matrix of 2 × 3 has strides 3 and
// 1; transposed it has dims 3 × 2 and strides 1 and 3, over the same array. Most movement is such a change of the map.
// A reshape can fail, as that of the transposed matrix to a list does: no single stride walks its elements in order.
// The interpreter has a map of its own, apart from view/ShapeTracker, because it judges the results of the latter.
//
//===------------------------------------------------------------------------===//
#pragma once

#include "interp/HostTensor.h"

#include <optional>

namespace kiln::interp {

struct Strided {
  Dims dims, strides;
  int64_t offset = 0;

  static Strided rowMajor(llvm::ArrayRef<int64_t> dims);

  int64_t count() const { return elementCount(dims); }
  /// Consecutive elements in row-major order, from any offset.
  bool isRowMajor() const;
  /// The lowest and the highest element that is reached; nullopt if there is none.
  std::optional<std::pair<int64_t, int64_t>> reach() const;

  Strided permute(llvm::ArrayRef<int64_t> order) const;
  /// Size-1 axes repeated to `to`.
  Strided expand(llvm::ArrayRef<int64_t> to) const;
  Strided shrink(llvm::ArrayRef<int64_t> begin, llvm::ArrayRef<int64_t> end) const;
  Strided flip(llvm::ArrayRef<int64_t> axes) const;
  /// nullopt if no strides express it.
  std::optional<Strided> reshape(llvm::ArrayRef<int64_t> to) const;
};

/// to[position] = from[position] for every position; the maps have equal dims.
void copyElements(void *to, const Strided &toMap, const void *from, const Strided &fromMap, unsigned elementBytes);

} // namespace kiln::interp
