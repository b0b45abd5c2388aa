#include "JsonRun.h"

using Numbers = std::vector<double>;
using Dims = std::vector<int64_t>;

static const std::string matrix = "[[1, 2, 3], [4, 5, 6]]";

TEST_CASE("reshape infers one size") {
  CHECK(dims(evaluate("reshape", {matrix}, R"("shape": [3, -1])")) == Dims{3, 2});
  CHECK(dims(evaluate("flatten", {matrix}, R"("axis": 0)")) == Dims{1, 6});
}

TEST_CASE("axes move") {
  CHECK(numbersOf("transpose", {matrix}) == Numbers{1, 4, 2, 5, 3, 6});
  CHECK(numbersOf("permute", {matrix}, R"("order": [1, 0])") == Numbers{1, 4, 2, 5, 3, 6});
  CHECK(numbersOf("flip", {matrix}, R"("axes": [-1])") == Numbers{3, 2, 1, 6, 5, 4});
  CHECK(dims(evaluate("unsqueeze", {"[1, 2]"}, R"("axes": [0, -1])")) == Dims{1, 2, 1});
  CHECK(dims(evaluate("squeeze", {"[[[1], [2]]]"})) == Dims{2});
  CHECK(dims(evaluate("squeeze", {"[[[1], [2]]]"}, R"("axes": [0])")) == Dims{2, 1});
}

TEST_CASE("tensors repeat") {
  CHECK(numbersOf("expand", {"[[1], [2]]"}, R"("shape": [2, 2])") == Numbers{1, 1, 2, 2});
  CHECK(numbersOf("tile", {"[1, 2]"}, R"("counts": [2, 2])") == Numbers{1, 2, 1, 2, 1, 2, 1, 2});
}

TEST_CASE("slices follow numpy, also backwards and out of range") {
  std::string x = "[0, 1, 2, 3, 4, 5, 6]";
  CHECK(numbersOf("slice", {x}, R"("slices": [[1, 6, 2]])") == Numbers{1, 3, 5});
  CHECK(numbersOf("slice", {x}, R"("slices": [[-3, null]])") == Numbers{4, 5, 6});
  CHECK(numbersOf("slice", {x}, R"("slices": [[null, null, -1]])") == Numbers{6, 5, 4, 3, 2, 1, 0});
  CHECK(numbersOf("slice", {x}, R"("slices": [[5, 1, -2]])") == Numbers{5, 3});
  CHECK(numbersOf("slice", {x}, R"("slices": [[-100, 100, 3]])") == Numbers{0, 3, 6});
  CHECK(dims(evaluate("slice", {x}, R"("slices": [[4, 2]])")) == Dims{0});
  CHECK(numbersOf("shrink", {matrix}, R"("bounds": [[1, 2], [0, 2]])") == Numbers{4, 5});
}

TEST_CASE("pads of every mode") {
  std::string x = "[1, 2, 3]";
  CHECK(numbersOf("pad", {x}, R"("pads": [[1, 2]])") == Numbers{0, 1, 2, 3, 0, 0});
  CHECK(numbersOf("pad", {x}, R"("pads": [[1, 0]], "value": "-inf")") == Numbers{-infinity, 1, 2, 3});
  CHECK(numbersOf("pad", {x}, R"("pads": [[-1, 1]], "value": 9)") == Numbers{2, 3, 9});
  CHECK(numbersOf("pad", {x}, R"("pads": [[2, 1]], "mode": "edge")") == Numbers{1, 1, 1, 2, 3, 3});
  CHECK(numbersOf("pad", {x}, R"("pads": [[2, 1]], "mode": "reflect")") == Numbers{3, 2, 1, 2, 3, 2});
  CHECK(numbersOf("pad", {x}, R"("pads": [[5, 0]], "mode": "reflect")") == Numbers{2, 1, 2, 3, 2, 1, 2, 3});
  CHECK(numbersOf("pad", {x}, R"("pads": [[1, 4]], "mode": "wrap")") == Numbers{3, 1, 2, 3, 1, 2, 3, 1});
  CHECK(numbersOf("pad", {x}, R"("pads": [[1, -1]], "mode": "edge")") == Numbers{1, 1, 2});
}

TEST_CASE("a concatenation keeps every bit") {
  HostTensor joined = evaluate("concat", {R"([-0.0, "inf"])", R"(["nan", 1])"}, R"("axis": 0)");
  CHECK(near(numbers(joined), {0, infinity, NAN, 1}));
  CHECK(std::signbit(joined.elements<float>()[0]));
  CHECK(numbersOf("concat", {"[[1], [2]]", "[[3], [4]]"}, R"("axis": 1)") == Numbers{1, 3, 2, 4});
  CHECK(numbersOf("stack", {"[1, 2]", "[3, 4]"}, R"("axis": 1)") == Numbers{1, 3, 2, 4});
}

TEST_CASE("split names its parts") {
  auto parts = runGraph(R"({
    "inputs": [{"name": "x", "dtype": "int32", "shape": [5], "value": [1, 2, 3, 4, 5]}],
    "nodes": [{"op": "split", "inputs": ["x"], "sizes": [2, 3], "outputs": ["a", "b"]}], "outputs": ["b", "a"]})");
  CHECK(numbers(parts[0]) == Numbers{3, 4, 5});
  CHECK(numbers(parts[1]) == Numbers{1, 2});
}

TEST_CASE("gather takes indices from both ends") {
  std::string graph = R"({
    "inputs": [{"name": "x", "dtype": "float32", "shape": [3, 2], "value": [[1, 2], [3, 4], [5, 6]]},
               {"name": "i", "dtype": "int64", "shape": [2], "value": [-1, 0]},
               {"name": "j", "dtype": "int64", "shape": [1, 2], "value": [[2, -3]]}],
    "nodes": [{"op": "gather", "inputs": ["x", "i"], "output": "rows"},
              {"op": "gather_elements", "inputs": ["x", "j"], "output": "elements"}],
    "outputs": ["rows", "elements"]})";
  auto results = runGraph(graph);
  CHECK(numbers(results[0]) == Numbers{5, 6, 1, 2});
  CHECK(numbers(results[1]) == Numbers{5, 2});
}

TEST_CASE("index tensors") {
  CHECK(numbersOf("one_hot", {"[2, 0, 7]"}, R"("depth": 3)", "int32") == Numbers{0, 0, 1, 1, 0, 0, 0, 0, 0});
  CHECK(numbersOf("tril", {matrix}) == Numbers{1, 0, 0, 4, 5, 0});
  CHECK(numbersOf("tril", {matrix}, R"("diagonal": -1)") == Numbers{0, 0, 0, 4, 0, 0});
  CHECK(numbersOf("triu", {matrix}, R"("diagonal": 1)") == Numbers{0, 2, 3, 0, 0, 6});
  CHECK(numbersOf("triu", {matrix}, R"("diagonal": -1)") == Numbers{1, 2, 3, 4, 5, 6});
  CHECK(numbersOf("full", {}, R"("shape": [2], "dtype": "int8", "value": -3)") == Numbers{-3, -3});
}

TEST_CASE("positions wrap at their dtype's end") {
  Numbers positions = numbersOf("arange", {}, R"("size": 300, "dtype": "int8")");
  REQUIRE(positions.size() == 300);
  for (int i = 0; i < 300; ++i)
    CHECK(positions[i] == int8_t(i));
}
