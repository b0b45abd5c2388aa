#include "JsonRun.h"

using Numbers = std::vector<double>;

TEST_CASE("numbers take the dtype of the tensor beside them") {
  CHECK(numbersOf("add", {"[1, 2, 3]", "2"}, "", "int32") == Numbers{3, 4, 5});
}

TEST_CASE("operands broadcast") {
  HostTensor sum = evaluate("add", {"[[1], [2]]", "[10, 20, 30]"});
  CHECK(dims(sum) == std::vector<int64_t>{2, 3});
  CHECK(numbers(sum) == Numbers{11, 21, 31, 12, 22, 32});
}

TEST_CASE("sub, div and the remainders") {
  CHECK(numbersOf("sub", {"[5, 1]", "[2, 3]"}, "", "int32") == Numbers{3, -2});
  CHECK(numbersOf("div", {"[7, -7]", "[2, 2]"}) == Numbers{3.5, -3.5});
  CHECK(numbersOf("div", {"[7, -7]", "[2, 2]"}, "", "int32") == Numbers{3.5, -3.5});
  CHECK(numbersOf("idiv", {"[7, -7]", "[2, 2]"}, "", "int32") == Numbers{3, -3});
  CHECK(numbersOf("floordiv", {"[7, -7]", "[2, 2]"}, "", "int32") == Numbers{3, -4});
  CHECK(numbersOf("mod", {"[7, -7]", "[4, 4]"}, "", "int32") == Numbers{3, -3});
  CHECK(numbersOf("floormod", {"[7, -7]", "[4, 4]"}, "", "int32") == Numbers{3, 1});
}

TEST_CASE("pow with whole exponents and others") { CHECK(near(numbersOf("pow", {"[-2, 4]", "[3, 0.5]"}), {-8, 2})); }

TEST_CASE("comparisons are false of NaN, but not-equal") {
  std::vector<std::string> operands{R"([1, 2, "nan"])", "[2, 2, 2]"};
  CHECK(numbersOf("less", operands) == Numbers{1, 0, 0});
  CHECK(numbersOf("less_equal", operands) == Numbers{1, 1, 0});
  CHECK(numbersOf("greater", operands) == Numbers{0, 0, 0});
  CHECK(numbersOf("greater_equal", operands) == Numbers{0, 1, 0});
  CHECK(numbersOf("equal", operands) == Numbers{0, 1, 0});
  CHECK(numbersOf("not_equal", operands) == Numbers{1, 0, 1});
  CHECK(numbersOf("greater_equal", {"[1, 2]", "[2, 2]"}, "", "uint8") == Numbers{0, 1});
}

TEST_CASE("absolute values and signs") {
  CHECK(numbersOf("abs", {"[-2, 0, 3]"}) == Numbers{2, 0, 3});
  CHECK(!std::signbit(numbersOf("abs", {"[-0.0]"})[0]));
  CHECK(numbersOf("sign", {R"([-2, 0, "inf"])"}) == Numbers{-1, 0, 1});
  CHECK(std::isnan(numbersOf("sign", {R"(["nan"])"})[0]));
  CHECK(numbersOf("sign", {"[0, 200]"}, "", "uint8") == Numbers{0, 1});
}

TEST_CASE("what is infinite and what is not a number") {
  CHECK(numbersOf("is_inf", {R"(["inf", "-inf", "nan", 1])"}) == Numbers{1, 1, 0, 0});
  CHECK(numbersOf("is_nan", {R"(["inf", "-inf", "nan", 1])"}) == Numbers{0, 0, 1, 0});
}

TEST_CASE("casts") {
  CHECK(numbersOf("cast", {"[1.9, -1.9, 300]"}, R"("dtype": "uint8")") == Numbers{1, 0, 255});
  CHECK(numbersOf("cast", {"[0, 0.5]"}, R"("dtype": "bool")") == Numbers{0, 1});
  CHECK(numbersOf("bitcast", {"[1]"}, R"("dtype": "int32")") == Numbers{0x3f800000});
}

TEST_CASE("clip takes either bound alone") {
  CHECK(numbersOf("clip", {"[-1, 5, 9]"}, R"("low": 0, "high": 6)") == Numbers{0, 5, 6});
  CHECK(numbersOf("clip", {"[-1, 5, 9]"}, R"("high": 6)") == Numbers{-1, 5, 6});
}

TEST_CASE("activations") {
  CHECK(numbersOf("relu", {"[-1, 2]"}) == Numbers{0, 2});
  CHECK(near(numbersOf("leaky_relu", {"[-1, 2]"}, R"("alpha": 0.1)"), {-0.1, 2}));
  CHECK(near(numbersOf("elu", {"[-1, 2]"}), {std::expm1(-1.0), 2}));
  CHECK(near(numbersOf("sigmoid", {"[-200, 0, 200]"}), {0, 0.5, 1}));
  CHECK(near(numbersOf("hard_sigmoid", {"[-5, 1, 5]"}), {0, 0.7, 1}));
  CHECK(near(numbersOf("hard_swish", {"[-4, 1, 5]"}), {0, 2.0 / 3, 5}));
  CHECK(near(numbersOf("silu", {"[1]"}), {1 / (1 + std::exp(-1.0))}));
  CHECK(near(numbersOf("gelu", {"[1]"}), {0.8413447461}));
  CHECK(near(numbersOf("gelu", {"[1]"}, R"("approximate": "tanh")"), {0.8411919906}));
  CHECK(near(numbersOf("softplus", {"[-100, 0, 1000]"}), {0, std::log(2.0), 1000}));
  CHECK(near(numbersOf("softsign", {"[-3, 1]"}), {-0.75, 0.5}));
  CHECK(near(numbersOf("mish", {"[1]"}), {0.8650983883}));
}

TEST_CASE("where chooses by a bool") {
  CHECK(numbers(runGraph(R"({
    "inputs": [{"name": "c", "dtype": "bool", "shape": [2], "value": [true, false]},
               {"name": "x", "dtype": "float32", "shape": [2], "value": [1, 2]}],
    "nodes": [{"op": "where", "inputs": ["c", "x", 7], "output": "y"}], "outputs": ["y"]})")[0]) == Numbers{1, 7});
}
