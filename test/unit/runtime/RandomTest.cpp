#include "kiln/cli.h"

extern "C" {
#include "runtime/src/dtype.h"
}

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

namespace {

std::vector<double> filled(kiln_dtype dtype, uint64_t seed, uint64_t stream, int64_t count = 1000, double mean = 0) {
  std::vector<char> bytes(size_t(count) * kiln_dtype_size(dtype));
  kiln_tensor tensor = {bytes.data(), dtype, 1, {count}, 0};
  kiln_random_fill(&tensor, seed, stream, mean);
  std::vector<double> values;
  for (int64_t i = 0; i < count; i++) {
    const char *element = &bytes[size_t(i) * kiln_dtype_size(dtype)];
    values.push_back(kiln_dtype_is_float(dtype) ? kiln_load_float(element, dtype)
                                                : double(kiln_load_int(element, dtype)));
  }
  return values;
}

} // namespace

TEST_CASE("a seed and a stream give the same numbers again, others give others") {
  CHECK(filled(KILN_FLOAT32, 1, 2) == filled(KILN_FLOAT32, 1, 2));
  CHECK(filled(KILN_FLOAT32, 1, 2) != filled(KILN_FLOAT32, 2, 2));
  CHECK(filled(KILN_FLOAT32, 1, 2) != filled(KILN_FLOAT32, 1, 1));
  CHECK(filled(KILN_FLOAT32, 1, 2) != filled(KILN_FLOAT32, 2, 1));
  std::vector<double> few = filled(KILN_FLOAT32, 1, 2, 10), many = filled(KILN_FLOAT32, 1, 2);
  CHECK(std::equal(few.begin(), few.end(), many.begin()));
}

TEST_CASE("floats lie about their mean, integers do not ask for it") {
  std::vector<double> values = filled(KILN_FLOAT32, 0, 0, 1000, 0.5);
  auto [least, most] = std::minmax_element(values.begin(), values.end());
  CHECK(*least >= -0.5);
  CHECK(*least < -0.48);
  CHECK(*most <= 1.5);
  CHECK(*most > 1.48);
  CHECK(filled(KILN_INT32, 0, 0, 10, 0.5) == filled(KILN_INT32, 0, 0, 10));
}

TEST_CASE("values are in range and spread") {
  for (int dtype = KILN_BOOL; dtype <= KILN_FLOAT64; dtype++) {
    std::vector<double> values = filled(kiln_dtype(dtype), 0, 0);
    auto [least, most] = std::minmax_element(values.begin(), values.end());
    if (kiln_dtype_is_float(kiln_dtype(dtype))) {
      CHECK(*least >= -1);
      CHECK(*least < -0.98);
      CHECK(*most <= 1);
      CHECK(*most > 0.98);
    } else {
      CHECK(*least == 0);
      CHECK(*most == (dtype == KILN_BOOL ? 1 : 9));
    }
  }
}
