#include "JsonRun.h"

using Numbers = std::vector<double>;
using Dims = std::vector<int64_t>;

TEST_CASE("matrix products of vectors, matrices and batches") {
  CHECK(numbersOf("matmul", {"[1, 2]", "[3, 4]"}, "", "int32") == Numbers{11});
  CHECK(numbersOf("matmul", {"[[1, 2], [3, 4]]", "[5, 6]"}) == Numbers{17, 39});
  CHECK(numbersOf("matmul", {"[5, 6]", "[[1, 2], [3, 4]]"}) == Numbers{23, 34});
  CHECK(numbersOf("matmul", {"[[1, 2], [3, 4]]", "[[5, 6], [7, 8]]"}) == Numbers{19, 22, 43, 50});
  HostTensor batched = evaluate("matmul", {"[[[1, 2]], [[3, 4]]]", "[[5], [6]]"});
  CHECK(dims(batched) == Dims{2, 1, 1});
  CHECK(numbers(batched) == Numbers{17, 39});
}

TEST_CASE("products of narrow integers accumulate in 32 bits") {
  CHECK(numbersOf("matmul", {"[100, 100]", "[100, 100]"}, "", "int8") == Numbers{20000});
}

TEST_CASE("linear adds a bias") {
  CHECK(numbersOf("linear", {"[[1, 2]]", "[[1, 0], [0, 1]]", "[10, 20]"}) == Numbers{11, 22});
}

static const std::string image = "[[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]]";

TEST_CASE("convolutions") {
  std::string kernel = "[[[[1, 0], [0, 1]]]]";
  CHECK(numbersOf("conv2d", {image, kernel}) == Numbers{6, 8, 12, 14});
  CHECK(numbersOf("conv2d", {image, kernel}, R"("strides": [2, 2], "pads": [[1, 0], [1, 0]])") == Numbers{1, 3, 7, 14});
  CHECK(numbersOf("conv2d", {image, kernel}, R"("dilations": [2, 2])") == Numbers{10});
  CHECK(numbersOf("conv2d", {image, kernel, "[100]"}) == Numbers{106, 108, 112, 114});
  CHECK(numbersOf("conv1d", {"[[[1, 2, 3, 4, 5]]]", "[[[1, 1]]]"}, R"("strides": [3])") == Numbers{3, 9});
}

TEST_CASE("convolutions whose outer taps read padding alone") {
  auto numbersWith = [](const std::string &x, const std::string &taps, const std::string &attributes) {
    return numbersOf("conv1d", {"[[[" + x + "]]]", "[[[" + taps + "]]]"}, attributes);
  };
  CHECK(numbersWith("1, 2, 3", "1, 10, 100", R"("dilations": [4], "pads": [[4, 4]])") == Numbers{10, 20, 30});
  CHECK(numbersWith("1, 2, 3", "1, 10, 100", R"("dilations": [2], "pads": [[2, 2]])") == Numbers{310, 20, 31});
  CHECK(numbersWith("1, 2, 3, 4", "1, 10, 100", R"("dilations": [4], "pads": [[1, 4]])") == Numbers{40});
  CHECK(numbersWith("1, 2", "1, 10, 100, 1000", R"("dilations": [5], "pads": [[3, 14]], "strides": [2])") ==
        Numbers{0, 0});
}

TEST_CASE("convolution groups see their own channels") {
  HostTensor y = evaluate("conv1d", {"[[[1, 2], [3, 4]]]", "[[[10]], [[100]]]"}, R"("groups": 2)");
  CHECK(dims(y) == Dims{1, 2, 2});
  CHECK(numbers(y) == Numbers{10, 20, 300, 400});
}

TEST_CASE("transposed convolutions") {
  CHECK(numbersOf("conv_transpose1d", {"[[[1, 2]]]", "[[[1, 10, 100]]]"}) == Numbers{1, 12, 120, 200});
  CHECK(numbersOf("conv_transpose1d", {"[[[1, 2]]]", "[[[1, 10]]]"}, R"("strides": [3])") == Numbers{1, 10, 0, 2, 20});
  CHECK(numbersOf("conv_transpose1d", {"[[[1, 2]]]", "[[[1, 10]]]"}, R"("pads": [[1, 0]], "output_pads": [1])") ==
        Numbers{12, 20, 0});
}

TEST_CASE("transposed convolutions whose phases have different taps or first outputs") {
  auto numbersWith = [](const std::string &taps, const std::string &attributes) {
    return numbersOf("conv_transpose1d", {"[[[1, 2, 3]]]", "[[[" + taps + "]]]"}, attributes);
  };
  CHECK(numbersWith("1, 10, 100", R"("strides": [2], "pads": [[1, 1]], "output_pads": [1])") ==
        Numbers{10, 102, 20, 203, 30, 300});
  CHECK(numbersWith("1, 10, 100, 1000, 10000", R"("strides": [3], "pads": [[1, 0]])") ==
        Numbers{10, 100, 1002, 10020, 200, 2003, 20030, 300, 3000, 30000});
  CHECK(numbersWith("1, 10, 100, 1000, 10000", R"("strides": [2], "pads": [[3, 3]])") == Numbers{1020, 10203, 2030});
  CHECK(numbersOf("conv_transpose2d", {"[[[[1, 2], [3, 4]]]]", "[[[[1, 10], [100, 1000]]]]", "[5]"},
                  R"("strides": [2, 3], "pads": [[1, 0], [0, 0]])") ==
        Numbers{105, 1005, 5, 205, 2005, 8, 35, 5, 9, 45, 305, 3005, 5, 405, 4005});
}

TEST_CASE("a phase of a transposed convolution may have no tap") {
  CHECK(numbersOf("conv_transpose1d", {"[[[1, 2, 3]]]", "[[[1]]]", "[5]"},
                  R"("strides": [3], "pads": [[1, 0]], "output_pads": [2])") == Numbers{5, 5, 7, 5, 5, 8, 5, 5});
}

TEST_CASE("transposed convolutions of groups have their own taps") {
  CHECK(numbersOf("conv_transpose1d", {"[[[1, 2], [3, 4]]]", "[[[1, 10, 100]], [[1, 10, 100]]]"},
                  R"("groups": 2, "strides": [2])") == Numbers{1, 10, 102, 20, 200, 3, 30, 304, 40, 400});
}

TEST_CASE("transposed convolutions with strides and dilations") {
  auto numbersWith = [](const std::string &attributes) {
    return numbersOf("conv_transpose1d", {"[[[1, 2, 3]]]", "[[[1, 10, 100]]]"}, attributes);
  };
  CHECK(numbersWith(R"("strides": [2], "dilations": [2], "pads": [[1, 1]], "output_pads": [1])") ==
        Numbers{0, 12, 0, 123, 0, 230, 0, 300});
  CHECK(numbersWith(R"("strides": [2], "dilations": [3], "pads": [[2, 0]])") ==
        Numbers{2, 10, 3, 20, 100, 30, 200, 0, 300});
}

TEST_CASE("pools") {
  CHECK(numbersOf("max_pool2d", {image}, R"("kernel": [2, 2])") == Numbers{5, 6, 8, 9});
  CHECK(numbersOf("max_pool1d", {"[[[-1, -2, -3]]]"}, R"("kernel": [2], "strides": [2], "pads": [[1, 0]])") ==
        Numbers{-1, -2});
  CHECK(numbersOf("max_pool1d", {"[[[1, 2, 3]]]"}, R"("kernel": [2], "strides": [2], "ceil_mode": true)") ==
        Numbers{2, 3});
  CHECK(numbersOf("avg_pool1d", {"[[[2, 4, 6]]]"}, R"("kernel": [2])") == Numbers{3, 5});
  std::string padded = R"("kernel": [2], "strides": [2], "pads": [[1, 0]])";
  CHECK(numbersOf("avg_pool1d", {"[[[2, 4, 6]]]"}, padded) == Numbers{1, 5});
  CHECK(numbersOf("avg_pool1d", {"[[[2, 4, 6]]]"}, padded + R"(, "count_padding": false)") == Numbers{2, 5});
  CHECK(numbersOf("avg_pool1d", {"[[[2, 4, 6]]]"}, R"("kernel": [2], "strides": [2], "ceil_mode": true)") ==
        Numbers{3, 6});
}

TEST_CASE("normalisations") {
  CHECK(near(numbersOf("softmax", {"[[0, 0], [1000, 0]]"}), {0.5, 0.5, 1, 0}));
  CHECK(near(numbersOf("log_softmax", {"[0, 0]"}), {-std::log(2.0), -std::log(2.0)}));
  CHECK(near(numbersOf("layernorm", {"[1, 3]", "[2, 2]", "[1, 1]"}, R"("epsilon": 0)"), {-1, 3}));
  CHECK(near(numbersOf("rmsnorm", {"[3, 4]"}, R"("epsilon": 0)"), {3 / std::sqrt(12.5), 4 / std::sqrt(12.5)}));
  CHECK(near(numbersOf("batchnorm", {"[[1], [5]]", "[2]", "[10]", "[3]", "[4]"}, R"("epsilon": 0)"), {8, 12}));
  CHECK(near(numbersOf("instancenorm", {"[[[1, 3], [5, 9]]]"}, R"("epsilon": 0)"), {-1, 1, -1, 1}));
  CHECK(near(numbersOf("groupnorm", {"[[[1], [3], [5], [9]]]"}, R"("groups": 2, "epsilon": 0)"), {-1, 1, -1, 1}));
}

TEST_CASE("causal attention looks back only") {
  CHECK(near(numbersOf("attention", {"[[1], [1]]", "[[1], [1]]", "[[2], [4]]"}, R"("causal": true)"), {2, 3}));
  CHECK(near(numbersOf("attention", {"[[1]]", "[[1], [1]]", "[[2], [4]]"}, R"("causal": true)"), {3}));
}
