// What a graph in JSON means: it is imported and run by the graph interpreter, without any pass, and the numbers are
// compared with answers that are known. Sizes that a graph leaves open are the part that goes wrong most easily, so
// such graphs are run at several sizes, 0 among them.
#include "JsonRun.h"

using Numbers = std::vector<double>;
using Dims = std::vector<int64_t>;

static HostTensor floats(llvm::ArrayRef<int64_t> dims, std::vector<float> elements) {
  return HostTensor::of<float>(DType::F32, dims, elements);
}

static Numbers sample(const std::string &name) {
  Context context;
  std::string path = KILN_SAMPLES "/" + name + "/graph.json";
  Module module = importFile(context, path);
  return numbers(runModule(module, path).front());
}

TEST_CASE("the samples' answers") {
  CHECK(sample("dot") == Numbers{11});
  CHECK(near(sample("var"), {5.0 / 3}));
  CHECK(sample("add") == Numbers{3, 4, 5});
}

static std::string printed(const std::string &name) {
  Context context;
  Module module = importFile(context, KILN_SAMPLES "/" + name + "/graph.json");
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

TEST_CASE("names reach the module") {
  std::string dot = printed("dot");
  CHECK_THAT(dot, Catch::Contains(R"(module @dot)"));
  CHECK_THAT(dot, Catch::Contains(R"(%arg0: tensor<2xi32> {graph.name = "a", graph.value = dense<[1, 2]>)"));
  CHECK_THAT(dot, Catch::Contains(R"((tensor<i32> {graph.name = "y"}))"));
  Context context;
  Module module = importFile(context, KILN_SAMPLES "/dot/graph.json");
  module->walk([](kiln::graph::ReduceOp op) { CHECK(llvm::cast<mlir::NameLoc>(op.getLoc()).getName() == "dot"); });
}

TEST_CASE("an input does not fold, though it has a default") {
  auto inputs = {HostTensor::of<int32_t>(DType::I32, {2}, {10, 20}), HostTensor()};
  Context context;
  std::string path = KILN_SAMPLES "/dot/graph.json";
  Module module = importFile(context, path);
  CHECK(numbers(runModule(module, path, inputs).front()) == Numbers{110});
}

TEST_CASE("nodes may stand in any order") {
  CHECK(numbers(runGraph(R"({
    "inputs": [{"name": "x", "dtype": "int32", "shape": [], "value": 3}],
    "nodes": [{"op": "add", "inputs": ["twice", 1], "output": "y"},
              {"op": "mul", "inputs": ["x", 2], "output": "twice"}], "outputs": ["y"]})")[0]) == Numbers{7});
}

TEST_CASE("an input may be an output") {
  CHECK(numbers(runGraph(R"({"inputs": [{"name": "x", "dtype": "bool", "shape": [1], "value": [true]}],
                             "nodes": [], "outputs": ["x"]})")[0]) == Numbers{1});
}

static const char *mlp = R"({
  "inputs": [{"name": "x", "dtype": "float32", "shape": ["batch", 2]}],
  "weights": [{"name": "w", "dtype": "float32", "shape": [2, 2], "value": [[1, 2], [3, 4]]}],
  "nodes": [{"op": "linear", "inputs": ["x", "w", 1], "output": "y"}], "outputs": ["y"]})";

TEST_CASE("a symbolic batch runs at any size, none included") {
  CHECK(numbers(runGraph(mlp, floats({1, 2}, {1, 1}))[0]) == Numbers{5, 7});
  HostTensor three = runGraph(mlp, floats({3, 2}, {1, 0, 0, 1, 0, 0}))[0];
  CHECK(dims(three) == Dims{3, 2});
  CHECK(numbers(three) == Numbers{2, 3, 4, 5, 1, 1});
  CHECK(dims(runGraph(mlp, HostTensor::zeros(DType::F32, {0, 2}))[0]) == Dims{0, 2});
}

TEST_CASE("--dim fixes a symbol") {
  kiln::import::ImportOptions options;
  options.dims["batch"] = {3, 3, 3};
  Folder folder;
  Context context;
  Module module = importFile(context, folder.write("graph.json", mlp), options);
  auto type = module->lookupSymbol<mlir::func::FuncOp>("main").getArgumentTypes()[0];
  CHECK(type == mlir::RankedTensorType::get({3, 2}, mlir::Float32Type::get(&context)));
}

TEST_CASE("the symbols section gives bounds and a default") {
  Folder folder;
  Context context;
  Module module = importFile(context, folder.write("graph.json", R"({
    "symbols": {"n": {"min": 1, "max": 8, "default": 4}},
    "inputs": [{"name": "x", "dtype": "int8", "shape": ["n"]}], "nodes": [], "outputs": ["x"]})"));
  auto symbols = (*module)->getAttrOfType<mlir::ArrayAttr>(kiln::graph::kSymbolsAttr);
  CHECK(symbols[0] == kiln::SymbolAttr::get(&context, "n", 1, 8, 4));
}

/// A cache that grows: past rows and seq new ones.
static const char *cache = R"({
  "inputs": [{"name": "past_rows", "dtype": "float32", "shape": ["batch", "past", 2]},
             {"name": "rows", "dtype": "float32", "shape": ["batch", "seq", 2]}],
  "nodes": [{"op": "reshape", "inputs": ["rows"], "shape": ["batch*seq", 2], "output": "flat"},
            {"op": "add", "inputs": ["flat", 1], "output": "more"},
            {"op": "reshape", "inputs": ["more"], "shape": ["batch", -1, 2], "output": "back"},
            {"op": "concat", "inputs": ["past_rows", "back"], "axis": 1, "output": "all"},
            {"op": "reshape", "inputs": ["all"], "shape": ["batch", "past+seq", 2], "output": "y"}],
  "outputs": ["y"]})";

TEST_CASE("past and seq concatenate, with nothing past as well") {
  HostTensor rows = floats({1, 2, 2}, {1, 2, 3, 4});
  HostTensor first = runGraph(cache, {HostTensor::zeros(DType::F32, {1, 0, 2}), rows})[0];
  CHECK(dims(first) == Dims{1, 2, 2});
  CHECK(numbers(first) == Numbers{2, 3, 4, 5});
  HostTensor second = runGraph(cache, {first, floats({1, 1, 2}, {7, 7})})[0];
  CHECK(numbers(second) == Numbers{2, 3, 4, 5, 8, 8});
}

TEST_CASE("positions, triangles, running sums and windows of symbolic size") {
  auto results = runGraph(R"({
    "inputs": [{"name": "x", "dtype": "float32", "shape": [1, 1, "n"]}],
    "nodes": [{"op": "arange", "size": "n", "output": "positions"},
              {"op": "reshape", "inputs": ["x"], "shape": ["n"], "output": "flat"},
              {"op": "cumsum", "inputs": ["flat"], "axis": 0, "output": "sums"},
              {"op": "expand", "inputs": ["flat"], "shape": ["n", "n"], "output": "square"},
              {"op": "tril", "inputs": ["square"], "output": "lower"},
              {"op": "max_pool1d", "inputs": ["x"], "kernel": [2], "pads": [[0, 1]], "output": "pool"},
              {"op": "avg_pool1d", "inputs": ["x"], "kernel": [3], "strides": [2], "pads": [[1, 1]],
               "count_padding": false, "output": "average"},
              {"op": "mean", "inputs": ["flat"], "output": "mean"},
              {"op": "argmax", "inputs": ["flat"], "axis": 0, "output": "best"},
              {"op": "slice", "inputs": ["flat"], "slices": [[null, null, -2]], "output": "back"}],
    "outputs": ["positions", "sums", "lower", "pool", "average", "mean", "best", "back"]})",
                          floats({1, 1, 3}, {5, 9, 4}));
  CHECK(numbers(results[0]) == Numbers{0, 1, 2});
  CHECK(numbers(results[1]) == Numbers{5, 14, 18});
  CHECK(numbers(results[2]) == Numbers{5, 0, 0, 5, 9, 0, 5, 9, 4});
  CHECK(numbers(results[3]) == Numbers{9, 9, 4});
  CHECK(numbers(results[4]) == Numbers{7, 6.5});
  CHECK(near(numbers(results[5]), {6}));
  CHECK(numbers(results[6]) == Numbers{1});
  CHECK(numbers(results[7]) == Numbers{4, 5});
}

static std::vector<HostTensor> runSample(const std::string &name, llvm::ArrayRef<HostTensor> inputs) {
  Context context;
  std::string path = KILN_SAMPLES "/" + name + "/graph.json";
  Module module = importFile(context, path);
  return runModule(module, path, inputs);
}

static HostTensor counting(llvm::ArrayRef<int64_t> dims) {
  HostTensor tensor = HostTensor::zeros(DType::F32, dims);
  auto *data = reinterpret_cast<float *>(tensor.bytes.data());
  for (int64_t i = 0; i < kiln::interp::elementCount(dims); ++i)
    data[i] = float(i % 7) / 8;
  return tensor;
}

TEST_CASE("each row of the batch sample is a distribution") {
  for (int64_t batch : {1, 3, 17}) {
    Numbers y = numbers(runSample("batch", counting({batch, 6}))[0]);
    REQUIRE(y.size() == size_t(batch * 4));
    for (int64_t row = 0; row < batch; ++row)
      CHECK(y[4 * row] + y[4 * row + 1] + y[4 * row + 2] + y[4 * row + 3] == Approx(1));
  }
}

TEST_CASE("the cache sample gives the same rows at once and one after the other") {
  HostTensor nothing = HostTensor::zeros(DType::F32, {1, 0, 8}), rows = counting({1, 2, 8});
  auto atOnce = runSample("cache", {rows, nothing, nothing});
  std::vector<float> values = rows.elements<float>().vec();
  auto first = runSample("cache", {floats({1, 1, 8}, {values.begin(), values.begin() + 8}), nothing, nothing});
  auto second = runSample("cache", {floats({1, 1, 8}, {values.begin() + 8, values.end()}), first[1], first[2]});
  Numbers oneByOne = numbers(first[0]), last = numbers(second[0]);
  oneByOne.insert(oneByOne.end(), last.begin(), last.end());
  CHECK(near(oneByOne, numbers(atOnce[0])));
  CHECK(dims(second[1]) == Dims{1, 2, 8});
}
