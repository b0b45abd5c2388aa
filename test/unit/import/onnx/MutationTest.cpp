//===- MutationTest.cpp - Damaged files give errors, never crashes -----------===//
#include "OnnxModel.h"

#include "llvm/Support/MemoryBuffer.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <random>

using namespace kiln::test;

/// KILN_MUTATIONS asks for more than the usual number.
static int rounds() {
  const char *given = std::getenv("KILN_MUTATIONS");
  return given ? std::atoi(given) : 200;
}

static std::string read(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(KILN_SOURCE "/" + path);
  REQUIRE(buffer);
  return (*buffer)->getBuffer().str();
}

/// Without their data, tensors are short, and most bytes mean something.
static void dropData(::onnx::GraphProto &graph) {
  for (::onnx::TensorProto &tensor : *graph.mutable_initializer())
    if (tensor.raw_data().size() > 64)
      tensor.clear_raw_data();
}

static std::string mutate(std::string bytes, std::mt19937 &random) {
  auto below = [&](size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random); };
  for (size_t i = 0, changes = 1 + below(3); i < changes; ++i) {
    size_t at = below(bytes.size());
    switch (below(5)) {
    case 0:
      bytes[at] = char(below(256));
      break;
    case 1:
      bytes[at] = char(bytes[at] ^ (1 << below(8)));
      break;
    case 2: // a varint that is large, or negative
      bytes.replace(at, 1, std::string(9, '\xff') + '\1');
      break;
    case 3:
      bytes.erase(at, 1 + below(8));
      break;
    case 4:
      bytes.insert(at, bytes.substr(below(bytes.size()), below(32)));
      break;
    }
    if (bytes.empty())
      break;
  }
  return bytes;
}

static void importMutated(const std::string &path) {
  ::onnx::ModelProto model;
  REQUIRE(model.ParseFromString(read(path)));
  dropData(*model.mutable_graph());
  std::string bytes = model.SerializeAsString();
  std::mt19937 random(1);
  ImportOptions options;
  options.memoryLimit = 1 << 28;
  for (int i = 0; i < rounds(); ++i) {
    std::string text = importBytes(mutate(bytes, random), options);
    if (text.starts_with("error: ")) {
      INFO(text);
      CHECK(text.starts_with("error: model.onnx: "));
      CHECK(text.find('\n') == std::string::npos);
      CHECK(text.find("bug of kiln") == std::string::npos);
    }
  }
}

TEST_CASE("damaged copies of mnist") { importMutated("samples/mnist/model.onnx"); }
TEST_CASE("damaged copies of mobilenet_v3_tiny") { importMutated("test/models/mobilenet_v3_tiny/model.onnx"); }
TEST_CASE("damaged copies of models with control flow") {
  importMutated("test/e2e/control-flow/collatz/model.onnx");
  importMutated("test/e2e/control-flow/grow/model.onnx");
  importMutated("test/e2e/control-flow/branches-part/model.onnx");
}
