extern "C" {
#include "runtime/src/dtype.h"
}

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <string>

TEST_CASE("every half but the NaNs goes to float and back") {
  bool good = true;
  for (uint32_t bits = 0; bits < 0x10000; bits++)
    if ((bits & 0x7fff) <= 0x7c00)
      good &= kiln_float_to_half(kiln_half_to_float(uint16_t(bits))) == bits;
  CHECK(good);
  CHECK(std::isnan(kiln_half_to_float(kiln_float_to_half(NAN))));
}

TEST_CASE("halves have the values of the standard") {
  CHECK(kiln_half_to_float(0x3c00) == 1.0f);
  CHECK(kiln_half_to_float(0xc000) == -2.0f);
  CHECK(kiln_half_to_float(0x7bff) == 65504.0f);
  CHECK(kiln_half_to_float(0x0001) == 0x1p-24f);
  CHECK(kiln_half_to_float(0x7c00) == INFINITY);
}

TEST_CASE("floats round to the nearest half, ties to even") {
  CHECK(kiln_float_to_half(1.0f + 0x1p-11f) == 0x3c00);
  CHECK(kiln_float_to_half(1.0f + 0x3p-11f) == 0x3c02);
  CHECK(kiln_float_to_half(1.0f + 0x1.01p-11f) == 0x3c01);
  CHECK(kiln_float_to_half(65519.0f) == 0x7bff);
  CHECK(kiln_float_to_half(65520.0f) == 0x7c00);
  CHECK(kiln_float_to_half(0x1p-25f) == 0);
  CHECK(kiln_float_to_half(0x1.8p-24f) == 2);
  CHECK(kiln_float_to_half(0x1.ff8p-15f) == 0x03ff);
  CHECK(kiln_float_to_half(0x1.ffcp-15f) == 0x0400);
}

TEST_CASE("floats round to the nearest bfloat16, ties to even") {
  CHECK(kiln_float_to_bfloat16(1.0f) == 0x3f80);
  CHECK(kiln_float_to_bfloat16(1.0f + 0x1p-8f) == 0x3f80);
  CHECK(kiln_float_to_bfloat16(1.0f + 0x3p-8f) == 0x3f82);
  CHECK(kiln_float_to_bfloat16(3.4e38f) == 0x7f80);
  CHECK((kiln_float_to_bfloat16(NAN) & 0x7fff) > 0x7f80);
}

TEST_CASE("counts refuse negative sizes and products that do not fit") {
  int64_t small[] = {2, 3}, negative[] = {0, -1}, empty[] = {INT64_MAX, 0, INT64_MAX}, large[] = {INT64_MAX / 4};
  CHECK(kiln_element_count(KILN_FLOAT32, 2, small) == 6);
  CHECK(kiln_element_count(KILN_FLOAT32, 0, nullptr) == 1);
  CHECK(kiln_element_count(KILN_FLOAT32, 2, negative) == -1);
  CHECK(kiln_element_count(KILN_FLOAT32, 3, empty) == 0);
  CHECK(kiln_element_count(KILN_FLOAT32, 1, large) == INT64_MAX / 4);
  CHECK(kiln_element_count(KILN_FLOAT64, 1, large) == -1);
}

TEST_CASE("names and sizes") {
  CHECK(std::string(kiln_dtype_name(KILN_BFLOAT16)) == "bfloat16");
  CHECK(kiln_dtype_size(KILN_BFLOAT16) == 2);
  CHECK(std::string(kiln_dtype_name(KILN_FLOAT64)) == "float64");
  CHECK(kiln_dtype_size(KILN_FLOAT64) == 8);
  CHECK(kiln_dtype_size(kiln_dtype(99)) == 0);
}
