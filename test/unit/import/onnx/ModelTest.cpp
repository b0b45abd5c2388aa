#include "OnnxModel.h"

#include "import/onnx/Registry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <catch2/catch.hpp>

using namespace kiln::test;
using Catch::Contains;

TEST_CASE("mnist imports") {
  std::string text = importFile(KILN_SOURCE "/samples/mnist/model.onnx");
  INFO(text);
  CHECK_THAT(text, Contains("func.func @main(%arg0: tensor<1x1x28x28xf32> {graph.name = \"Input3\"}) -> "
                            "(tensor<1x10xf32> {graph.name = \"Plus214_Output_0\"})"));
  CHECK_THAT(text, Contains("graph.weight \"Parameter87\" : tensor<16x8x5x5xf32> = #graph.file<\"model.onnx\", "));
}

TEST_CASE("mobilenet_v3_tiny imports with any batch") {
  std::string text = importFile(KILN_SOURCE "/test/models/mobilenet_v3_tiny/model.onnx");
  CHECK_THAT(text, Contains("-> (tensor<?x20xf32, #kiln.dims<[\"batch\", 20]>> {graph.name = \"linear_1\"})"));
}

TEST_CASE("docs/onnx-operators.md lists the operators that are imported") {
  auto page = llvm::MemoryBuffer::getFile(KILN_SOURCE "/docs/onnx-operators.md");
  REQUIRE(page);
  llvm::StringRef list = (*page)->getBuffer().split("```\n").second.split("```").first;
  llvm::SmallVector<llvm::StringRef> listed;
  llvm::SplitString(list, listed, " \n");
  std::vector<std::string> names = kiln::import::onnx::Registry::all().names();
  CHECK(std::vector<std::string>(listed.begin(), listed.end()) == names);
}
