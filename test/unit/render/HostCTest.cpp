// Models as C: compiled by gcc and clang with every warning an error, and run by the real runtime.
#include "CompiledC.h"
#include "Kernels.h"

#include "render/HostC.h"

#include "kiln/program.h"

#include <catch2/catch.hpp>

using namespace kiln;

static std::string sourceOf(const std::string &text, render::HostCOptions options = {}) {
  test::Module module(text);
  options.name = "model";
  return llvm::cantFail(render::renderHostC(render::modelTables(*module), options));
}

namespace {

class Model {
public:
  Model(llvm::StringRef compiler, llvm::StringRef source)
      : compiled_(compiler, source, {std::string("-I") + KILN_RUNTIME_INCLUDE}),
        model_(*static_cast<const kiln_model *>(compiled_.address("kiln_the_model"))) {
    char error[256] = "";
    kiln_options options = {};
    options.threads = 1;
    kiln_status status = kiln_context_create(&model_, &options, &context_, error, sizeof error);
    INFO(error);
    REQUIRE(status == KILN_OK);
  }
  ~Model() { kiln_context_destroy(context_); }

  const kiln_model &operator*() const { return model_; }

  /// Runs with one-dimensional inputs, those not given by their defaults; gives the first output.
  template <class T> std::vector<T> run(std::vector<std::vector<T>> inputs, kiln_dtype dtype) {
    std::vector<kiln_tensor> given(model_.input_count), made(model_.output_count);
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs[i].reserve(1); // an empty tensor is given too
      given[i] = {inputs[i].data(), dtype, 1, {int64_t(inputs[i].size())}};
    }
    status_ = kiln_run(context_, given.data(), made.data());
    if (status_ != KILN_OK)
      return {};
    const T *data = static_cast<const T *>(made[0].data);
    return {data, data + (made[0].rank ? made[0].dims[0] : 1)};
  }
  kiln_status status() const { return status_; }
  std::string error() const { return kiln_context_error(context_); }

private:
  test::CompiledC compiled_;
  const kiln_model &model_;
  kiln_context *context_ = nullptr;
  kiln_status status_ = KILN_OK;
};

// Adds b[0] to every a, a chunk an element.
constexpr llvm::StringLiteral kAdd = R"(
uop.func @E_n(%out: !uop.ptr<f32, global>, %a: !uop.ptr<f32, global>, %b: !uop.ptr<f32, global>, %n: i32)
    attributes {sizes = #kiln.dims<["n{0..1000}"]>, grid = #kiln.dims<["n{0..1000}"]>, local = array<i64: 1>,
                operations = #kiln.expr<"n{0..1000}">, bytes = #kiln.expr<0>} {
  %i = uop.special chunk 0 <"n{0..1000}"> : i32
  %zero = uop.const 0 : i32
  %x = uop.load %a[%i : i32] : !uop.ptr<f32, global> -> f32
  %y = uop.load %b[%zero : i32] : !uop.ptr<f32, global> -> f32
  %z = uop.alu add %x, %y : (f32, f32) -> f32
  uop.store %z, %out[%i : i32] : f32, !uop.ptr<f32, global>
  uop.yield
})";
constexpr llvm::StringLiteral kVector = R"(tensor<?xf32, #kiln.dims<["n{0..1000}"]>>)";
constexpr llvm::StringLiteral kSymbol = R"(#kiln.symbol<"n", 0 to 1000, default 4>)";

std::string addModel(llvm::StringRef attributes, llvm::StringRef body) {
  return (kAdd + "\nhost.program @model attributes {" + attributes + ", symbols = [" + kSymbol +
          "]} {\n^bb0(%n: i64):\n" + body + "\nhost.done\n}\n")
      .str();
}

} // namespace

TEST_CASE("the dot product as a whole C file") {
  std::string source = sourceOf((test::kDot + R"(
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
                                    .str());
  CHECK(llvm::StringRef(source).contains(R"(
static void r_2(int* restrict data0, const int* restrict data1, const int* restrict data2);
void r_2(int* restrict data0, const int* restrict data1, const int* restrict data2) {
  int acc0 = 0;
)"));
  for (llvm::StringRef compiler : test::kCompilers) {
    Model model(compiler, source);
    CHECK(model.run<int32_t>({}, KILN_INT32) == std::vector<int32_t>{11});
    CHECK(model.run<int32_t>({{5, 6}, {7, 8}}, KILN_INT32) == std::vector<int32_t>{83});
  }
}

TEST_CASE("a size that comes with the inputs, and a weight") {
  std::string source = sourceOf(
      addModel(("inputs = [#host.port<\"a\", " + kVector + ">], outputs = [#host.port<\"sum\", " + kVector + R"(>],
    weights = [#host.weight<"pad", tensor<3xi8>, dense<[1, 2, 3]> : tensor<3xi8>>,
               #host.weight<"w", tensor<1xf32>, dense<2.5> : tensor<1xf32>>])")
                   .str(),
               R"(
  %a = host.input 0
  %w = host.weight 1
  %out = host.output 0 dims(%n)
  %ops = host.eval <"n{0..1000}*2">(%n)
  host.launch @E_n(%out, %a, %w) sizes(%n) grid(%n) estimates(%ops, %ops) from "['add']")"));
  for (llvm::StringRef compiler : test::kCompilers) {
    Model model(compiler, source);
    CHECK(model.run<float>({{1, 2, 3}}, KILN_FLOAT32) == std::vector<float>{3.5, 4.5, 5.5});
    CHECK(model.run<float>({{}}, KILN_FLOAT32).empty());
    CHECK(model.run<float>({{7}}, KILN_FLOAT32) == std::vector<float>{9.5});
    CHECK(std::string((*model).symbols[0].name) == "n");
    CHECK((*model).weights[1].offset == KILN_ALIGNMENT);
  }
}

TEST_CASE("a loop whose trip count is data, a branch, a check that can fail") {
  std::string source = sourceOf(addModel(("inputs = [#host.port<\"a\", " + kVector + R"(>,
              #host.port<"trips", tensor<1xf32>, dense<3.0> : tensor<1xf32>>],
    outputs = [#host.port<"sum", )" + kVector +
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
  host.check %few "more than ten \"trips\""
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
  host.copy %out, %from, %bytes)"));
  for (llvm::StringRef compiler : test::kCompilers) {
    Model model(compiler, source);
    CHECK(model.run<float>({{1, 2, 3}}, KILN_FLOAT32) == std::vector<float>{4, 5, 6});
    CHECK(model.run<float>({{1, 2, 3}, {2}}, KILN_FLOAT32) == std::vector<float>{1, 2, 3});
    model.run<float>({{1}, {11}}, KILN_FLOAT32);
    CHECK(model.status() == KILN_INVALID_ARGUMENT);
    CHECK(llvm::StringRef(model.error()).contains("more than ten \"trips\""));
  }
}

TEST_CASE("sizes divide as Python does, negative ones too") {
  std::string source = sourceOf(addModel(R"(inputs = [#host.port<"a", tensor<1xi64>>],
    outputs = [#host.port<"b", tensor<4xi64>>], weights = [])",
                                         R"--(
  %a = host.input 0
  %x = host.read %a i64
  %four = arith.constant 4 : i64
  %out = host.output 0 dims(%four)
  %eight = arith.constant 8 : i64
  %div = host.eval <"x{-100..100}//4">(%x)
  %mod = host.eval <"x{-100..100}%4">(%x)
  %max = host.eval <"max(x{-100..100},y)">(%x, %n)
  %c = arith.remsi %x, %eight : i64
  host.write %out i64 %div
  %out1 = host.offset %out, %eight
  host.write %out1 i64 %mod
  %out2 = host.offset %out1, %eight
  host.write %out2 i64 %max
  %out3 = host.offset %out2, %eight
  host.write %out3 i64 %c)--"));
  for (llvm::StringRef compiler : test::kCompilers) {
    Model model(compiler, source);
    CHECK(model.run<int64_t>({{-7}}, KILN_INT64) == std::vector<int64_t>{-2, 1, 4, -7});
  }
}

TEST_CASE("large weights are no literals") {
  std::string weight = R"(inputs = [], outputs = [],
    weights = [#host.weight<"w", tensor<2000xf32>, dense<1.0> : tensor<2000xf32>>])";
  std::string source = sourceOf(addModel(weight, ""));
  CHECK(llvm::StringRef(source).contains("extern const unsigned char kiln_the_weights[];"));
  CHECK(llvm::StringRef(source).contains(".weight_data = kiln_the_weights,"));
  render::HostCOptions options;
  options.weightsInFile = true;
  CHECK(llvm::StringRef(sourceOf(addModel(weight, ""), options)).contains(".weight_data = NULL,"));
}

TEST_CASE("a device that loads source gets it as it is") {
  render::HostCOptions options;
  options.device = "other";
  options.code = "line \"one\"\nline two ?" "?/\n\\";
  std::string source = sourceOf(addModel("inputs = [], outputs = [], weights = []", ""), options);
  for (llvm::StringRef compiler : test::kCompilers) {
    test::CompiledC compiled(compiler, source, {std::string("-I") + KILN_RUNTIME_INCLUDE});
    auto &model = *static_cast<const kiln_model *>(compiled.address("kiln_the_model"));
    CHECK(std::string(static_cast<const char *>(model.code), model.code_bytes) == options.code);
    CHECK(model.kernels[0].entry == nullptr);
    CHECK(std::string(model.device) == "other");
  }
}
