//===- Tiles.cpp - A tensor's elements, tile by tile -------------------===//
//
// A tree of element-wise operations could be evaluated one operation at a time, which writes every intermediate result
// to memory, or one element at a time, which pays for the choice of the operation at every element. A tile of up to
// 2048 elements is between the two: each operation is a loop over a tile, and the rooms for intermediate tiles stay in
// a cache. Full tiles have one shape, so a list of offsets, made once, says which elements of a strided array belong to
// a tile; a leaf whose elements are neighbours is not copied at all.
//
//===-------------------------------------------------------------------===//
#include "interp/Tiles.h"

#include <algorithm>

using namespace kiln;
using namespace kiln::interp;

TileWalk::TileWalk(llvm::ArrayRef<int64_t> dims) : dims_(dims), position_(dims.size()) {
  done_ = elementCount(dims) == 0;
  if (done_ || dims.empty())
    return;
  split_ = dims.size() - 1;
  while (split_ > 0 && inner_ * dims[split_] <= kElements)
    inner_ *= dims[split_--];
  chunk_ = std::clamp<int64_t>(kElements / inner_, 1, dims[split_]);
}

void TileWalk::next() {
  if (dims_.empty()) {
    done_ = true;
    return;
  }
  position_[split_] += chunk_;
  for (size_t axis = split_; position_[axis] >= dims_[axis]; --axis) {
    position_[axis] = 0;
    if (axis == 0) {
      done_ = true;
      return;
    }
    ++position_[axis - 1];
  }
}

int64_t TileWalk::count() const {
  return dims_.empty() ? 1 : std::min(chunk_, dims_[split_] - position_[split_]) * inner_;
}

int64_t TileWalk::base(const Strided &map) const {
  int64_t element = map.offset;
  for (auto [position, stride] : llvm::zip(position_, map.strides))
    element += position * stride;
  return element;
}

std::vector<int64_t> TileWalk::offsets(const Strided &map) const {
  std::vector<int64_t> result{0};
  for (size_t axis = split_; axis < dims_.size(); ++axis) {
    int64_t size = axis == split_ ? chunk_ : dims_[axis];
    std::vector<int64_t> finer;
    finer.reserve(result.size() * size);
    for (int64_t offset : result)
      for (int64_t i = 0; i < size; ++i)
        finer.push_back(offset + i * map.strides[axis]);
    result = std::move(finer);
  }
  return result;
}

int64_t TileWalk::trailingRun(llvm::function_ref<bool(size_t axis)> isRun) const {
  int64_t run = 1;
  for (size_t axis = dims_.size(); axis-- > split_;) {
    if (!isRun(axis) && dims_[axis] != 1)
      return run;
    if (axis > split_)
      run *= dims_[axis];
  }
  return count();
}

TileEvaluator::TileEvaluator(const LazyTensor &root, const TileWalk &walk) { add(root, walk); }

size_t TileEvaluator::add(const LazyTensor &tensor, const TileWalk &walk) {
  if (auto known = index_.find(&tensor); known != index_.end())
    return known->second;
  Step step;
  step.tensor = &tensor;
  for (const TensorRef &operand : tensor.operands)
    step.operands.push_back(add(*operand, walk));
  step.room.resize(walk.capacity() * byteSize(tensor.dtype));
  if (tensor.isHeld()) {
    step.offsets = walk.offsets(tensor.map);
    auto isAt = [&](int64_t stride) {
      return llvm::all_of(llvm::enumerate(step.offsets),
                          [&](auto entry) { return entry.value() == stride * int64_t(entry.index()); });
    };
    step.consecutive = isAt(1);
    step.constant = isAt(0);
  }
  steps_.push_back(std::move(step));
  values_.push_back(nullptr);
  return index_[&tensor] = steps_.size() - 1;
}

/// Elements row by row: `row` neighbours in the tile are `stride` apart in the array.
template <class T>
static void pick(void *to, const void *from, const std::vector<int64_t> &offsets, int64_t row, int64_t stride,
                 int64_t count) {
  constexpr int64_t kShort = 8;
  if (row < kShort) {
    for (int64_t i = 0; i < count; ++i)
      static_cast<T *>(to)[i] = static_cast<const T *>(from)[offsets[i]];
    return;
  }
  for (int64_t i = 0; i < count; i += row) {
    T *target = static_cast<T *>(to) + i;
    const T *source = static_cast<const T *>(from) + offsets[i];
    if (stride == 1)
      std::copy_n(source, row, target);
    else if (stride == 0)
      std::fill_n(target, row, *source);
    else
      for (int64_t j = 0; j < row; ++j)
        target[j] = source[j * stride];
  }
}

const void *TileEvaluator::read(Step &leaf, const TileWalk &walk) {
  unsigned bytes = byteSize(leaf.tensor->dtype);
  int64_t base = walk.base(leaf.tensor->map), count = walk.count();
  const char *from = leaf.tensor->data.get() + base * bytes;
  if (leaf.consecutive)
    return from;
  if (leaf.constant) {
    if (leaf.filled == base)
      return leaf.room.data();
    leaf.filled = base;
    count = walk.capacity();
  }
  // A tile ends within a row only if it has nothing else.
  int64_t row = std::min(walk.row(), count);
  int64_t stride = leaf.tensor->map.strides.empty() ? 0 : leaf.tensor->map.strides.back();
  switch (bytes) {
  case 1:
    pick<uint8_t>(leaf.room.data(), from, leaf.offsets, row, stride, count);
    break;
  case 2:
    pick<uint16_t>(leaf.room.data(), from, leaf.offsets, row, stride, count);
    break;
  case 4:
    pick<uint32_t>(leaf.room.data(), from, leaf.offsets, row, stride, count);
    break;
  default:
    pick<uint64_t>(leaf.room.data(), from, leaf.offsets, row, stride, count);
  }
  return leaf.room.data();
}

const void *TileEvaluator::evaluate(const TileWalk &walk, void *room) {
  int64_t count = walk.count();
  for (size_t i = 0; i < steps_.size(); ++i) {
    Step &step = steps_[i];
    if (step.tensor->isHeld()) {
      values_[i] = read(step, walk);
      continue;
    }
    llvm::SmallVector<const void *, 3> operands;
    for (size_t operand : step.operands)
      operands.push_back(values_[operand]);
    void *result = i + 1 == steps_.size() ? room : step.room.data();
    step.tensor->loop(operands.data(), result, count);
    values_[i] = result;
  }
  return values_.back();
}
