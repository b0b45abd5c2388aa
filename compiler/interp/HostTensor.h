//===- HostTensor.h - A dense tensor in host memory -----------------------===//
#pragma once

#include "ir/base/DType.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <vector>

namespace kiln::interp {

using Dims = llvm::SmallVector<int64_t, 6>;

/// 1 for a scalar; saturates at int64's end.
int64_t elementCount(llvm::ArrayRef<int64_t> dims);

/// Row-major; the bytes are elementCount(dims) * byteSize(dtype), in the machine's byte order.
struct HostTensor {
  DType dtype = DType::F32;
  Dims dims;
  std::vector<char> bytes;
  /// Keeps the targets of the elements if they are strings, or if the one element is a list of tensors (kiln/types.h).
  std::shared_ptr<const void> objects = nullptr;
  bool isList = false;

  /// Made without data: means an input's stored default.
  bool isAbsent() const { return bytes.empty() && dims.empty(); }

  static HostTensor zeros(DType dtype, llvm::ArrayRef<int64_t> dims);
  template <class T> static HostTensor of(DType dtype, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<T> elements) {
    auto *data = reinterpret_cast<const char *>(elements.data());
    return {dtype, Dims(dims), std::vector<char>(data, data + elements.size() * sizeof(T))};
  }
  /// T must be the dtype's C++ type.
  template <class T> llvm::ArrayRef<T> elements() const {
    return llvm::ArrayRef(reinterpret_cast<const T *>(bytes.data()), bytes.size() / sizeof(T));
  }
};

} // namespace kiln::interp
