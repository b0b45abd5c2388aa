// The graph interpreter is the judge of `kiln verify`, of fuzzing and of constant folding, so nothing judges it but
// examples whose answers are known. They are graphs in MLIR's text, so that no importer stands between. Here it is
// sizes, regions and weights in files: a symbol's value comes from the inputs, and may be 0 or wrong; a loop may not
// run at all.
#include "GraphRun.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

static const char *kDouble = R"mlir((%x: tensor<?x2xi32, #kiln.dims<["n", 2]>>) -> tensor<?xi32, #kiln.dims<["n*2"]>> {
    %0 = graph.alu add %x, %x : (tensor<?x2xi32, #kiln.dims<["n", 2]>>, tensor<?x2xi32, #kiln.dims<["n", 2]>>)
        -> tensor<?x2xi32, #kiln.dims<["n", 2]>>
    %1 = graph.reshape %0 : tensor<?x2xi32, #kiln.dims<["n", 2]>> to tensor<?xi32, #kiln.dims<["n*2"]>>
    return %1 : tensor<?xi32, #kiln.dims<["n*2"]>>
  })mlir";

TEST_CASE("a symbol takes its value from the input, zero as well") {
  CHECK(elements<int32_t>(runGraph(kDouble, i32({2, 2}, {1, 2, 3, 4}))[0]) == std::vector<int32_t>{2, 4, 6, 8});
  CHECK(dims(runGraph(kDouble, i32({0, 2}, {}))[0]) == std::vector<int64_t>{0});
}

TEST_CASE("an input that does not fit its declaration is an error") {
  CHECK(graphError(kDouble, i32({2, 3}, {1, 2, 3, 4, 5, 6})) ==
        "m.onnx: input '0': its size along axis 1 is 3 where 2 is declared");
  CHECK(graphError(kDouble, i32({2}, {1, 2})) == "m.onnx: input '0': it has rank 1 where 2 is declared");
  CHECK(graphError(kDouble, f32({1, 2}, {1, 2})) == "m.onnx: input '0': it is f32 where i32 is declared");
  CHECK(graphError(kDouble) == "m.onnx: it takes 1 inputs, not 0");
}

TEST_CASE("two inputs of one symbol must agree") {
  const char *text = R"mlir((%x: tensor<?xi32, #kiln.dims<["n"]>> {graph.name = "a"},
                             %y: tensor<?xi32, #kiln.dims<["n"]>> {graph.name = "b"}) -> tensor<?xi32, #kiln.dims<["n"]>> {
    return %y : tensor<?xi32, #kiln.dims<["n"]>>
  })mlir";
  CHECK(graphError(text, {i32({2}, {1, 2}), i32({1}, {1})}) ==
        "m.onnx: input 'b': its size along axis 0 is 1 where n = 2 is declared");
}

TEST_CASE("a size outside its bounds is an error") {
  CHECK(graphError(R"mlir((%x: tensor<?xi32, #kiln.dims<["n{2..4}"]>>) -> tensor<?xi32, #kiln.dims<["n{2..4}"]>> {
    return %x : tensor<?xi32, #kiln.dims<["n{2..4}"]>>
  })mlir",
                   i32({5}, {1, 2, 3, 4, 5})) ==
        "m.onnx: input '0': 'n' is 5, outside its bounds of 2 to 4; see --dim");
}

TEST_CASE("size gives a symbol's value as data") {
  CHECK(elements<int64_t>(runGraph(R"mlir((%x: tensor<?xi32, #kiln.dims<["n"]>>) -> tensor<i64> {
    %0 = graph.size <"n*3+1"> : tensor<i64>
    return %0 : tensor<i64>
  })mlir",
                                   i32({4}, {1, 2, 3, 4}))[0]) == std::vector<int64_t>{13});
}

TEST_CASE("bind makes data a size") {
  const char *text = R"mlir((%k: tensor<i64>, %x: tensor<5xi32>) -> tensor<?xi32, #kiln.dims<["k{0..5}"]>> {
    graph.bind <"k", 0 to 5, default 1> %k : tensor<i64> loc("top")
    %0 = graph.shrink %x <[0]> <["k{0..5}"]> : tensor<5xi32> to tensor<?xi32, #kiln.dims<["k{0..5}"]>>
    return %0 : tensor<?xi32, #kiln.dims<["k{0..5}"]>>
  })mlir";
  HostTensor x = i32({5}, {1, 2, 3, 4, 5});
  CHECK(elements<int32_t>(runGraph(text, {i64({}, {2}), x})[0]) == std::vector<int32_t>{1, 2});
  CHECK(dims(runGraph(text, {i64({}, {0}), x})[0]) == std::vector<int64_t>{0});
  CHECK(graphError(text, {i64({}, {6}), x}) ==
        "m.onnx: node 'top' (bind): 'k' is 6, outside its bounds of 0 to 5; see --dim");
}

TEST_CASE("an absent input takes its stored default, or is an error") {
  const char *text = R"mlir((%x: tensor<2xi32> {graph.name = "x", graph.value = dense<[3, 4]> : tensor<2xi32>},
                             %y: tensor<2xi32> {graph.name = "y"}) -> tensor<2xi32> {
    %0 = graph.alu add %x, %y : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
    return %0 : tensor<2xi32>
  })mlir";
  CHECK(elements<int32_t>(runGraph(text, {HostTensor(), i32({2}, {1, 1})})[0]) == std::vector<int32_t>{4, 5});
  CHECK(graphError(text, {HostTensor(), HostTensor()}) ==
        "m.onnx: input 'y': it is not given and has no stored default");
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

TEST_CASE("if takes one branch, and its result that branch's size") {
  const char *text = R"mlir((%c: tensor<i1>, %x: tensor<3xi32>) -> tensor<?xi32, #kiln.dims<["s"]>> {
    %0 = graph.if %c : tensor<i1> -> (tensor<?xi32, #kiln.dims<["s"]>>) {
      graph.yield %x : tensor<3xi32>
    } else {
      %1 = graph.shrink %x <[1]> <[2]> : tensor<3xi32> to tensor<1xi32>
      graph.yield %1 : tensor<1xi32>
    }
    %2 = graph.alu neg %0 : (tensor<?xi32, #kiln.dims<["s"]>>) -> tensor<?xi32, #kiln.dims<["s"]>>
    return %2 : tensor<?xi32, #kiln.dims<["s"]>>
  })mlir";
  HostTensor x = i32({3}, {1, 2, 3});
  CHECK(elements<int32_t>(runGraph(text, {boolean(true), x})[0]) == std::vector<int32_t>{-1, -2, -3});
  CHECK(elements<int32_t>(runGraph(text, {boolean(false), x})[0]) == std::vector<int32_t>{-2});
}

// Doubles a number `trips` times, keeping each value.
static const char *kDoubling =
    R"mlir((%n: tensor<i64>, %x: tensor<1xi32>) -> (tensor<1xi32>, tensor<?x1xi32, #kiln.dims<["t", 1]>>) {
    %0:2 = graph.loop trips(%n : tensor<i64>) carry(%x : tensor<1xi32>)
        -> (tensor<1xi32>, tensor<?x1xi32, #kiln.dims<["t", 1]>>) {
    ^bb0(%i: tensor<i64>, %a: tensor<1xi32>):
      %go = graph.const true : tensor<i1>
      %1 = graph.alu add %a, %a : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
      graph.yield %go, %1, %a : tensor<i1>, tensor<1xi32>, tensor<1xi32>
    }
    return %0#0, %0#1 : tensor<1xi32>, tensor<?x1xi32, #kiln.dims<["t", 1]>>
  })mlir";

TEST_CASE("a loop carries tensors and stacks scan outputs") {
  auto outputs = runGraph(kDoubling, {i64({}, {3}), i32({1}, {5})});
  CHECK(elements<int32_t>(outputs[0]) == std::vector<int32_t>{40});
  CHECK(dims(outputs[1]) == std::vector<int64_t>{3, 1});
  CHECK(elements<int32_t>(outputs[1]) == std::vector<int32_t>{5, 10, 20});
}

TEST_CASE("a loop of no iterations gives its inits and empty scans") {
  auto outputs = runGraph(kDoubling, {i64({}, {0}), i32({1}, {5})});
  CHECK(elements<int32_t>(outputs[0]) == std::vector<int32_t>{5});
  CHECK(dims(outputs[1]) == std::vector<int64_t>{0, 1});
}

TEST_CASE("a loop ends when its condition does, and counts its iterations") {
  // Appends i to a growing tensor while i < 3.
  const char *text = R"mlir((%c: tensor<i1>, %x: tensor<0xi64>) -> tensor<?xi64, #kiln.dims<["out"]>> {
    %0 = graph.loop while(%c : tensor<i1>) carry(%x : tensor<0xi64>) -> (tensor<?xi64, #kiln.dims<["out"]>>) {
    ^bb0(%i: tensor<i64>, %a: tensor<?xi64, #kiln.dims<["m"]>>):
      %3 = graph.const 3 : i64 : tensor<i64>
      %go = graph.alu cmplt %i, %3 : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %old = graph.pad %a <[0]> <[1]> : tensor<?xi64, #kiln.dims<["m"]>> to tensor<?xi64, #kiln.dims<["m+1"]>>
      %one = graph.reshape %i : tensor<i64> to tensor<1xi64>
      %new = graph.pad %one <["m"]> <[0]> : tensor<1xi64> to tensor<?xi64, #kiln.dims<["m+1"]>>
      %all = graph.alu add %old, %new : (tensor<?xi64, #kiln.dims<["m+1"]>>, tensor<?xi64, #kiln.dims<["m+1"]>>)
          -> tensor<?xi64, #kiln.dims<["m+1"]>>
      graph.yield %go, %all : tensor<i1>, tensor<?xi64, #kiln.dims<["m+1"]>>
    }
    return %0 : tensor<?xi64, #kiln.dims<["out"]>>
  })mlir";
  HostTensor none = i64({0}, {});
  CHECK(elements<int64_t>(runGraph(text, {boolean(true), none})[0]) == std::vector<int64_t>{0, 1, 2, 3});
  CHECK(dims(runGraph(text, {boolean(false), none})[0]) == std::vector<int64_t>{0});
}

TEST_CASE("a loop's body reads values from above, also in an if, every time") {
  const char *text = R"mlir((%n: tensor<i64>, %x: tensor<1xi64>, %y: tensor<1xi64>) -> tensor<1xi64> {
    %w = graph.alu add %y, %y : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %0 = graph.loop trips(%n : tensor<i64>) carry(%x : tensor<1xi64>) -> (tensor<1xi64>) {
    ^bb0(%i: tensor<i64>, %a: tensor<1xi64>):
      %go = graph.const true : tensor<i1>
      %2 = graph.const 2 : i64 : tensor<i64>
      %c = graph.alu cmplt %i, %2 : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %r = graph.if %c : tensor<i1> -> (tensor<1xi64>) {
        %1 = graph.alu add %a, %w : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
        graph.yield %1 : tensor<1xi64>
      } else {
        %1 = graph.alu mul %a, %y : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
        graph.yield %1 : tensor<1xi64>
      }
      graph.yield %go, %r : tensor<i1>, tensor<1xi64>
    }
    return %0 : tensor<1xi64>
  })mlir";
  CHECK(elements<int64_t>(runGraph(text, {i64({}, {3}), i64({1}, {1}), i64({1}, {10})})[0]) ==
        std::vector<int64_t>{410});
}

TEST_CASE("an error within a region names the node that failed") {
  CHECK(graphError(R"mlir((%n: tensor<i64>, %x: tensor<2xi32>) -> tensor<i32> {
    %z = graph.const 0 : i32 : tensor<i32>
    %0 = graph.loop trips(%n : tensor<i64>) carry(%z : tensor<i32>) -> (tensor<i32>) {
    ^bb0(%i: tensor<i64>, %a: tensor<i32>):
      %go = graph.const true : tensor<i1>
      %1 = graph.gather %x[%i] 0 : tensor<2xi32>, tensor<i64> to tensor<i32> loc("inner")
      graph.yield %go, %1 : tensor<i1>, tensor<i32>
    } loc("outer")
    return %0 : tensor<i32>
  })mlir",
                   {i64({}, {3}), i32({2}, {1, 2})}) ==
        "m.onnx: node 'inner' (gather): the index 2 is out of range for an axis of size 2");
}

//===----------------------------------------------------------------------===//
// Weights in files
//===----------------------------------------------------------------------===//

TEST_CASE("a weight's file is read in the model's folder, and its hash checked") {
  llvm::SmallString<128> folder;
  REQUIRE_FALSE(llvm::sys::fs::createUniqueDirectory("weights", folder));
  llvm::SmallString<128> model(folder), file(folder);
  llvm::sys::path::append(model, "m.onnx");
  llvm::sys::path::append(file, "w.bin");
  auto write = [&](std::vector<int32_t> values) {
    std::error_code error;
    llvm::raw_fd_ostream os(file, error);
    os.write(reinterpret_cast<const char *>(values.data()), values.size() * 4);
  };
  // BLAKE3 of the little-endian int32 2 and 3.
  const char *text = R"mlir(() -> tensor<2xi32> {
    %0 = graph.weight "w" : tensor<2xi32> = #graph.file<"w.bin", 4, 8,
        "6f14f483ba957e2ea4a474b71468ec2bd2960f4da198553845c18221574dd3ca"> loc("w")
    return %0 : tensor<2xi32>
  })mlir";
  kiln::interp::GraphInterpreterOptions options{std::string(model)};
  std::string where = std::string(model) + ": node 'w' (weight): ", name = "'" + std::string(file) + "'";

  CHECK(graphError(text, {}, options) ==
        where + name + " cannot be read: No such file or directory; it has to lie in the model's folder");
  write({1, 2});
  CHECK(graphError(text, {}, options) == where + name + " ends before byte 12; fetch the file again");
  write({1, 2, 3});
  auto outputs = tryGraph(text, {}, options);
  REQUIRE(bool(outputs));
  CHECK(elements<int32_t>((*outputs)[0]) == std::vector<int32_t>{2, 3});
  write({1, 2, 4});
  CHECK(graphError(text, {}, options) ==
        where + name + " has changed since the model was imported; import the model again");
  CHECK_FALSE(llvm::sys::fs::remove_directories(folder));
}
