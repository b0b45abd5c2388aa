// Models as C: compiled by gcc and clang with every warning an error, and run by the real runtime. The C of one model
// is compared as a whole, so that a change of what people read is noticed. The others are mostly judged by what they
// compute, among it what C means otherwise than the host program does: division of negative numbers, for example.
#include "AddKernel.h"
#include "RunModel.h"

#include "render/c/CHost.h"

#include <catch2/catch.hpp>

using namespace kiln;

namespace {

std::string addModel(llvm::StringRef attributes, llvm::StringRef body) {
  return (test::kAddKernel + "\nhost.program @model attributes {" + attributes + ", symbols = [" + test::kAddSymbol +
          "]} {\n^bb0(%n: i64):\n" + body + "\nhost.done\n}\n")
      .str();
}

/// Runs and gives the first output.
std::vector<float> runFloats(test::RunModel &model, const std::vector<std::vector<float>> &inputs) {
  std::vector<test::Tensor> given;
  given.reserve(inputs.size());
  for (const std::vector<float> &input : inputs)
    given.push_back(test::tensor(KILN_FLOAT32, input));
  kiln_status status = model.run(given);
  INFO(model.error());
  REQUIRE(status == KILN_OK);
  return model.output<float>(0);
}

std::string sourceOf(const std::string &text, render::CHostOptions options) {
  test::Module module(text);
  options.name = "model";
  return llvm::cantFail(render::renderCHost(render::modelTables(*module), options));
}

} // namespace

TEST_CASE("the dot product as a whole C file") {
  std::string text = (test::kDot + R"(
host.program @model attributes {
    inputs = [#host.port<"a", tensor<2xi32>, dense<[1, 2]> : tensor<2xi32>>,
              #host.port<"b", tensor<2xi32>, dense<[3, 4]> : tensor<2xi32>>],
    outputs = [#host.port<"dot", tensor<i32>>], weights = [], symbols = []} {
  %a = host.input 0
  %b = host.input 1
  %out = host.output 0
  %four = arith.constant 4 : i64
  %bytes = arith.constant 20 : i64
  host.launch @r_2(%out, %a, %b) sizes() grid() estimates(%four, %bytes) from "['dot']"
  host.done
})")
                         .str();
  for (const test::Setup &setup : test::setups()) {
    test::RunModel model(setup, text);
    CHECK(llvm::StringRef(model.source()).contains(R"(
static void r_2(int* restrict data0, const int* restrict data1, const int* restrict data2);
void r_2(int* restrict data0, const int* restrict data1, const int* restrict data2) {
  int acc0 = 0;
)"));
    REQUIRE(model.run({}) == KILN_OK);
    CHECK(model.output<int32_t>(0) == std::vector<int32_t>{11});
    REQUIRE(model.run({test::tensor<int32_t>(KILN_INT32, {5, 6}), test::tensor<int32_t>(KILN_INT32, {7, 8})}) ==
            KILN_OK);
    CHECK(model.output<int32_t>(0) == std::vector<int32_t>{83});
  }
}

TEST_CASE("a size that comes with the inputs, and a weight") {
  std::string text = addModel((llvm::Twine("inputs = [#host.port<\"a\", ") + test::kAddVector +
                               ">], outputs = [#host.port<\"sum\", " + test::kAddVector + R"(>],
    weights = [#host.weight<"pad", tensor<3xi8>, dense<[1, 2, 3]> : tensor<3xi8>>,
               #host.weight<"w", tensor<1xf32>, dense<2.5> : tensor<1xf32>>])")
                                  .str(),
                              R"(
  %a = host.input 0
  %w = host.weight 1
  %out = host.output 0 dims(%n)
  %ops = host.eval <"n{0..1000}*2">(%n)
  host.launch @E_n(%out, %a, %w) sizes(%n) grid(%n) estimates(%ops, %ops) from "['add']")");
  for (const test::Setup &setup : test::setups()) {
    test::RunModel model(setup, text);
    CHECK(runFloats(model, {{1, 2, 3}}) == std::vector<float>{3.5, 4.5, 5.5});
    CHECK(runFloats(model, {{}}).empty());
    CHECK(runFloats(model, {{7}}) == std::vector<float>{9.5});
    CHECK(std::string(model.model().symbols[0].name) == "n");
    CHECK(model.model().weights[1].offset == KILN_ALIGNMENT);
  }
}

TEST_CASE("a loop whose trip count is data, a branch, a check that can fail") {
  std::string text = addModel((llvm::Twine("inputs = [#host.port<\"a\", ") + test::kAddVector + R"(>,
              #host.port<"trips", tensor<1xf32>, dense<3.0> : tensor<1xf32>>],
    outputs = [#host.port<"sum", )" +
                               test::kAddVector +
                               R"(>],
    weights = [#host.weight<"w", tensor<1xf32>, dense<1.0> : tensor<1xf32>>])")
                                  .str(),
                              R"(
  %a = host.input 0
  %w = host.weight 0
  %out = host.output 0 dims(%n)
  %t = host.input 1
  %trips = host.read %t f32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ten = arith.constant 10 : i64
  %bytes = host.eval <"n{0..1000}*4">(%n)
  %few = arith.cmpi sle, %trips, %ten : i64
  host.check %few "%d are more than ten \"trips\"" sizes(%trips)
  %first = host.alloc %bytes
  host.copy %first, %a, %bytes
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
  %parity = host.eval <"n{0..1000}%2">(%last#0)
  %odd = arith.cmpi ne, %parity, %zero : i64
  %from = scf.if %odd -> (!host.slice) {
    scf.yield %last#1 : !host.slice
  } else {
    scf.yield %a : !host.slice
  }
  host.copy %out, %from, %bytes)");
  for (const test::Setup &setup : test::setups()) {
    test::RunModel model(setup, text);
    CHECK(runFloats(model, {{1, 2, 3}}) == std::vector<float>{4, 5, 6});
    CHECK(runFloats(model, {{1, 2, 3}, {2}}) == std::vector<float>{1, 2, 3});
    CHECK(model.run({test::tensor<float>(KILN_FLOAT32, {1}), test::tensor<float>(KILN_FLOAT32, {11})}) ==
          KILN_INDEX_ERROR);
    CHECK(llvm::StringRef(model.error()).contains("more than ten \"trips\""));
  }
}

TEST_CASE("sizes divide as Python does, negative ones too") {
  std::string text = addModel(R"(inputs = [#host.port<"a", tensor<1xi64>>],
    outputs = [#host.port<"b", tensor<4xi64>>], weights = [])",
                              R"--(
  %a = host.input 0
  %x = host.read %a i64
  %four = arith.constant 4 : i64
  %out = host.output 0 dims(%four)
  %eight = arith.constant 8 : i64
  %div = host.eval <"x{-100..100}//4">(%x)
  %mod = host.eval <"x{-100..100}%4">(%x)
  %max = host.eval <"max(x{-100..100},n{0..1000})">(%n, %x)
  %c = arith.remsi %x, %eight : i64
  host.write %out i64 %div
  %out1 = host.offset %out, %eight
  host.write %out1 i64 %mod
  %out2 = host.offset %out1, %eight
  host.write %out2 i64 %max
  %out3 = host.offset %out2, %eight
  host.write %out3 i64 %c)--");
  for (const test::Setup &setup : test::setups()) {
    test::RunModel model(setup, text);
    REQUIRE(model.run({test::tensor<int64_t>(KILN_INT64, {-7})}) == KILN_OK);
    CHECK(model.output<int64_t>(0) == std::vector<int64_t>{-2, 1, 4, -7});
  }
}

TEST_CASE("large weights are not literals") {
  std::string weight = R"(inputs = [], outputs = [],
    weights = [#host.weight<"w", tensor<2000xf32>, dense<1.0> : tensor<2000xf32>>])";
  render::CHostOptions options;
  std::string source = sourceOf(addModel(weight, ""), options);
  CHECK(llvm::StringRef(source).contains("extern const unsigned char kiln_the_weights[];"));
  CHECK(llvm::StringRef(source).contains(".weight_data = kiln_the_weights,"));
  options.weightsInFile = true;
  CHECK(llvm::StringRef(sourceOf(addModel(weight, ""), options)).contains(".weight_data = NULL,"));
}

extern "C" const kiln_device kiln_device_other = {};

TEST_CASE("a device that loads source gets it as it is") {
  render::CHostOptions options;
  std::string code = "line \"one\"\nline two ?"
                     "?/\n\\";
  options.places = {{"other", code, 60, 10, {{{1 << 20, 250}, {1 << 25, 100}}}}};
  std::string source = sourceOf(addModel("inputs = [], outputs = [], weights = []", ""), options);
  for (llvm::StringRef compiler : test::kCompilers) {
    test::CompiledC compiled(compiler, source, {std::string("-I") + KILN_RUNTIME_INCLUDE});
    auto &model = *static_cast<const kiln_model *>(compiled.address("kiln_the_model"));
    REQUIRE(model.device_count == 1);
    const kiln_place &place = model.devices[0];
    CHECK(std::string(static_cast<const char *>(place.code), place.code_bytes) == code);
    CHECK(model.kernels[0].entry == nullptr);
    CHECK(place.device == &kiln_device_other);
    CHECK(place.bytes_per_ns == 10);
    CHECK(place.caches[1].bytes == 1 << 25);
    CHECK(place.caches[1].bytes_per_ns == 100);
  }
}
