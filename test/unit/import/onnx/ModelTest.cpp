#include "OnnxModel.h"

#include "import/onnx/Refused.h"
#include "import/onnx/Registry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <catch2/catch.hpp>
#include <set>

using namespace kiln::test;
using Catch::Contains;
using kiln::import::onnx::refusalOf;

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

TEST_CASE("docs/onnx-runtime-operators.md says of each operator whether it is imported, and else why not") {
  const kiln::import::onnx::Registry &registry = kiln::import::onnx::Registry::all();
  auto page = llvm::MemoryBuffer::getFile(KILN_SOURCE "/docs/onnx-runtime-operators.md");
  REQUIRE(page);
  llvm::SmallVector<llvm::StringRef> lines;
  (*page)->getBuffer().split(lines, '\n');
  llvm::StringRef domain;
  std::set<std::string> listed;
  for (llvm::StringRef line : lines) {
    if (line.consume_front("## "))
      domain = line == "ONNX's own domain" ? "" : line;
    llvm::SmallVector<llvm::StringRef> cells;
    line.trim("| ").split(cells, " | ");
    if (cells.size() == 2 && refusalOf(cells[0], "")) { // a whole domain
      CHECK(refusalOf(cells[0], "")->cause == cells[1]);
      listed.insert((cells[0] + ":").str());
    }
    if (cells.size() < 3 || (cells[1] != "yes" && cells[1] != "no"))
      continue;
    INFO(line.str());
    const kiln::import::onnx::Refusal *refusal = refusalOf(domain, cells[0]);
    CHECK(cells[2].trim("| ") == (registry.find(domain, cells[0]) ? "yes" : "refused"));
    if (cells[2] == "refused")
      CHECK((refusal && refusal->cause == cells[3]));
    listed.insert((domain + ":" + cells[0]).str());
  }
  // Those of ONNX's own domain that are in no version of the standard.
  std::set<std::string> known{":Affine",
                              ":Crop",
                              ":DynamicSlice",
                              ":ImageScaler",
                              ":ParametricSoftplus",
                              ":Scale",
                              ":ScaledTanh",
                              ":SimplifiedLayerNormalization"};
  for (const std::string &name : registry.names())
    if (llvm::StringRef(name).starts_with("com.microsoft:") || llvm::StringRef(name).starts_with("ai.onnx.ml:") ||
        llvm::StringRef(name).starts_with("ai.onnx.preview.training:"))
      known.insert(name);
  for (const std::string &name : kiln::import::onnx::refusedNames())
    known.insert(name);
  CHECK(listed == known);
}
