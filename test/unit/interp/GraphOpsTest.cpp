// The graph interpreter is the judge of `kiln verify`, of fuzzing and of constant folding, so nothing judges it but
// examples whose answers are known. They are graphs in MLIR's text, so that no importer stands between. Here it is one
// op at a time, and that a large product is computed in tiles: it must not need the memory of all its terms, and tiles
// must not show where axes do not divide.
#include "GraphRun.h"

#include <limits>

TEST_CASE("const is one number everywhere") {
  CHECK(elements<float>(runGraph(R"mlir(() -> tensor<3xf32> {
    %0 = graph.const 2.5 : f32 : tensor<3xf32>
    return %0 : tensor<3xf32>
  })mlir")[0]) == std::vector<float>{2.5, 2.5, 2.5});
}

TEST_CASE("a weight's data may be dense, a splat, bool or in a file") {
  CHECK(elements<int32_t>(runGraph(R"mlir(() -> tensor<2x2xi32> {
    %0 = graph.weight "w" : tensor<2x2xi32> = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
    return %0 : tensor<2x2xi32>
  })mlir")[0]) == std::vector<int32_t>{1, 2, 3, 4});
  CHECK(elements<int32_t>(runGraph(R"mlir(() -> tensor<3xi32> {
    %0 = graph.weight "w" : tensor<3xi32> = dense<7> : tensor<3xi32>
    return %0 : tensor<3xi32>
  })mlir")[0]) == std::vector<int32_t>{7, 7, 7});
  CHECK(elements<bool>(runGraph(R"mlir(() -> tensor<3xi1> {
    %0 = graph.weight "w" : tensor<3xi1> = dense<[true, false, true]> : tensor<3xi1>
    return %0 : tensor<3xi1>
  })mlir")[0]) == std::vector<bool>{true, false, true});
}

TEST_CASE("reshape keeps row-major order, also of a transposed tensor") {
  auto outputs = runGraph(R"mlir((%x: tensor<2x3xi32>) -> (tensor<3x2xi32>, tensor<6xi32>) {
    %0 = graph.reshape %x : tensor<2x3xi32> to tensor<3x2xi32>
    %1 = graph.permute %x [1, 0] : tensor<2x3xi32> to tensor<3x2xi32>
    %2 = graph.reshape %1 : tensor<3x2xi32> to tensor<6xi32>
    return %0, %2 : tensor<3x2xi32>, tensor<6xi32>
  })mlir",
                          i32({2, 3}, {0, 1, 2, 3, 4, 5}));
  CHECK(elements<int32_t>(outputs[0]) == std::vector<int32_t>{0, 1, 2, 3, 4, 5});
  CHECK(elements<int32_t>(outputs[1]) == std::vector<int32_t>{0, 3, 1, 4, 2, 5});
}

TEST_CASE("reshape merges and splits repeated axes") {
  CHECK(elements<int32_t>(runGraph(R"mlir((%x: tensor<2x1xi32>) -> tensor<3x2xi32> {
    %0 = graph.expand %x : tensor<2x1xi32> to tensor<2x3xi32>
    %1 = graph.reshape %0 : tensor<2x3xi32> to tensor<3x2xi32>
    return %1 : tensor<3x2xi32>
  })mlir",
                                   i32({2, 1}, {4, 5}))[0]) == std::vector<int32_t>{4, 4, 4, 5, 5, 5});
}

TEST_CASE("pad surrounds with zeros, shrink cuts, flip reverses") {
  auto outputs = runGraph(R"mlir((%x: tensor<1x2xi32>) -> (tensor<2x5xi32>, tensor<1x1xi32>, tensor<1x2xi32>) {
    %0 = graph.pad %x <[1, 2]> <[0, 1]> : tensor<1x2xi32> to tensor<2x5xi32>
    %1 = graph.shrink %x <[0, 1]> <[1, 2]> : tensor<1x2xi32> to tensor<1x1xi32>
    %2 = graph.flip %x [1] : tensor<1x2xi32> to tensor<1x2xi32>
    return %0, %1, %2 : tensor<2x5xi32>, tensor<1x1xi32>, tensor<1x2xi32>
  })mlir",
                          i32({1, 2}, {8, 9}));
  CHECK(elements<int32_t>(outputs[0]) == std::vector<int32_t>{0, 0, 0, 0, 0, 0, 0, 8, 9, 0});
  CHECK(elements<int32_t>(outputs[1]) == std::vector<int32_t>{9});
  CHECK(elements<int32_t>(outputs[2]) == std::vector<int32_t>{9, 8});
}

TEST_CASE("a view reads through every step of its tracker, zeros where masked") {
  auto outputs = runGraph(R"mlir((%x: tensor<2x3xi32>) -> (tensor<2x4xi32>, tensor<6xi32>) {
    %0 = graph.view %x <"(2,4):(3,1)+-1?[0:2,1:4]"> : tensor<2x3xi32> to tensor<2x4xi32>
    %1 = graph.view %x <"(3,2):(1,3) -> (6):(1)"> : tensor<2x3xi32> to tensor<6xi32>
    return %0, %1 : tensor<2x4xi32>, tensor<6xi32>
  })mlir",
                          i32({2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(elements<int32_t>(outputs[0]) == std::vector<int32_t>{0, 1, 2, 3, 0, 4, 5, 6});
  CHECK(elements<int32_t>(outputs[1]) == std::vector<int32_t>{1, 4, 2, 5, 3, 6});
}

TEST_CASE("a view past the tensor's end is an error") {
  CHECK(graphError(R"mlir((%x: tensor<3xi32>) -> tensor<3xi32> {
    %0 = graph.view %x <"(3):(1)+1"> : tensor<3xi32> to tensor<3xi32> loc("v")
    return %0 : tensor<3xi32>
  })mlir",
                   i32({3}, {1, 2, 3})) == "m.onnx: node 'v' (view): the view reads element 3 of 3");
}

TEST_CASE("element-wise chains compute what their ops do one by one") {
  CHECK(elements<float>(runGraph(R"mlir((%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = graph.alu mul %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %1 = graph.alu neg %0 : (tensor<3xf32>) -> tensor<3xf32>
    %2 = graph.alu cmplt %1, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %3 = graph.alu where %2, %0, %x : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    return %3 : tensor<3xf32>
  })mlir",
                                 f32({3}, {-0.5, 2, -3}))[0]) == std::vector<float>{-0.5, 4, 9});
}

TEST_CASE("a row that is not defined for the dtype is an error") {
  CHECK(graphError(R"mlir((%x: tensor<1xf32>) -> tensor<1xf32> {
    %0 = graph.alu xor %x, %x : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> loc("n")
    return %0 : tensor<1xf32>
  })mlir",
                   f32({1}, {1})) == "m.onnx: node 'n' (alu): xor is not defined for f32");
}

TEST_CASE("reduce keeps its axes as size 1") {
  auto outputs = runGraph(R"mlir((%x: tensor<2x3xi32>) -> (tensor<2x1xi32>, tensor<1x3xi32>, tensor<1x1xi32>) {
    %0 = graph.reduce add %x [1] : tensor<2x3xi32> to tensor<2x1xi32>
    %1 = graph.reduce max %x [0] : tensor<2x3xi32> to tensor<1x3xi32>
    %2 = graph.reduce mul %x [0, 1] : tensor<2x3xi32> to tensor<1x1xi32>
    return %0, %1, %2 : tensor<2x1xi32>, tensor<1x3xi32>, tensor<1x1xi32>
  })mlir",
                          i32({2, 3}, {1, 2, 3, 6, 5, -4}));
  CHECK(dims(outputs[0]) == std::vector<int64_t>{2, 1});
  CHECK(elements<int32_t>(outputs[0]) == std::vector<int32_t>{6, 7});
  CHECK(elements<int32_t>(outputs[1]) == std::vector<int32_t>{6, 5, 3});
  CHECK(elements<int32_t>(outputs[2]) == std::vector<int32_t>{-720});
}

TEST_CASE("an empty reduction gives the identity") {
  auto outputs =
      runGraph(R"mlir((%x: tensor<2x0xf32>, %y: tensor<0xi32>) -> (tensor<2x1xf32>, tensor<2x1xf32>, tensor<1xi32>) {
    %0 = graph.reduce add %x [1] : tensor<2x0xf32> to tensor<2x1xf32>
    %1 = graph.reduce max %x [1] : tensor<2x0xf32> to tensor<2x1xf32>
    %2 = graph.reduce min %y [0] : tensor<0xi32> to tensor<1xi32>
    return %0, %1, %2 : tensor<2x1xf32>, tensor<2x1xf32>, tensor<1xi32>
  })mlir",
               {f32({2, 0}, {}), i32({0}, {})});
  float infinity = std::numeric_limits<float>::infinity();
  CHECK(elements<float>(outputs[0]) == std::vector<float>{0, 0});
  CHECK(elements<float>(outputs[1]) == std::vector<float>{-infinity, -infinity});
  CHECK(elements<int32_t>(outputs[2]) == std::vector<int32_t>{INT32_MAX});
}

TEST_CASE("float sums accumulate in double") {
  // In float the ones vanish compared with 2^24, or the large numbers leave nothing of them.
  CHECK(elements<float>(runGraph(R"mlir((%x: tensor<4xf32>) -> tensor<1xf32> {
    %0 = graph.reduce add %x [0] : tensor<4xf32> to tensor<1xf32>
    return %0 : tensor<1xf32>
  })mlir",
                                 f32({4}, {16777216, 1, 1, -16777216}))[0]) == std::vector<float>{2});
}

TEST_CASE("integer sums wrap in their dtype") {
  CHECK(elements<int8_t>(runGraph(R"mlir((%x: tensor<2xi8>) -> tensor<1xi8> {
    %0 = graph.reduce add %x [0] : tensor<2xi8> to tensor<1xi8>
    return %0 : tensor<1xi8>
  })mlir",
                                  HostTensor::of<int8_t>(DType::I8, {2}, {100, 100}))[0]) == std::vector<int8_t>{-56});
}

TEST_CASE("a matrix product is the sum of a product of expanded views") {
  CHECK(elements<float>(runGraph(R"mlir((%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> tensor<2x2xf32> {
    %0 = graph.reshape %a : tensor<2x3xf32> to tensor<2x3x1xf32>
    %1 = graph.expand %0 : tensor<2x3x1xf32> to tensor<2x3x2xf32>
    %2 = graph.reshape %b : tensor<3x2xf32> to tensor<1x3x2xf32>
    %3 = graph.expand %2 : tensor<1x3x2xf32> to tensor<2x3x2xf32>
    %4 = graph.alu mul %1, %3 : (tensor<2x3x2xf32>, tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
    %5 = graph.reduce add %4 [1] : tensor<2x3x2xf32> to tensor<2x1x2xf32>
    %6 = graph.reshape %5 : tensor<2x1x2xf32> to tensor<2x2xf32>
    return %6 : tensor<2x2xf32>
  })mlir",
                                 {f32({2, 3}, {1, 2, 3, 4, 5, 6}), f32({3, 2}, {1, 0, 0, 1, 1, 1})})[0]) ==
        std::vector<float>{4, 5, 10, 11});
}

TEST_CASE("a large matrix product never lies in memory whole") {
  // The product's elements take 32 MiB; the limit is 8.
  auto result = tryGraph(R"mlir((%a: tensor<1024x8xf32>, %b: tensor<8x1024xf32>) -> tensor<1024x1024xf32> {
    %0 = graph.reshape %a : tensor<1024x8xf32> to tensor<1024x1x8xf32>
    %1 = graph.expand %0 : tensor<1024x1x8xf32> to tensor<1024x1024x8xf32>
    %2 = graph.permute %b [1, 0] : tensor<8x1024xf32> to tensor<1024x8xf32>
    %3 = graph.reshape %2 : tensor<1024x8xf32> to tensor<1x1024x8xf32>
    %4 = graph.expand %3 : tensor<1x1024x8xf32> to tensor<1024x1024x8xf32>
    %5 = graph.alu mul %1, %4 : (tensor<1024x1024x8xf32>, tensor<1024x1024x8xf32>) -> tensor<1024x1024x8xf32>
    %6 = graph.reduce add %5 [2] : tensor<1024x1024x8xf32> to tensor<1024x1024x1xf32>
    %7 = graph.reshape %6 : tensor<1024x1024x1xf32> to tensor<1024x1024xf32>
    return %7 : tensor<1024x1024xf32>
  })mlir",
                         {f32({1024, 8}, std::vector<float>(8192, 2)), f32({8, 1024}, std::vector<float>(8192, 3))},
                         {"m.onnx", 8 << 20});
  REQUIRE(bool(result));
  CHECK(elements<float>((*result)[0]) == std::vector<float>(1024 * 1024, 48));
}

TEST_CASE("a tensor past the memory limit is refused") {
  CHECK(graphError(R"mlir(() -> tensor<1000xf32> {
    %0 = graph.const 1.0 : f32 : tensor<1000xf32>
    %1 = graph.alu neg %0 : (tensor<1000xf32>) -> tensor<1000xf32> loc("big")
    return %1 : tensor<1000xf32>
  })mlir",
                   {}, {"m.onnx", 100}) ==
        "m.onnx: node 'big' (alu): a tensor of 1000 elements does not fit the memory limit of 100 bytes");
}

TEST_CASE("tiles cover a tensor whose axes do not divide them") {
  // 3 * 1500 positions, summed along either axis; tiles cut the long one.
  std::vector<int32_t> ramp(4500);
  for (int i = 0; i < 4500; ++i)
    ramp[i] = i;
  auto outputs = runGraph(R"mlir((%x: tensor<3x1500xi32>) -> (tensor<3x1xi32>, tensor<1x1500xi32>, tensor<1500x3xi32>) {
    %0 = graph.alu add %x, %x : (tensor<3x1500xi32>, tensor<3x1500xi32>) -> tensor<3x1500xi32>
    %1 = graph.reduce add %0 [1] : tensor<3x1500xi32> to tensor<3x1xi32>
    %2 = graph.reduce add %x [0] : tensor<3x1500xi32> to tensor<1x1500xi32>
    %3 = graph.permute %x [1, 0] : tensor<3x1500xi32> to tensor<1500x3xi32>
    %4 = graph.alu neg %3 : (tensor<1500x3xi32>) -> tensor<1500x3xi32>
    return %1, %2, %4 : tensor<3x1xi32>, tensor<1x1500xi32>, tensor<1500x3xi32>
  })mlir",
                          i32({3, 1500}, ramp));
  CHECK(elements<int32_t>(outputs[0]) == std::vector<int32_t>{2248500, 6748500, 11248500});
  std::vector<int32_t> columns(1500), transposed(4500);
  for (int i = 0; i < 1500; ++i) {
    columns[i] = 3 * i + 4500;
    for (int j = 0; j < 3; ++j)
      transposed[i * 3 + j] = -(j * 1500 + i);
  }
  CHECK(elements<int32_t>(outputs[1]) == columns);
  CHECK(elements<int32_t>(outputs[2]) == transposed);
}

TEST_CASE("gather chooses along its axis, negative indices from the end") {
  auto outputs = runGraph(R"mlir((%x: tensor<2x3xi32>, %i: tensor<2xi64>) -> (tensor<2x2xi32>, tensor<2x3xi32>) {
    %0 = graph.gather %x[%i] 1 : tensor<2x3xi32>, tensor<2xi64> to tensor<2x2xi32>
    %1 = graph.gather %x[%i] 0 : tensor<2x3xi32>, tensor<2xi64> to tensor<2x3xi32>
    return %0, %1 : tensor<2x2xi32>, tensor<2x3xi32>
  })mlir",
                          {i32({2, 3}, {1, 2, 3, 4, 5, 6}), i64({2}, {-1, 0})});
  CHECK(elements<int32_t>(outputs[0]) == std::vector<int32_t>{3, 1, 6, 4});
  CHECK(elements<int32_t>(outputs[1]) == std::vector<int32_t>{4, 5, 6, 1, 2, 3});
}

TEST_CASE("a gather's index out of range is an error") {
  const char *text = R"mlir((%x: tensor<3xi32>, %i: tensor<i64>) -> tensor<i32> {
    %0 = graph.gather %x[%i] 0 : tensor<3xi32>, tensor<i64> to tensor<i32> loc("pick")
    return %0 : tensor<i32>
  })mlir";
  CHECK(graphError(text, {i32({3}, {1, 2, 3}), i64({}, {3})}) ==
        "m.onnx: node 'pick' (gather): the index 3 is out of range for an axis of size 3");
  CHECK(graphError(text, {i32({3}, {1, 2, 3}), i64({}, {-4})}) ==
        "m.onnx: node 'pick' (gather): the index -4 is out of range for an axis of size 3");
}

TEST_CASE("contiguous is the same tensor") {
  CHECK(elements<int32_t>(runGraph(R"mlir((%x: tensor<3xi32>) -> tensor<3xi32> {
    %0 = graph.flip %x [0] : tensor<3xi32> to tensor<3xi32>
    %1 = graph.contiguous %0 : tensor<3xi32>
    return %1 : tensor<3xi32>
  })mlir",
                                   i32({3}, {1, 2, 3}))[0]) == std::vector<int32_t>{3, 2, 1});
}
