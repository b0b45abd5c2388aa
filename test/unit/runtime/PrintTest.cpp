// The expected texts are those of NumPy 2.4.
#include "kiln/cli.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace {

template <typename T> std::string printed(kiln_dtype dtype, std::vector<int64_t> dims, std::vector<T> values) {
  kiln_tensor tensor = {values.data(), dtype, int32_t(dims.size()), {}, 0};
  std::copy(dims.begin(), dims.end(), tensor.dims);
  char *text = nullptr;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  kiln_print_tensor(file, "y", &tensor);
  fclose(file);
  std::string all(text, length);
  free(text);
  return all.substr(all.find('\n') + 1);
}

std::string floats(const std::vector<float> &values) {
  return printed<float>(KILN_FLOAT32, {int64_t(values.size())}, values);
}

} // namespace

TEST_CASE("the title has name, dtype and shape") {
  float value = 1.5f;
  kiln_tensor tensor = {&value, KILN_FLOAT32, 2, {1, 1}, 0};
  char *text = nullptr;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  kiln_print_tensor(file, "scores", &tensor);
  fclose(file);
  CHECK(std::string(text) == "scores: float32 [1, 1]\n[[1.5]]\n");
  free(text);
}

TEST_CASE("scalars print as Python's numbers") {
  CHECK(printed<int32_t>(KILN_INT32, {}, {11}) == "11\n");
  CHECK(printed<float>(KILN_FLOAT32, {}, {1.6666667f}) == "1.6666667\n");
  CHECK(printed<float>(KILN_FLOAT32, {}, {2}) == "2.0\n");
  CHECK(printed<float>(KILN_FLOAT32, {}, {1e-5f}) == "1e-05\n");
  CHECK(printed<double>(KILN_FLOAT64, {}, {5.0 / 3}) == "1.6666666666666667\n");
  CHECK(printed<char>(KILN_BOOL, {}, {1}) == "True\n");
}

TEST_CASE("floats have the fewest digits, and one width") {
  CHECK(floats({1, 2.5, 3}) == "[1.  2.5 3. ]\n");
  CHECK(floats({0.1f, -20.25f, 0}) == "[  0.1  -20.25   0.  ]\n");
  CHECK(floats({1 / 3.0f, 2 / 3.0f}) == "[0.33333334 0.6666667 ]\n");
  CHECK(printed<double>(KILN_FLOAT64, {1}, {-213710.55032119903}) == "[-213710.5503212]\n");
}

TEST_CASE("far apart or extreme floats go scientific") {
  CHECK(floats({1e-5f, 1250}) == "[1.00e-05 1.25e+03]\n");
  CHECK(floats({1e6f}) == "[1.e+06]\n");
  CHECK(floats({1000, 1}) == "[1000.    1.]\n");
  CHECK(floats({1001, 1}) == "[1.001e+03 1.000e+00]\n");
}

TEST_CASE("what is not finite") {
  CHECK(floats({NAN, 1, INFINITY}) == "[nan  1. inf]\n");
  CHECK(floats({-INFINITY, 2.25f}) == "[-inf 2.25]\n");
}

TEST_CASE("halves need fewer digits") {
  CHECK(printed<uint16_t>(KILN_FLOAT16, {2}, {0x2e66, 0x3c00}) == "[0.1 1. ]\n");
  CHECK(printed<uint16_t>(KILN_BFLOAT16, {2}, {0x3dcd, 0x3f80}) == "[0.1 1. ]\n");
}

TEST_CASE("integers and bools are aligned to the right") {
  CHECK(printed<int8_t>(KILN_INT8, {3}, {-128, 0, 7}) == "[-128    0    7]\n");
  CHECK(printed<uint64_t>(KILN_UINT64, {1}, {UINT64_MAX}) == "[18446744073709551615]\n");
  CHECK(printed<char>(KILN_BOOL, {2}, {1, 0}) == "[ True False]\n");
}

TEST_CASE("axes nest, with an empty line between matrices") {
  CHECK(printed<int32_t>(KILN_INT32, {2, 1, 2}, {1, 2, 3, 4}) == "[[[1 2]]\n\n [[3 4]]]\n");
  CHECK(printed<int32_t>(KILN_INT32, {2, 0}, {}) == "[]\n");
}

TEST_CASE("lines end at 75 characters, less for every bracket that closes") {
  CHECK(floats(std::vector<float>(20, 1.25f)) ==
        "[1.25 1.25 1.25 1.25 1.25 1.25 1.25 1.25 1.25 1.25 1.25 1.25 1.25 1.25"
        "\n 1.25 1.25 1.25 1.25 1.25 1.25]\n");
  std::string deep = printed<char>(KILN_INT8, {1, 1, 1, 40}, std::vector<char>(40));
  CHECK(deep == "[[[[0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n    0 0 0 0 0 0]]]]\n");
}

TEST_CASE("more than a thousand elements are summarised") {
  std::vector<int32_t> values(1001);
  std::iota(values.begin(), values.end(), 0);
  CHECK(printed<int32_t>(KILN_INT32, {1001}, values) == "[   0    1    2 ...  998  999 1000]\n");
  values.resize(1000);
  CHECK(printed<int32_t>(KILN_INT32, {1000}, values).size() > 1000);
  values.resize(1600);
  CHECK(printed<int32_t>(KILN_INT32, {400, 4}, std::vector<int32_t>(1600, 5)) ==
        "[[5 5 5 5]\n [5 5 5 5]\n [5 5 5 5]\n ...\n [5 5 5 5]\n [5 5 5 5]\n [5 5 5 5]]\n");
}

TEST_CASE("narrow dtypes print as the numbers that their codes are") {
  CHECK(printed<uint8_t>(KILN_FLOAT8_E4M3FN, {3}, {0x38, 0x31, 0xfe}) == "[   1.        0.5625 -448.    ]\n");
  CHECK(printed<uint8_t>(KILN_INT4, {2}, {15, 7}) == "[-1  7]\n");
  CHECK(printed<uint8_t>(KILN_FLOAT4_E2M1FN, {}, {3}) == "1.5\n");
}

TEST_CASE("strings print in quotes, long ones cut") {
  CHECK(printed<const char *>(KILN_STRING, {3}, {"a", nullptr, "b\nc"}) == "['a' '' 'b c']\n");
  CHECK(printed<const char *>(KILN_STRING, {}, {"plain"}) == "plain\n");
  std::string longer(100, 'x');
  CHECK(printed<const char *>(KILN_STRING, {1}, {longer.c_str()}) == "['" + std::string(58, 'x') + "...']\n");
}
