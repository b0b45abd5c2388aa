//===- Model.h - Movements as they are meant, element by element ---------===//
//
// The judge of views: a tensor is the list of the buffer elements that it reads, -1 for padding, and each movement
// makes a new list. Nothing here knows of strides.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace kiln::test {

using Numbers = std::vector<int64_t>;
using Pairs = std::vector<std::pair<int64_t, int64_t>>;

class Model {
public:
  explicit Model(Numbers shape);

  const Numbers &shape() const { return shape_; }
  /// In row-major order.
  const Numbers &elements() const { return elements_; }

  void reshape(Numbers shape) { shape_ = std::move(shape); }
  void permute(const Numbers &axes);
  void expand(const Numbers &shape);
  void pad(const Pairs &amounts);
  void shrink(const Pairs &ranges);
  void stride(const Numbers &steps);

private:
  /// A tensor of `shape` whose element at a position is the old one at source(position), padding where that is empty.
  template <typename Source> void remake(Numbers shape, Source source);

  Numbers shape_, elements_;
};

int64_t sizeOf(const Numbers &shape);
/// The coordinates of the row-major element number `flat`.
Numbers coordinates(const Numbers &shape, int64_t flat);

} // namespace kiln::test
