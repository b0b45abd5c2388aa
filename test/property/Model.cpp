#include "Model.h"

#include <cstdlib>

using namespace kiln::test;

int64_t kiln::test::sizeOf(const Numbers &shape) {
  int64_t size = 1;
  for (int64_t s : shape)
    size *= s;
  return size;
}

Numbers kiln::test::coordinates(const Numbers &shape, int64_t flat) {
  Numbers position(shape.size());
  for (size_t i = shape.size(); i-- > 0; flat /= shape[i])
    position[i] = flat % shape[i];
  return position;
}

Model::Model(Numbers shape) : shape_(std::move(shape)), elements_(sizeOf(shape_)) {
  for (size_t i = 0; i < elements_.size(); ++i)
    elements_[i] = int64_t(i);
}

template <typename Source> void Model::remake(Numbers shape, Source source) {
  Numbers elements(sizeOf(shape));
  for (size_t i = 0; i < elements.size(); ++i) {
    Numbers position = coordinates(shape, int64_t(i));
    source(position);
    int64_t flat = 0;
    bool inside = true;
    for (size_t d = 0; d < shape_.size(); ++d) {
      inside &= position[d] >= 0 && position[d] < shape_[d];
      flat = flat * shape_[d] + position[d];
    }
    elements[i] = inside ? elements_[flat] : -1;
  }
  shape_ = std::move(shape);
  elements_ = std::move(elements);
}

void Model::permute(const Numbers &axes) {
  Numbers shape(axes.size());
  for (size_t i = 0; i < axes.size(); ++i)
    shape[i] = shape_[axes[i]];
  remake(shape, [&](Numbers &position) {
    Numbers old(position.size());
    for (size_t i = 0; i < axes.size(); ++i)
      old[axes[i]] = position[i];
    position = old;
  });
}

void Model::expand(const Numbers &shape) {
  remake(shape, [&, old = shape_](Numbers &position) {
    for (size_t i = 0; i < old.size(); ++i)
      if (old[i] != shape[i])
        position[i] = 0;
  });
}

void Model::pad(const Pairs &amounts) {
  Numbers shape = shape_;
  for (size_t i = 0; i < shape.size(); ++i)
    shape[i] += amounts[i].first + amounts[i].second;
  remake(shape, [&](Numbers &position) {
    for (size_t i = 0; i < amounts.size(); ++i)
      position[i] -= amounts[i].first;
  });
}

void Model::shrink(const Pairs &ranges) {
  Numbers shape;
  for (auto [begin, end] : ranges)
    shape.push_back(end - begin);
  remake(shape, [&](Numbers &position) {
    for (size_t i = 0; i < ranges.size(); ++i)
      position[i] += ranges[i].first;
  });
}

void Model::stride(const Numbers &steps) {
  Numbers shape = shape_;
  for (size_t i = 0; i < shape.size(); ++i)
    shape[i] = (shape[i] + std::abs(steps[i]) - 1) / std::abs(steps[i]);
  remake(shape, [&, old = shape_](Numbers &position) {
    for (size_t i = 0; i < steps.size(); ++i)
      position[i] = steps[i] > 0 ? position[i] * steps[i] : old[i] - 1 + position[i] * steps[i];
  });
}
