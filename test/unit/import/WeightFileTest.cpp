// Weights may be gigabytes, so they stay in their files: the module has their place and a hash. Such a file comes from
// somewhere else, so its header is not believed: a dtype or shape that differs from what the graph says, too few bytes,
// a path that leads out of the model's folder and a pipe must all be refused with a line that names the file. The files
// are written here byte by byte.
#include "JsonRun.h"

#include <sys/stat.h>

using Catch::Matchers::Contains;
using Numbers = std::vector<double>;

static std::string littleEndian(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += char(value >> (8 * i));
  return text;
}

/// An .npy file, version 1.
static std::string npy(const std::string &descr, const std::string &order, const std::string &shape,
                       const std::string &data) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\0", 8) + littleEndian(header.size(), 2) + header + data;
}

static std::string int32s(std::initializer_list<int> numbers) {
  std::string data;
  for (int number : numbers)
    data += littleEndian(uint32_t(number), 4);
  return data;
}

static std::string withWeight(const std::string &weight) {
  return R"({"inputs": [], "weights": [{"name": "w", )" + weight + R"(}], "nodes": [], "outputs": ["w"]})";
}

static Numbers load(const Folder &folder, const std::string &weight) {
  Context context;
  std::string path = folder.write("graph.json", withWeight(weight));
  Module module = importFile(context, path);
  return numbers(runModule(module, path)[0]);
}

static std::string loadError(const Folder &folder, const std::string &weight,
                             const kiln::import::ImportOptions &options = {}) {
  Context context;
  std::string path = folder.write("graph.json", withWeight(weight));
  llvm::Expected<Module> module = kiln::import::importJson(context, path, options);
  REQUIRE_FALSE(bool(module));
  return llvm::toString(module.takeError()).substr(path.size());
}

TEST_CASE("a weight stays in its .npy file") {
  Folder folder;
  folder.write("w.npy", npy("<i4", "False", "(2, 2)", int32s({1, 2, 3, 4})));
  CHECK(load(folder, R"("file": "w.npy")") == Numbers{1, 2, 3, 4});
  CHECK(load(folder, R"("file": "w.npy", "dtype": "int32", "shape": [2, 2])") == Numbers{1, 2, 3, 4});
  Context context;
  Module module = importFile(context, folder.file("graph.json"));
  module->walk([](kiln::graph::WeightOp op) {
    auto file = llvm::cast<kiln::graph::FileAttr>(op.getData());
    CHECK(file.getPath() == "w.npy");
    CHECK(file.getBytes() == 16);
    CHECK(file.getHash().size() == 64);
  });
}

TEST_CASE("numpy's column-major arrays are read as such") {
  Folder folder;
  folder.write("w.npy", npy("<i4", "True", "(2, 3)", int32s({1, 4, 2, 5, 3, 6})));
  CHECK(load(folder, R"("file": "w.npy")") == Numbers{1, 2, 3, 4, 5, 6});
}

TEST_CASE("a tensor of a .safetensors file") {
  Folder folder;
  std::string header = R"({"a":{"dtype":"I32","shape":[1],"data_offsets":[0,4]},)"
                       R"("b":{"dtype":"I32","shape":[2],"data_offsets":[4,12]}})";
  folder.write("w.safetensors", littleEndian(header.size(), 8) + header + int32s({7, 8, 9}));
  CHECK(load(folder, R"("file": "w.safetensors", "tensor": "b")") == Numbers{8, 9});
  CHECK(loadError(folder, R"("file": "w.safetensors", "tensor": "d")") ==
        ": weight 'w': w.safetensors: it has no tensor 'd'; name one that it holds");
  std::string large = R"({"c":{"dtype":"I32","shape":[3],"data_offsets":[0,8]}})";
  folder.write("large.safetensors", littleEndian(large.size(), 8) + large + int32s({7, 8}));
  CHECK_THAT(loadError(folder, R"("file": "large.safetensors", "tensor": "c")"),
             Contains("the file is truncated or corrupt"));
  std::string twice = R"({"a":{"dtype":"I32","shape":[1],"data_offsets":[0,4]},)"
                      R"("b":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}})";
  folder.write("twice.safetensors", littleEndian(twice.size(), 8) + twice + int32s({7}));
  CHECK_THAT(loadError(folder, R"("file": "twice.safetensors", "tensor": "b")"), Contains("those before it end at"));
  CHECK_THAT(loadError(folder, R"("file": "w.safetensors")"), Contains("the attribute 'tensor' is missing"));
  folder.write("short.safetensors", littleEndian(1 << 20, 8) + "{}");
  CHECK_THAT(loadError(folder, R"("file": "short.safetensors", "tensor": "a")"), Contains("shorter than its header"));
}

TEST_CASE("files that hold something else") {
  Folder folder;
  folder.write("w.npy", npy("<i4", "False", "(4,)", int32s({1, 2})));
  CHECK(loadError(folder, R"("file": "w.npy")") ==
        ": weight 'w': w.npy: it holds 8 bytes of data where its shape needs 16; the file is truncated");
  folder.write("v.npy", npy("<i4", "False", "(2,)", int32s({1, 2})));
  CHECK_THAT(loadError(folder, R"("file": "v.npy", "dtype": "float32")"), Contains("v.npy holds int32, not float32"));
  CHECK_THAT(loadError(folder, R"("file": "v.npy", "shape": [3])"), Contains("v.npy holds [2], not [3]"));
  folder.write("big.npy", npy(">i4", "False", "(2,)", int32s({1, 2})));
  CHECK_THAT(loadError(folder, R"("file": "big.npy")"), Contains("its elements are '>i4'"));
  folder.write("no.npy", "hello");
  CHECK_THAT(loadError(folder, R"("file": "no.npy")"), Contains("this is not a .npy file"));
  folder.write("cut.npy", npy("<i4", "False", "(2,)", "").substr(0, 20));
  CHECK_THAT(loadError(folder, R"("file": "cut.npy")"), Contains("its header is cut off"));
}

TEST_CASE("a shape past the memory limit is refused by its header") {
  Folder folder;
  folder.write("w.npy", npy("<f4", "False", "(4294967296, 4294967296)", ""));
  CHECK_THAT(loadError(folder, R"("file": "w.npy")"), Contains("takes more than the memory limit"));
}

TEST_CASE("weight files outside the model's folder, or not there") {
  Folder folder, other;
  std::string secret = other.write("w.npy", npy("<i4", "False", "()", int32s({1})));
  CHECK(loadError(folder, R"("file": ")" + secret + "\"") ==
        ": weight 'w': the weight file " + secret + " is outside the model's folder; move it into that folder");
  CHECK_THAT(loadError(folder, R"("file": "../w.npy")"),
             Contains("the weight file ../w.npy is outside the model's folder"));
  REQUIRE_FALSE(llvm::sys::fs::create_link(secret, folder.file("link.npy")));
  CHECK_THAT(loadError(folder, R"("file": "link.npy")"), Contains("outside the model's folder"));
  CHECK_THAT(loadError(folder, R"("file": "gone.npy")"), Contains("cannot be read: No such file"));
}

TEST_CASE("a weight file that is a pipe does not keep kiln waiting") {
  Folder folder;
  REQUIRE(mkfifo(folder.file("w.npy").c_str(), 0600) == 0);
  CHECK_THAT(loadError(folder, R"("file": "w.npy")"), Contains("the weight file w.npy is not a regular file"));
}

TEST_CASE("a file of many tensors is read once") {
  Folder folder;
  std::string header = R"({"a":{"dtype":"I32","shape":[1],"data_offsets":[0,4]},)"
                       R"("b":{"dtype":"I32","shape":[1],"data_offsets":[4,8]}})";
  folder.write("w.safetensors", littleEndian(header.size(), 8) + header + int32s({7, 8}));
  std::string path = folder.write("graph.json", R"({"inputs": [], "nodes": [], "outputs": ["a", "b"], "weights": [
      {"name": "a", "file": "w.safetensors", "tensor": "a"}, {"name": "b", "file": "w.safetensors", "tensor": "b"}]})");
  int count = 0;
  kiln::import::ImportOptions options;
  options.reads = [&](llvm::StringRef) { ++count; };
  Context context;
  Module module = importFile(context, path, options);
  CHECK(count == 1);
  CHECK(numbers(runModule(module, path)[1]) == Numbers{8});
}

TEST_CASE("the files that are read are told") {
  Folder folder;
  folder.write("w.npy", npy("<i4", "False", "(2,)", int32s({1, 2})));
  std::string path = folder.write("graph.json", withWeight(R"("file": "w.npy")"));
  std::vector<std::string> read;
  kiln::import::ImportOptions options;
  options.reads = [&](llvm::StringRef file) { read.push_back(file.str()); };
  Context context;
  importFile(context, path, options);
  CHECK(read == std::vector{folder.file("w.npy")});
}

TEST_CASE("a weight says in one way what it is") {
  Folder folder;
  CHECK_THAT(loadError(folder, R"("dtype": "int8")"), Contains("it has neither a value nor a file"));
  CHECK_THAT(loadError(folder, R"("value": 1, "file": "w.npy")"), Contains("it has both a value and a file"));
  CHECK_THAT(loadError(folder, R"("value": 1)"), Contains("an inline value needs a dtype and a shape"));
  CHECK_THAT(loadError(folder, R"("file": "w.bin")"), Contains("neither .npy nor .safetensors"));
}
