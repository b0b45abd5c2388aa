#include "interp/HostTensor.h"

#include "llvm/Support/MathExtras.h"

using namespace kiln;
using namespace kiln::interp;

int64_t interp::elementCount(llvm::ArrayRef<int64_t> dims) {
  // A zero anywhere wins over an overflow before it.
  if (llvm::is_contained(dims, 0))
    return 0;
  int64_t count = 1;
  for (int64_t size : dims)
    if (llvm::MulOverflow(count, size, count))
      return INT64_MAX;
  return count;
}

HostTensor HostTensor::zeros(DType dtype, llvm::ArrayRef<int64_t> dims) {
  return {dtype, Dims(dims), std::vector<char>(elementCount(dims) * byteSize(dtype))};
}
