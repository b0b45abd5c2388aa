#include "OnnxModel.h"

#include <catch2/catch.hpp>

using namespace kiln::test;
using Catch::Contains;

TEST_CASE("mnist imports") {
  std::string text = importFile(KILN_SAMPLES "/mnist/model.onnx");
  INFO(text);
  CHECK_THAT(text, Contains("func.func @main(%arg0: tensor<1x1x28x28xf32> {graph.name = \"Input3\"}) -> "
                            "(tensor<1x10xf32> {graph.name = \"Plus214_Output_0\"})"));
}
