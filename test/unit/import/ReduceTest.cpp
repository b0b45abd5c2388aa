#include "JsonRun.h"

using Numbers = std::vector<double>;
using Dims = std::vector<int64_t>;

static const std::string matrix = "[[1, 5, 3], [4, 2, 6]]";

TEST_CASE("reductions over axes, kept or dropped") {
  CHECK(numbersOf("sum", {matrix}) == Numbers{21});
  CHECK(numbersOf("max", {matrix}, R"("axes": [1])") == Numbers{5, 6});
  CHECK(numbersOf("min", {matrix}, R"("axes": [-2])") == Numbers{1, 2, 3});
  CHECK(numbersOf("prod", {matrix}, R"("axes": [1])") == Numbers{15, 48});
  CHECK(dims(evaluate("mean", {matrix}, R"("axes": [1], "keepdims": true)")) == Dims{2, 1});
  CHECK(numbersOf("mean", {matrix}, R"("axes": [1])") == Numbers{3, 4});
}

TEST_CASE("narrow integers and bool sum in 32 bits; the bare reduction does not") {
  CHECK(numbersOf("sum", {"[100, 100]"}, "", "int8") == Numbers{200});
  CHECK(evaluate("sum", {"[200, 200]"}, "", "uint8").dtype == DType::U32);
  CHECK(evaluate("sum", {"[1, 1, 0]"}, "", "bool").dtype == DType::I32);
  CHECK(numbersOf("reduce", {"[100, 100]"}, R"("kind": "add")", "int8") == Numbers{-56});
}

TEST_CASE("half precision sums in float32") {
  CHECK(numbersOf("sum", {"[2048, 1, 1]"}, "", "float16") == Numbers{2050});
  CHECK(evaluate("sum", {"[1]"}, "", "bfloat16").dtype == DType::BF16);
}

TEST_CASE("moments") {
  CHECK(near(numbersOf("var", {"[1, 2, 3, 4]"}, "", "int32"), {5.0 / 3}));
  CHECK(near(numbersOf("var", {"[1, 2, 3, 4]"}, R"("correction": 0)"), {1.25}));
  CHECK(near(numbersOf("std", {"[1, 2, 3, 4]"}), {std::sqrt(5.0 / 3)}));
  CHECK(numbersOf("mean", {"[1, 2]"}, "", "int32") == Numbers{1.5});
}

TEST_CASE("norms") {
  CHECK(numbersOf("l1", {"[-3, 4]"}) == Numbers{7});
  CHECK(numbersOf("l2", {"[-3, 4]"}) == Numbers{5});
  CHECK(near(numbersOf("logsumexp", {"[1000, 1000]"}), {1000 + std::log(2.0)}));
  CHECK(numbersOf("logsumexp", {R"(["-inf", "-inf"])"}) == Numbers{-infinity});
}

TEST_CASE("the place of the largest, of the first NaN before it") {
  CHECK(numbersOf("argmax", {"[1, 7, 7]"}, R"("axis": 0)") == Numbers{1});
  CHECK(numbersOf("argmax", {"[1, 7, 7]"}, R"("axis": 0, "last": true)") == Numbers{2});
  CHECK(numbersOf("argmin", {matrix}, R"("axis": 1)") == Numbers{0, 1});
  CHECK(numbersOf("argmax", {R"([1, "nan", 9])"}, R"("axis": 0)") == Numbers{1});
  CHECK(evaluate("argmax", {"[1]"}, R"("axis": 0, "dtype": "int64")").dtype == DType::I64);
}

TEST_CASE("running sums") {
  CHECK(numbersOf("cumsum", {"[1, 2, 3]"}, R"("axis": 0)") == Numbers{1, 3, 6});
  CHECK(numbersOf("cumsum", {"[1, 2, 3]"}, R"("axis": 0, "exclusive": true)") == Numbers{0, 1, 3});
  CHECK(numbersOf("cumsum", {"[1, 2, 3]"}, R"("axis": 0, "reverse": true)") == Numbers{6, 5, 3});
  CHECK(numbersOf("cumsum", {matrix}, R"("axis": 0)") == Numbers{1, 5, 3, 5, 7, 9});
}

TEST_CASE("long running sums go block by block") {
  std::string ones = "[1";
  for (int i = 1; i < 700; ++i)
    ones += ", 1";
  Numbers sums = numbersOf("cumsum", {ones + "]"}, R"("axis": 0)", "int32");
  REQUIRE(sums.size() == 700);
  for (int i = 0; i < 700; ++i)
    CHECK(sums[i] == i + 1);
}
