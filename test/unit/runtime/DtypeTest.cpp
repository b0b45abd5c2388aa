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

TEST_CASE("one byte that is no bool is found at every place") {
  uint8_t bytes[77];
  for (size_t at = 0; at < sizeof bytes; ++at) {
    memset(bytes, 1, sizeof bytes);
    CHECK(kiln_are_bools(bytes, sizeof bytes));
    bytes[at] = at % 2 ? 2 : 128;
    CHECK_FALSE(kiln_are_bools(bytes, sizeof bytes));
    CHECK(kiln_are_bools(bytes, int64_t(at)));
  }
}

TEST_CASE("names and sizes") {
  CHECK(std::string(kiln_dtype_name(KILN_BFLOAT16)) == "bfloat16");
  CHECK(kiln_dtype_size(KILN_BFLOAT16) == 2);
  CHECK(std::string(kiln_dtype_name(KILN_FLOAT64)) == "float64");
  CHECK(kiln_dtype_size(KILN_FLOAT64) == 8);
  CHECK(kiln_dtype_size(kiln_dtype(99)) == 0);
}

static double narrow(kiln_dtype dtype, uint8_t code) { return kiln_load_float(&code, dtype); }

TEST_CASE("small floats have the values of their formats") {
  CHECK(narrow(KILN_FLOAT8_E4M3FN, 0x38) == 1);
  CHECK(narrow(KILN_FLOAT8_E4M3FN, 0xfe) == -448);
  CHECK(narrow(KILN_FLOAT8_E4M3FN, 0x01) == 0x1p-9);
  CHECK(std::isnan(narrow(KILN_FLOAT8_E4M3FN, 0x7f)));
  CHECK(narrow(KILN_FLOAT8_E4M3FNUZ, 0x7f) == 240);
  CHECK(std::isnan(narrow(KILN_FLOAT8_E4M3FNUZ, 0x80)));
  CHECK(narrow(KILN_FLOAT8_E5M2, 0x7b) == 57344);
  CHECK(narrow(KILN_FLOAT8_E5M2, 0xfc) == -INFINITY);
  CHECK(std::isnan(narrow(KILN_FLOAT8_E5M2, 0x7d)));
  CHECK(narrow(KILN_FLOAT8_E5M2FNUZ, 0x81) == -0x1p-17);
  CHECK(narrow(KILN_FLOAT8_E8M0FNU, 0) == 0x1p-127);
  CHECK(narrow(KILN_FLOAT8_E8M0FNU, 254) == 0x1p127);
  CHECK(std::isnan(narrow(KILN_FLOAT8_E8M0FNU, 255)));
  CHECK(narrow(KILN_FLOAT6_E2M3FN, 0x3f) == -7.5);
  CHECK(narrow(KILN_FLOAT6_E3M2FN, 0x1f) == 28);
  CHECK(narrow(KILN_FLOAT4_E2M1FN, 0xf7) == 6);
}

TEST_CASE("every number of a small float goes to double and back, and what is too large to the largest") {
  for (int dtype = KILN_FLOAT8_E4M3FN; dtype <= KILN_FLOAT4_E2M1FN; dtype++) {
    INFO(kiln_dtype_name(kiln_dtype(dtype)));
    double largest = 0;
    for (int code = 0; code < 256; code++) {
      double value = narrow(kiln_dtype(dtype), uint8_t(code));
      uint8_t again = 0;
      kiln_store_float(&again, kiln_dtype(dtype), value);
      if (std::isfinite(value))
        CHECK(narrow(kiln_dtype(dtype), again) == value);
      if (std::isfinite(value))
        largest = std::max(largest, value);
    }
    uint8_t code = 0;
    kiln_store_float(&code, kiln_dtype(dtype), 1e300);
    CHECK(narrow(kiln_dtype(dtype), code) == largest);
  }
}

TEST_CASE("a double goes to the nearest small float, halves to the even one") {
  uint8_t code = 0;
  for (auto [value, wanted] : {std::pair(1.0625, 0x38), {1.1875, 0x3a}, {1.07, 0x39}, {-0.0, 0x80}, {0x1p-11, 0}}) {
    kiln_store_float(&code, KILN_FLOAT8_E4M3FN, value);
    CHECK(code == wanted);
  }
}

TEST_CASE("integers of 4 and 2 bits are the low ones of their byte") {
  auto load = [](kiln_dtype dtype, uint8_t byte) { return kiln_load_int(&byte, dtype); };
  CHECK(load(KILN_INT4, 0x18) == -8);
  CHECK(load(KILN_UINT4, 0x18) == 8);
  CHECK(load(KILN_INT2, 0x07) == -1);
  CHECK(load(KILN_UINT2, 0x07) == 3);
  uint8_t byte = 0;
  kiln_store_int(&byte, KILN_INT4, -1);
  CHECK(byte == 15);
}
