// Models from text, compiled in this process and run by the real runtime. The renderer writes the model's tables as
// LLVM constants, which the runtime reads as structs of C, and no compiler compares the two. So tables are read back
// through the runtime's header, and host programs with symbols, weights, defaults and loops are run.
#include "TextModel.h"

#include "runtime/device/cpu/cpu.h"
#include "test/unit/render/AddKernel.h"

#include <catch2/catch.hpp>

using kiln::test::kAddKernel, kiln::test::kAddVector, kiln::test::kAddSymbol, kiln::test::TextModel;

TEST_CASE("a model with a symbol, a weight and a stored default") {
  TextModel model(std::string(kAddKernel) + R"(
    host.program @model attributes {
        inputs = [#host.port<"a", )" +
                  kAddVector + R"(>], outputs = [#host.port<"sum", )" + kAddVector + R"(>],
        weights = [#host.weight<"pad", tensor<3xi8>, dense<[1, 2, 3]> : tensor<3xi8>>,
                   #host.weight<"w", tensor<1xf32>, dense<2.5> : tensor<1xf32>>],
        symbols = [)" +
                  kAddSymbol + R"(]} {
    ^bb0(%n: i64):
      %a = host.input 0
      %w = host.weight 1
      %out = host.output 0 dims(%n)
      %ops = host.eval <"n{0..1000}*2">(%n)
      host.launch @E_n(%out, %a, %w) sizes(%n) grid(%n) estimates(%ops, %ops) from "['add']"
      host.done
    })");
  CHECK(model.run({{1, 2, 3}}) == std::vector<float>{3.5, 4.5, 5.5});
  CHECK(model.run({{}}) == std::vector<float>{});
  CHECK(model.run({{7}}) == std::vector<float>{9.5});
}

TEST_CASE("a loop of the host program: the trip count is data, memory is carried") {
  TextModel model(std::string(kAddKernel) + R"(
    host.program @model attributes {
        inputs = [#host.port<"a", )" +
                  kAddVector + R"(>, #host.port<"trips", tensor<1xi64>, dense<3> : tensor<1xi64>>],
        outputs = [#host.port<"sum", )" +
                  kAddVector + R"(>],
        weights = [#host.weight<"w", tensor<1xf32>, dense<1.0> : tensor<1xf32>>], symbols = [)" +
                  kAddSymbol + R"(]} {
    ^bb0(%n: i64):
      %a = host.input 0
      %w = host.weight 0
      %out = host.output 0 dims(%n)
      %t = host.input 1
      %trips = host.read %t i64
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %bytes = host.eval <"n{0..1000}*4">(%n)
      %first = host.alloc %bytes
      host.copy %first, %a, %bytes
      %many = arith.cmpi sle, %trips, %bytes : i64
      host.check %many "too many trips"
      %last:2 = scf.while (%i = %zero, %x = %first) : (i64, !host.slice) -> (i64, !host.slice) {
        %more = arith.cmpi slt, %i, %trips : i64
        scf.condition(%more) %i, %x : i64, !host.slice
      } do {
      ^bb0(%i: i64, %x: !host.slice):
        %y = host.alloc %bytes
        host.launch @E_n(%y, %x, %w) sizes(%n) grid(%n) estimates(%zero, %zero) from "['step']"
        host.free %x
        %next = arith.addi %i, %one : i64
        scf.yield %next, %y : i64, !host.slice
      }
      %odd = arith.remsi %last#0, %bytes : i64
      %some = arith.cmpi ne, %odd, %zero : i64
      %from = scf.if %some -> (!host.slice) {
        scf.yield %last#1 : !host.slice
      } else {
        scf.yield %a : !host.slice
      }
      host.copy %out, %from, %bytes
      host.done
    })");
  CHECK(model.run({{1, 2, 3}}) == std::vector<float>{4, 5, 6});
  CHECK(model.run({{10, 20}}) == std::vector<float>{13, 23});
}

TEST_CASE("the tables of a model read through the runtime's header") {
  TextModel text(std::string(kAddKernel) + R"(
    host.program @model attributes {
        inputs = [#host.port<"x", tensor<2x3xf16>>, #host.port<"y", tensor<2xi8>, dense<[5, 6]> : tensor<2xi8>>],
        outputs = [#host.port<"z", tensor<?x4xi1, #kiln.dims<["n{0..1000}", 4]>>>],
        weights = [#host.weight<"a", tensor<3xi8>, dense<[1, 2, 3]> : tensor<3xi8>>,
                   #host.weight<"b", tensor<2x1xf32>, dense<[[2.5], [3.5]]> : tensor<2x1xf32>>],
        symbols = [)" +
                 kAddSymbol + R"(]} {
    ^bb0(%n: i64):
      host.done
    })");
  const kiln_model &model = text.model();
  CHECK(model.abi == KILN_ABI_VERSION);
  CHECK(std::string(model.name) == "text");
  REQUIRE(model.device_count == 1);
  CHECK(model.devices[0].device == &kiln_device_cpu);
  REQUIRE(model.input_count == 2);
  CHECK(std::string(model.inputs[0].name) == "x");
  CHECK(model.inputs[0].dtype == KILN_FLOAT16);
  CHECK(model.inputs[0].rank == 2);
  CHECK(model.inputs[0].dims[1].size == 3);
  CHECK(model.inputs[0].dims[1].symbol == -1);
  CHECK(model.inputs[0].value == nullptr);
  CHECK(static_cast<const int8_t *>(model.inputs[1].value)[1] == 6);
  REQUIRE(model.output_count == 1);
  CHECK(model.outputs[0].dtype == KILN_BOOL);
  CHECK(std::string(model.outputs[0].dims[0].text) == "n");
  CHECK(model.outputs[0].dims[0].size == -1);
  CHECK(model.outputs[0].dims[0].symbol == 0);
  REQUIRE(model.symbol_count == 1);
  CHECK(std::string(model.symbols[0].name) == "n");
  CHECK(model.symbols[0].max == 1000);
  CHECK(model.symbols[0].value == 4);
  REQUIRE(model.weight_count == 2);
  const kiln_weight &weight = model.weights[1];
  CHECK(std::string(weight.name) == "b");
  CHECK(weight.dtype == KILN_FLOAT32);
  CHECK(weight.dims[0] == 2);
  CHECK(weight.offset == KILN_ALIGNMENT);
  CHECK(weight.bytes == 8);
  CHECK(model.weight_bytes == weight.offset + 8);
  const char *data = static_cast<const char *>(model.weight_data);
  CHECK(reinterpret_cast<uintptr_t>(data) % KILN_ALIGNMENT == 0);
  CHECK(reinterpret_cast<const float *>(data + weight.offset)[1] == 3.5f);
  REQUIRE(model.kernel_count == 1);
  CHECK(std::string(model.kernels[0].name) == "E_n");
  CHECK(model.kernels[0].buffers == 3);
  CHECK(model.kernels[0].sizes == 1);
  CHECK(model.kernels[0].local[2] == 1);
  float a[] = {1, 2}, b = 5, out[] = {0, 0};
  void *buffers[] = {out, a, &b};
  int64_t sizes[] = {2};
  model.kernels[0].entry(buffers, sizes, 1);
  CHECK(out[1] == 7);
}

TEST_CASE("two models are loaded at once") {
  auto text = [](const char *value) {
    return std::string(kAddKernel) + R"(
    host.program @model attributes {inputs = [#host.port<"a", )" +
           kAddVector + R"(>], outputs = [#host.port<"s", )" + kAddVector +
           R"(>], weights = [#host.weight<"w", tensor<1xf32>, dense<)" + value + R"(> : tensor<1xf32>>],
        symbols = [)" +
           kAddSymbol + R"(]} {
    ^bb0(%n: i64):
      %a = host.input 0
      %w = host.weight 0
      %out = host.output 0 dims(%n)
      host.launch @E_n(%out, %a, %w) sizes(%n) grid(%n) estimates(%n, %n) from "['add']"
      host.done
    })";
  };
  TextModel one(text("1.0")), two(text("2.0"));
  CHECK(one.run({{1}}) == std::vector<float>{2});
  CHECK(two.run({{1}}) == std::vector<float>{3});
  CHECK(one.run({{2}}) == std::vector<float>{3});
}
