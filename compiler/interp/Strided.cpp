#include "interp/Strided.h"

#include <cassert>
#include <cstring>

using namespace kiln;
using namespace kiln::interp;

Strided Strided::rowMajor(llvm::ArrayRef<int64_t> dims) {
  Strided map{Dims(dims), Dims(dims.size()), 0};
  int64_t stride = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    map.strides[axis] = stride;
    stride *= dims[axis];
  }
  return map;
}

bool Strided::isRowMajor() const {
  int64_t stride = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    if (dims[axis] != 1 && strides[axis] != stride)
      return count() == 0;
    stride *= dims[axis];
  }
  return true;
}

std::optional<std::pair<int64_t, int64_t>> Strided::reach() const {
  if (count() == 0)
    return std::nullopt;
  int64_t low = offset, high = offset;
  for (auto [size, stride] : llvm::zip(dims, strides))
    (stride < 0 ? low : high) += (size - 1) * stride;
  return std::pair(low, high);
}

Strided Strided::permute(llvm::ArrayRef<int64_t> order) const {
  Strided result{{}, {}, offset};
  for (int64_t axis : order) {
    result.dims.push_back(dims[axis]);
    result.strides.push_back(strides[axis]);
  }
  return result;
}

Strided Strided::expand(llvm::ArrayRef<int64_t> to) const {
  Strided result = *this;
  for (auto [axis, size] : llvm::enumerate(to)) {
    if (dims[axis] != size)
      result.strides[axis] = 0;
    result.dims[axis] = size;
  }
  return result;
}

Strided Strided::shrink(llvm::ArrayRef<int64_t> begin, llvm::ArrayRef<int64_t> end) const {
  Strided result = *this;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    result.offset += begin[axis] * strides[axis];
    result.dims[axis] = end[axis] - begin[axis];
  }
  return result;
}

Strided Strided::flip(llvm::ArrayRef<int64_t> axes) const {
  Strided result = *this;
  for (int64_t axis : axes) {
    result.offset += (dims[axis] - 1) * strides[axis];
    result.strides[axis] = -strides[axis];
  }
  return result;
}

std::optional<Strided> Strided::reshape(llvm::ArrayRef<int64_t> to) const {
  if (elementCount(to) == 0 || isRowMajor()) {
    Strided result = rowMajor(to);
    result.offset = offset;
    return result;
  }
  Strided result{Dims(to), Dims(to.size()), offset};
  // Match groups of axes from the left: old axes [i, j) and new axes [k, l) of equal count. Within a group the old axes
  // must be contiguous with one another.
  size_t i = 0, k = 0;
  while (i < dims.size() || k < to.size()) {
    size_t j = i, l = k;
    int64_t before = j < dims.size() ? dims[j++] : 1, after = l < to.size() ? to[l++] : 1;
    while (before != after) {
      if (before < after)
        before *= dims[j++];
      else
        after *= to[l++];
    }
    int64_t stride = 0;
    std::optional<int64_t> outer; // the stride that the next axis to the left must have
    for (size_t axis = j; axis-- > i;) {
      if (dims[axis] == 1)
        continue;
      if (!outer)
        stride = strides[axis];
      else if (strides[axis] != *outer)
        return std::nullopt;
      outer = strides[axis] * dims[axis];
    }
    for (size_t axis = l; axis-- > k;) {
      result.strides[axis] = stride;
      stride *= to[axis];
    }
    i = j;
    k = l;
  }
  return result;
}

template <class T>
static void copyRow(void *to, int64_t toStride, const void *from, int64_t fromStride, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    static_cast<T *>(to)[i * toStride] = static_cast<const T *>(from)[i * fromStride];
}

static void copyRow(char *to, int64_t toStride, const char *from, int64_t fromStride, int64_t count, unsigned bytes) {
  if (toStride == 1 && fromStride == 1) {
    std::memcpy(to, from, count * bytes);
    return;
  }
  switch (bytes) {
  case 1:
    return copyRow<uint8_t>(to, toStride, from, fromStride, count);
  case 2:
    return copyRow<uint16_t>(to, toStride, from, fromStride, count);
  case 4:
    return copyRow<uint32_t>(to, toStride, from, fromStride, count);
  default:
    return copyRow<uint64_t>(to, toStride, from, fromStride, count);
  }
}

void interp::copyElements(void *to, const Strided &toMap, const void *from, const Strided &fromMap,
                          unsigned elementBytes) {
  assert(toMap.dims == fromMap.dims && "maps of one shape");
  if (toMap.count() == 0)
    return;
  // Axes that are contiguous with one another in both maps walk as one.
  Dims dims, toStrides, fromStrides;
  for (auto [size, toStride, fromStride] : llvm::zip(toMap.dims, toMap.strides, fromMap.strides)) {
    if (size == 1)
      continue;
    if (!dims.empty() && toStrides.back() == size * toStride && fromStrides.back() == size * fromStride) {
      dims.back() *= size;
      toStrides.back() = toStride;
      fromStrides.back() = fromStride;
      continue;
    }
    dims.push_back(size);
    toStrides.push_back(toStride);
    fromStrides.push_back(fromStride);
  }
  int64_t row = dims.empty() ? 1 : dims.pop_back_val();
  int64_t toRow = toStrides.empty() ? 1 : toStrides.pop_back_val();
  int64_t fromRow = fromStrides.empty() ? 1 : fromStrides.pop_back_val();
  int64_t toIndex = toMap.offset, fromIndex = fromMap.offset;
  Dims position(dims.size());
  while (true) {
    copyRow(static_cast<char *>(to) + toIndex * elementBytes, toRow,
            static_cast<const char *>(from) + fromIndex * elementBytes, fromRow, row, elementBytes);
    size_t axis = dims.size();
    while (axis > 0) {
      --axis;
      toIndex += toStrides[axis];
      fromIndex += fromStrides[axis];
      if (++position[axis] < dims[axis])
        break;
      toIndex -= toStrides[axis] * dims[axis];
      fromIndex -= fromStrides[axis] * dims[axis];
      position[axis] = 0;
      if (axis == 0)
        return;
    }
    if (dims.empty())
      return;
  }
}
