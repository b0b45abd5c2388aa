// A graph in JSON is mostly written by hand, so it is a person who reads what is wrong with it: one line that names
// file and place or node, the cause, and what to do. Each test has a graph with one mistake, and most compare the whole
// message; a message that only contains the right word would not be noticed.
#include "JsonRun.h"

#include "import/json/Operators.h"

#include "llvm/Support/MemoryBuffer.h"

using Catch::Matchers::Contains;

/// A graph with input x float32 [2, 3], these nodes and the output y.
static std::string withNodes(const std::string &nodes) {
  return R"({"inputs": [{"name": "x", "dtype": "float32", "shape": [2, 3]}], "nodes": [)" + nodes +
         R"(], "outputs": ["y"]})";
}

static std::string nodeError(const std::string &nodes) { return importError(withNodes(nodes)); }

TEST_CASE("a missing file") {
  Context context;
  llvm::Expected<Module> module = kiln::import::importJson(context, "/nonexistent/graph.json", {});
  REQUIRE_FALSE(bool(module));
  CHECK(llvm::toString(module.takeError()) ==
        "/nonexistent/graph.json: cannot be read: No such file or directory; give the path of a graph");
}

TEST_CASE("truncated and malformed text, by line and column") {
  CHECK(importError("{\n  \"inputs\": [") ==
        "graph.json: line 2, column 14: the text ends within the document; the file is truncated");
  CHECK(importError("{\n  \"inputs\": }") == "graph.json: line 2, column 13: this is not JSON; correct the text there");
  CHECK(importError("") == "graph.json: line 1, column 1: the text ends within the document; the file is truncated");
}

TEST_CASE("text that nests without end, and numbers without bound") {
  CHECK(importError(std::string(1000000, '[')) ==
        "graph.json: line 1, column 65: lists nest more than 64 deep; a tensor has fewer axes");
  CHECK_THAT(importError(R"({"inputs": 1e999})"), Contains("a number is larger than any float64"));
}

TEST_CASE("a property that is given twice, by its place") {
  CHECK(importError(R"({"inputs": [], "nodes": [], "inputs": [], "outputs": []})") ==
        "graph.json: the property 'inputs' is given twice; give it once");
  CHECK(importError(withNodes(R"({"op": "relu", "inputs": ["x"], "output": "z"},
                                 {"op": "full", "value": [[1], 2], "op": "exp", "output": "y"})")) ==
        "graph.json: nodes[1]: the property 'op' is given twice; give it once");
  CHECK(importError(R"({"symbols": {"n": {"min": 1, "max": 2, "min": 3}}})") ==
        "graph.json: symbols.n: the property 'min' is given twice; give it once");
}

TEST_CASE("a document that the schema does not allow, by its place") {
  CHECK(importError("[]") == "graph.json: [] is not what is wanted: a graph: an object with inputs, nodes and outputs");
  CHECK(importError(R"({"inputs": [], "nodes": []})") == "graph.json: the property 'outputs' is missing");
  CHECK(importError(withNodes(R"({"op": "relu", "inputs": ["x"], "axes": 1, "output": "y"})")) ==
        "graph.json: nodes[0].axes: 1 is not what is wanted: a list of integers");
  CHECK(importError(withNodes(R"({"op": "relu", "inputs": ["x"], "colour": 1, "output": "y"})")) ==
        "graph.json: nodes[0]: there is no property 'colour'");
  CHECK(importError(withNodes(R"({"op": "relu", "inptus": ["x"], "output": "y"})")) ==
        "graph.json: nodes[0]: there is no property 'inptus'; did you mean 'inputs'?");
  CHECK(importError(R"({"inputs": [{"name": "x", "dtype": "float32", "shape": [1.5]}], "nodes": [], "outputs": []})") ==
        "graph.json: inputs[0].shape[0]: 1.5 is not what is wanted: a size: an integer, or an expression such as "
        "\"batch*seq\"");
}

TEST_CASE("a name with brackets is named whole") {
  CHECK(importError(R"({"inputs": [], "nodes": [], "outputs": [], "symbols": {"[x]": {"min": "a"}}})") ==
        "graph.json: symbols: '[x]' is not a name of a size; use letters from a to z, digits and _, no digit first");
}

TEST_CASE("a graph that is none") {
  CHECK(nodeError(R"({"name": "first", "op": "add", "inputs": ["x", "b"], "output": "a"},
                     {"name": "second", "op": "relu", "inputs": ["a"], "output": "b"},
                     {"op": "relu", "inputs": ["b"], "output": "y"})") ==
        "graph.json: node 'first' (add): the nodes form a cycle: 'first' -> 'second' -> 'first'; a node must not need "
        "its own result");
  CHECK(nodeError(R"({"op": "relu", "inputs": ["y"], "output": "y"})") ==
        "graph.json: node 'y' (relu): the nodes form a cycle: 'y' -> 'y'; a node must not need its own result");
  CHECK(nodeError(R"({"op": "relu", "inputs": ["z"], "output": "y"})") ==
        "graph.json: node 'y' (relu): the name 'z' is not defined; make it an input, a weight or a node's output");
  CHECK(nodeError(R"({"name": "n", "op": "relu", "inputs": ["x"], "output": "x"})") ==
        "graph.json: node 'n' (relu): the name 'x' is defined twice; give each tensor a name of its own");
  CHECK(nodeError("") == "graph.json: the output 'y' is not defined; name an input, a weight or a node's output");
  CHECK(importError(R"({"inputs": [], "nodes": [], "outputs": []})") ==
        "graph.json: the graph has no output; name one or more tensors in outputs");
  CHECK(nodeError(R"({"op": "relu", "inputs": ["x"]})") ==
        "graph.json: node '0' (relu): it has no output; name the result in output, or the results in outputs");
}

TEST_CASE("unknown operators and dtypes, with what was perhaps meant") {
  CHECK(nodeError(R"({"op": "sofmax", "inputs": ["x"], "output": "y"})") ==
        "graph.json: node 'y' (sofmax): unknown operator 'sofmax'; did you mean 'softmax'?");
  CHECK_THAT(nodeError(R"({"op": "frobnicate", "inputs": ["x"], "output": "y"})"),
             Contains("docs/json-graph.md lists the operators"));
  CHECK_THAT(nodeError(R"({"op": "cast", "inputs": ["x"], "dtype": "float", "output": "y"})"),
             Contains("unknown dtype 'float'; dtypes are bool, int8"));
}

TEST_CASE("attributes that cannot be") {
  CHECK(nodeError(R"({"op": "softmax", "inputs": ["x"], "axes": [1], "output": "y"})") ==
        "graph.json: node 'y' (softmax): the operator has no attribute 'axes'; it has axis");
  CHECK(nodeError(R"({"op": "softmax", "inputs": ["x"], "axis": 2, "output": "y"})") ==
        "graph.json: node 'y' (softmax): axis 2 is out of range for a tensor of rank 2; axes run from -2 to 1");
  CHECK_THAT(nodeError(R"({"op": "sum", "inputs": ["x"], "axes": [0, -2], "output": "y"})"),
             Contains("axis -2 is named twice"));
  CHECK_THAT(nodeError(R"({"op": "concat", "inputs": ["x"], "output": "y"})"),
             Contains("the attribute 'axis' is missing"));
  CHECK_THAT(nodeError(R"({"op": "add", "inputs": ["x"], "output": "y"})"),
             Contains("there are 1 inputs; the operator takes 2"));
  CHECK(nodeError(R"({"name": "s", "op": "split", "inputs": ["x"], "axis": 1, "outputs": ["y", "z"]})") ==
        "graph.json: node 's' (split): an axis of size 3 does not divide into 2 equal parts; give their sizes");
  CHECK(nodeError(
            R"({"name": "s", "op": "split", "inputs": ["x"], "axis": 1, "sizes": [3, 2], "outputs": ["y", "z"]})") ==
        "graph.json: node 's' (split): parts of [3, 2] do not make up an axis of size 3; give parts whose sum is its "
        "size");
  CHECK_THAT(nodeError(R"({"op": "split", "inputs": ["x"], "axis": 1, "sizes": [1, 2], "output": "y"})"),
             Contains("the operator has 2 results, the node names 1"));
}

TEST_CASE("channels that do not divide into a convolution's groups") {
  auto convolve = [](const char *x, const char *w) {
    return importError(std::string(R"({"inputs": [{"name": "x", "dtype": "float32", "shape": )") + x +
                       R"(}, {"name": "w", "dtype": "float32", "shape": )" + w +
                       R"(}], "nodes": [{"op": "conv2d", "inputs": ["x", "w"], "groups": 3, "output": "y"}],
                          "outputs": ["y"]})");
  };
  CHECK(convolve("[2, 4, 8, 8]", "[3, 1, 3, 3]") ==
        "graph.json: node 'y' (conv2d): a convolution of [2, 4, 8, 8] by [3, 1, 3, 3] in 3 groups: the input's 4 "
        "channels do not divide into the groups; change one of them");
  CHECK(convolve("[2, 3, 8, 8]", "[4, 1, 3, 3]") ==
        "graph.json: node 'y' (conv2d): a convolution of [2, 3, 8, 8] by [4, 1, 3, 3] in 3 groups: the 4 outputs of "
        "the weight do not divide into the groups; change one of them");
}

TEST_CASE("shapes that do not fit") {
  CHECK(nodeError(R"({"op": "reshape", "inputs": ["x"], "shape": [4, 2], "output": "y"})") ==
        "graph.json: node 'y' (reshape): cannot reshape [2, 3] to [4, 2]: 6 elements are not 8; the number of elements "
        "must stay the same");
  CHECK_THAT(nodeError(R"({"op": "reshape", "inputs": ["x"], "shape": [4, -1], "output": "y"})"),
             Contains("cannot reshape [2, 3] to [4, -1]"));
  CHECK_THAT(nodeError(R"({"op": "reshape", "inputs": ["x"], "shape": [-1, -1], "output": "y"})"),
             Contains("at most one size may be -1"));
  CHECK_THAT(nodeError(R"({"op": "matmul", "inputs": ["x", "x"], "output": "y"})"),
             Contains("cannot multiply [2, 3] and [2, 3]: 3 and 2 differ"));
  CHECK_THAT(nodeError(R"({"op": "transpose", "inputs": ["x"], "output": "t"},
                          {"op": "add", "inputs": ["x", "t"], "output": "y"})"),
             Contains("cannot broadcast [2, 3] with [3, 2]: 3 and 2 differ; sizes must be equal or 1"));
  CHECK_THAT(nodeError(R"({"op": "shrink", "inputs": ["x"], "bounds": [[0, 3], [0, 3]], "output": "y"})"),
             Contains("elements 0 to 3 are not within an axis of size 2"));
  CHECK_THAT(nodeError(R"({"op": "expand", "inputs": ["x"], "shape": [4, 3], "output": "y"})"),
             Contains("2 is neither 1 nor 4"));
}

TEST_CASE("dtypes that do not fit") {
  CHECK_THAT(nodeError(R"({"op": "cast", "inputs": ["x"], "dtype": "int32", "output": "i"},
                          {"op": "add", "inputs": ["i", "x"], "output": "y"})"),
             Contains("add of int32 and float32; cast one of them"));
  CHECK_THAT(nodeError(R"({"op": "cast", "inputs": ["x"], "dtype": "int8", "output": "i"},
                          {"op": "add", "inputs": ["i", 0.5], "output": "y"})"),
             Contains("0.5 is not a value of int8"));
  CHECK_THAT(nodeError(R"({"op": "cast", "inputs": ["x"], "dtype": "int8", "output": "i"},
                          {"op": "exp", "inputs": ["i"], "output": "y"})"),
             Contains("exp of int8 needs floats; cast it"));
  CHECK_THAT(nodeError(R"({"op": "threefry", "inputs": ["x", "x"], "output": "y"})"), Contains("threefry of float32"));
  CHECK_THAT(nodeError(R"({"op": "where", "inputs": ["x", 1, 2], "output": "y"})"), Contains("where of two numbers"));
  CHECK_THAT(nodeError(R"({"op": "and", "inputs": ["x", "x"], "output": "y"})"),
             Contains("and of float32 needs integers"));
}

TEST_CASE("inline data that does not fill its shape") {
  auto error = [](const std::string &input) {
    return importError(R"({"inputs": [{"name": "x", )" + input + R"(}], "nodes": [], "outputs": ["x"]})");
  };
  CHECK(error(R"("dtype": "int32", "shape": [3], "value": [1, 2])") ==
        "graph.json: input 'x': a list of 2 stands where 3 are wanted; nest the numbers as the shape says");
  CHECK(error(R"("dtype": "int32", "shape": [2, 2], "value": [1, 2, 3])") ==
        "graph.json: input 'x': 3 numbers are not the 4 of [2, 2]; give as many as the shape says");
  CHECK(error(R"("dtype": "int32", "shape": ["n", 3], "value": [[1, 2]])") ==
        "graph.json: input 'x': a value's shape is fixed, but its size n is not; write the size as a number, or fix it "
        "with --dim");
  CHECK(error(R"("dtype": "int8", "shape": [], "value": 200)") ==
        "graph.json: input 'x': 200 is not a value of int8; give a number that the dtype can hold");
  CHECK(error(R"("dtype": "int32", "shape": [1], "value": ["one"])") ==
        "graph.json: input 'x': \"one\" is not a value of int32; give a number that the dtype can hold");
  CHECK(
      error(R"("dtype": "int3", "shape": [])").starts_with("graph.json: input 'x': unknown dtype 'int3'; dtypes are"));
}

TEST_CASE("sizes past the memory limit, however large") {
  kiln::import::ImportOptions options;
  options.memoryLimit = 1 << 20;
  auto error = [&](const std::string &shape, const std::string &nodes = "") {
    return importError(R"({"inputs": [{"name": "x", "dtype": "float32", "shape": [)" + shape + R"(]}], "nodes": [)" +
                           nodes + R"(], "outputs": ["x"]})",
                       options);
  };
  CHECK(error("512, 1024") == "graph.json: input 'x': a tensor [512, 1024] of float32 takes more than the memory limit "
                              "of 1048576 bytes; make it smaller, or raise the limit with --memory-limit");
  CHECK_THAT(error("4294967296, 4294967296"), Contains("takes more than the memory limit"));
  CHECK_THAT(error("1", R"({"op": "expand", "inputs": ["x"], "shape": [1000000], "output": "y"})"),
             Contains("node 'y' (expand): a tensor [1000000] of float32 takes more"));
  CHECK_THAT(error("1", R"({"op": "expand", "inputs": ["x"], "shape": [4294967296, 4294967296], "output": "y"})"),
             Contains("has more than 2^63 elements"));
}

TEST_CASE("symbols that no run can know, or with impossible bounds") {
  CHECK(nodeError(R"({"op": "expand", "inputs": ["x"], "shape": ["n", 2, 3], "output": "y"})") ==
        "graph.json: the symbol 'n' is the size of no input's axis; give an input an axis of this size, or fix it, for "
        "example with --dim n=1");
  CHECK_THAT(importError(R"({"symbols": {"n": {"min": 4, "max": 2}}, "inputs": [], "nodes": [], "outputs": []})"),
             Contains("symbol 'n': the least size, 4, is above the largest, 2; give min and max in order"));
  CHECK_THAT(importError(R"({"symbols": {"n": {"max": 4294967296}}, "inputs": [], "nodes": [], "outputs": []})"),
             Contains("symbol 'n': a size of 4294967296 is too large; let max be 2147483647 or less"));
  CHECK_THAT(importError(R"({"symbols": {"n": {"max": 4, "default": 5}}, "inputs": [], "nodes": [], "outputs": []})"),
             Contains("symbol 'n': the default, 5, is not between 0 and 4; give one that is"));
  CHECK_THAT(
      importError(R"({"inputs": [{"name": "x", "dtype": "int8", "shape": ["n*"]}], "nodes": [], "outputs": []})"),
      Contains("input 'x'"));
}

TEST_CASE("a symbol that is declared must be some size's") {
  auto error = [](const std::string &name) {
    return importError(R"({"symbols": {")" + name + R"(": {"max": 8}},
      "inputs": [{"name": "x", "dtype": "float32", "shape": ["batch"]}],
      "nodes": [{"op": "relu", "inputs": ["x"], "output": "y"}], "outputs": ["y"]})");
  };
  CHECK(error("bacth") == "graph.json: symbol 'bacth' is in no size of the model; did you mean 'batch'?");
  CHECK(error("depth") ==
        "graph.json: symbol 'depth' is in no size of the model; use it in an input's shape, or remove it");
}

TEST_CASE("sizes whose bounds exclude each other do not broadcast") {
  CHECK_THAT(importError(R"({
    "symbols": {"batch": {"min": 2, "max": 4, "default": 2}, "seq": {"min": 5, "default": 5}},
    "inputs": [{"name": "a", "dtype": "float32", "shape": ["batch", 3]}, {"name": "b", "dtype": "float32", "shape": ["seq", 3]}],
    "nodes": [{"op": "add", "inputs": ["a", "b"], "output": "y"}], "outputs": ["y"]})"),
             Contains("node 'y' (add): cannot broadcast [batch{2..4}, 3] with [seq{5..2147483647}, 3]: "
                      "batch{2..4} and seq{5..2147483647} differ; sizes must be equal or 1"));
}

TEST_CASE("the manual and the schema have every operator and attribute") {
  auto manual = llvm::MemoryBuffer::getFile(KILN_DOCS "/json-graph.md");
  REQUIRE(bool(manual));
  for (const std::string &name : kiln::import::json::operatorNames()) {
    CHECK_THAT((*manual)->getBuffer().str(), Contains("`" + name + "`"));
    for (const std::string &attribute : kiln::import::json::attributesOf(name)) {
      CHECK_THAT((*manual)->getBuffer().str(), Contains("`" + attribute + "`"));
      std::string node =
          (llvm::Twine(R"({"op": ")") + name + R"(", "inputs": [], ")" + attribute + R"(": null})").str();
      std::string error = nodeError(node);
      CHECK_THAT(error, Contains("nodes[0]." + attribute + ": null is not what is wanted"));
    }
  }
}
