// The host keeps the first elements of a row in a heap of their number. A stable sort of the whole row gives the same,
// in whatever dtype, with ties, zeros of both signs and NaNs among them.
#include "kiln/call.h"
#include "kiln/kiln.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

using Places = std::vector<int64_t>;

namespace {

struct Memory : kiln_scratch {
  explicit Memory(bool isOut = false) : kiln_scratch{reserveIn, nullptr}, isOut(isOut) {}
  bool isOut;
  std::unique_ptr<char[]> block;

private:
  static void *reserveIn(kiln_scratch *scratch, int64_t bytes) {
    auto &self = *static_cast<Memory *>(scratch);
    if (!self.isOut)
      self.block = std::make_unique<char[]>(size_t(bytes));
    return self.block.get();
  }
};

template <typename T> bool isNaN(T value) { return value != value; }

template <typename T>
Places ordered(const std::vector<T> &rows, int64_t n, int64_t count, kiln_dtype dtype, bool largestFirst) {
  int64_t number = int64_t(rows.size()) / n;
  Places places(size_t(number * count), -1);
  Memory memory;
  const void *buffers[] = {places.data(), rows.data()};
  int64_t numbers[] = {number, n, count, dtype, largestFirst};
  REQUIRE(kiln_call_order(const_cast<void *const *>(buffers), numbers, &memory) == nullptr);
  return places;
}

template <typename T> Places sorted(const std::vector<T> &rows, int64_t n, int64_t count, bool largestFirst) {
  Places all;
  for (size_t begin = 0; begin < rows.size(); begin += size_t(n)) {
    Places places(static_cast<size_t>(n));
    std::iota(places.begin(), places.end(), 0);
    std::stable_sort(places.begin(), places.end(), [&](int64_t i, int64_t j) {
      T a = rows[begin + size_t(largestFirst ? i : j)], b = rows[begin + size_t(largestFirst ? j : i)];
      return isNaN(a) ? !isNaN(b) : a > b;
    });
    all.insert(all.end(), places.begin(), places.begin() + count);
  }
  return all;
}

template <typename T> void compare(kiln_dtype dtype, std::vector<T> values) {
  std::mt19937 random(7);
  for (int64_t n : {1, 2, 63, 64, 65, 200})
    for (int64_t count : {int64_t(1), std::min<int64_t>(n, 5), n})
      for (bool largestFirst : {false, true}) {
        std::vector<T> rows(static_cast<size_t>(3 * n));
        for (T &element : rows)
          element = values[random() % values.size()];
        CAPTURE(dtype, n, count, largestFirst);
        CHECK(ordered(rows, n, count, dtype, largestFirst) == sorted(rows, n, count, largestFirst));
      }
}

template <typename T> std::vector<T> floats() {
  constexpr T kMost = std::numeric_limits<T>::infinity(), kNone = std::numeric_limits<T>::quiet_NaN();
  return {0, -T(0), 1, -1, 2, T(0.5), -T(0.5), std::numeric_limits<T>::denorm_min(), kMost, -kMost, kNone, -kNone};
}

template <typename T> std::vector<T> integers() {
  return {std::numeric_limits<T>::min(), 0, 1, 2, T(-1), T(-2), std::numeric_limits<T>::max()};
}

} // namespace

TEST_CASE("the first elements in order are those of a stable sort") {
  compare(KILN_FLOAT32, floats<float>());
  compare(KILN_FLOAT64, floats<double>());
  compare(KILN_INT8, integers<int8_t>());
  compare(KILN_UINT8, integers<uint8_t>());
  compare(KILN_INT32, integers<int32_t>());
  compare(KILN_INT64, integers<int64_t>());
  compare(KILN_UINT64, integers<uint64_t>());
}

TEST_CASE("half precision is ordered by its values") {
  // -1, 2, 0.5, -inf, NaN, 65504
  std::vector<uint16_t> halves{0xbc00, 0x4000, 0x3800, 0xfc00, 0x7e00, 0x7bff};
  CHECK(ordered(halves, 6, 6, KILN_FLOAT16, true) == Places{4, 5, 1, 2, 0, 3});
  CHECK(ordered(halves, 6, 2, KILN_FLOAT16, false) == Places{3, 0});
}

TEST_CASE("rows without elements have no order, and too few elements are refused") {
  Memory memory, none(true);
  float row[2] = {1, 2};
  int64_t places[3] = {-1, -1, -1};
  void *buffers[] = {places, row};
  CHECK(kiln_call_order(buffers, std::vector<int64_t>{0, 2, 1, KILN_FLOAT32, 1}.data(), &none) == nullptr);
  CHECK(kiln_call_order(buffers, std::vector<int64_t>{1, 2, 0, KILN_FLOAT32, 1}.data(), &none) == nullptr);
  CHECK(places[0] == -1);
  CHECK(kiln_call_order(buffers, std::vector<int64_t>{1, 2, 3, KILN_FLOAT32, 1}.data(), &memory) != nullptr);
  CHECK(kiln_call_order(buffers, std::vector<int64_t>{1, 2, 1, KILN_FLOAT32, 1}.data(), &none) != nullptr);
}
