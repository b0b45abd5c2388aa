// What a kernel can be made of, run on every device that takes source. The kernels are uops in text, each made into a
// model of one launch, so that one text goes through each renderer, its compiler and the runtime. They have the shapes
// that are easily rendered wrong: values that change places, lanes of one vector exchanged, narrow integers that C
// would widen, expressions deeper than a compiler reads.
#include "RunModel.h"

#include "llvm/ADT/StringExtras.h"

#include <catch2/catch.hpp>

using namespace kiln;

namespace {

/// A model of one kernel whose first pointer is the output: every port a vector of `elements` of `type`.
std::string modelOf(llvm::StringRef kernel, llvm::StringRef name, llvm::ArrayRef<std::pair<int, llvm::StringRef>> ports,
                    llvm::StringRef grid = "") {
  auto port = [](std::pair<int, llvm::StringRef> port) {
    return ("#host.port<\"p\", tensor<" + llvm::Twine(port.first) + "x" + port.second + ">>").str();
  };
  std::string text = kernel.str() + "\nhost.program @model attributes {inputs = [" +
                     llvm::join(llvm::map_range(ports.drop_front(), port), ", ") + "], outputs = [" +
                     port(ports.front()) + "], weights = [], symbols = []} {\n";
  text += "%zero = arith.constant 0 : i64\n%two = arith.constant 2 : i64\n%n = arith.constant " +
          std::to_string(ports.front().first) + " : i64\n%y = host.output 0 dims(%n)\n";
  std::string buffers = "%y";
  for (size_t i = 0; i + 1 < ports.size(); ++i) {
    text += "%x" + std::to_string(i) + " = host.input " + std::to_string(i) + "\n";
    buffers += ", %x" + std::to_string(i);
  }
  return text + "host.launch @" + name.str() + "(" + buffers + ") sizes() grid(" + grid.str() +
         ") estimates(%zero, %zero) from \"\"\nhost.done\n}\n";
}

/// Runs on every device; a test that checks nothing where there is none is reported as skipped.
template <class T> void expect(const std::string &text, std::vector<test::Tensor> inputs, const std::vector<T> &want) {
  for (const test::Setup &setup : test::setups()) {
    test::RunModel model(setup, text);
    kiln_status status = model.run(inputs);
    INFO(setup.device.name << " by " << setup.compiler.str() << ": " << model.error() << "\n" << model.source());
    REQUIRE(status == KILN_OK);
    CHECK(model.output<T>(0) == want);
  }
}

std::string floats(std::initializer_list<int> numbers) {
  std::string text;
  for (int number : numbers)
    text += (text.empty() ? "%" : ", %") + std::to_string(number) + ": !uop.ptr<f32, global>";
  return text;
}

} // namespace

TEST_CASE("the shared kernels compute what they say") {
  expect<float>(modelOf(test::kSumOfMatrix, "r_2_3", {{1, "f32"}, {6, "f32"}}),
                {test::tensor<float>(KILN_FLOAT32, {1, 2, 3, 4, 5, 6})}, {21});
  expect<float>(modelOf(test::kVariance, "r_4", {{1, "f32"}, {4, "f32"}}),
                {test::tensor<float>(KILN_FLOAT32, {1, 2, 3, 4})}, {1.6666668f});
  expect<float>(modelOf(test::kPad, "E_5", {{5, "f32"}, {3, "f32"}}), {test::tensor<float>(KILN_FLOAT32, {1, 2, 3})},
                {0, 1, 2, 3, 0});
}

TEST_CASE("vectors: loads, gates, lanes, conversions and accumulators") {
  std::string kernel =
      test::kernelText("v", "%0: !uop.ptr<f32, global>, %1: !uop.ptr<f32, global>, %2: !uop.ptr<i32, global>",
                       R"(
    %zero = uop.const 0 : i32
    %two = uop.const 2 : i32
    %four = uop.const 4 : i32
    %one = uop.const 1.0 : f32
    %ones = uop.vectorize %one : f32 -> vector<4xf32>
    %half = uop.const 0.5 : f32
    %sum = uop.range %i = %zero to %two : i32 init(%acc = %ones) : vector<4xf32> attributes {axis = 0 : i64, reduce} {
      %at = uop.alu mul %i, %four : (i32, i32) -> i32
      %x = uop.load %1[%at : i32] : !uop.ptr<f32, global> -> vector<4xf32>
      %n = uop.load %2[%at : i32] : !uop.ptr<i32, global> -> vector<4xi32>
      %nf = uop.alu cast %n : (vector<4xi32>) -> vector<4xf32>
      %next = uop.fma %x, %nf, %acc : vector<4xf32>
      uop.yield %next : vector<4xf32>
    }
    %a = uop.gep %sum[0] : vector<4xf32> -> f32
    %d = uop.gep %sum[3] : vector<4xf32> -> f32
    %pair = uop.vectorize %d, %a : f32, f32 -> vector<2xf32>
    %less = uop.alu cmplt %pair, %pair2 : (vector<2xf32>, vector<2xf32>) -> vector<2xi1>
    %halves = uop.vectorize %half : f32 -> vector<2xf32>
    %gated = uop.load %1[%zero : i32] gate %less : vector<2xi1> else %halves : vector<2xf32> : !uop.ptr<f32, global> -> vector<2xf32>
    %chosen = uop.alu where %less, %gated, %pair : (vector<2xi1>, vector<2xf32>, vector<2xf32>) -> vector<2xf32>
    uop.store %sum, %0[%zero : i32] : vector<4xf32>, !uop.ptr<f32, global>
    uop.store %chosen, %0[%four : i32] : vector<2xf32>, !uop.ptr<f32, global>
    %six = uop.const 6 : i32
    uop.store %pair, %0[%six : i32] gate %less : vector<2xi1> : vector<2xf32>, !uop.ptr<f32, global>)");
  // The bound of the comparison stands before its use.
  size_t use = kernel.find("    %less");
  kernel.insert(use, "    %limit = uop.const 12.0 : f32\n    %pair2 = uop.vectorize %limit : f32 -> vector<2xf32>\n");
  // sums: 1+1*1+5*5, 1+2*2+6*6, 1+3*3+7*7, 1+4*0+8*1
  expect<float>(modelOf(kernel, "v", {{7, "f32"}, {8, "f32"}, {8, "i32"}}),
                {test::tensor<float>(KILN_FLOAT32, {1, 2, 3, 4, 5, 6, 7, 8}),
                 test::tensor<int32_t>(KILN_INT32, {1, 2, 3, 0, 5, 6, 7, 1})},
                {27, 41, 59, 9, 1, 27, 9});
}

TEST_CASE("values carried by a range are assigned side by side") {
  // Fibonacci: (a, b) becomes (b, a+b); then both through a swap.
  std::string kernel = test::kernelText("fib", "%0: !uop.ptr<i32, global>", R"(
    %zero = uop.const 0 : i32
    %one = uop.const 1 : i32
    %n = uop.const 7 : i32
    %f:2 = uop.range %i = %zero to %n : i32 init(%a = %zero, %b = %one) : i32, i32 attributes {axis = 0 : i64} {
      %c = uop.alu add %a, %b : (i32, i32) -> i32
      uop.yield %b, %c : i32, i32
    }
    %s:2 = uop.range %i = %zero to %one : i32 init(%a = %f#0, %b = %f#1) : i32, i32 attributes {axis = 1 : i64} {
      uop.yield %b, %a : i32, i32
    }
    uop.store %s#0, %0[%zero : i32] : i32, !uop.ptr<i32, global>
    uop.store %s#1, %0[%one : i32] : i32, !uop.ptr<i32, global>)");
  expect<int32_t>(modelOf(kernel, "fib", {{2, "i32"}}), {}, {21, 13});
}

TEST_CASE("lanes that a vector accumulator exchanges with itself") {
  std::string kernel = test::kernelText("turn", floats({0, 1}), R"(
    %zero = uop.const 0 : i32
    %three = uop.const 3 : i32
    %x = uop.load %1[%zero : i32] : !uop.ptr<f32, global> -> vector<2xf32>
    %y = uop.range %i = %zero to %three : i32 init(%a = %x) : vector<2xf32> attributes {axis = 0 : i64} {
      %l = uop.gep %a[0] : vector<2xf32> -> f32
      %r = uop.gep %a[1] : vector<2xf32> -> f32
      %next = uop.vectorize %r, %l : f32, f32 -> vector<2xf32>
      uop.yield %next : vector<2xf32>
    }
    uop.store %y, %0[%zero : i32] : vector<2xf32>, !uop.ptr<f32, global>)");
  expect<float>(modelOf(kernel, "turn", {{2, "f32"}, {2, "f32"}}), {test::tensor<float>(KILN_FLOAT32, {1, 2})}, {2, 1});
}

TEST_CASE("an accumulator that an inner range starts from but does not continue") {
  // sum over i of (sum over j<i+1 of 1, started from the running sum, doubled)
  std::string kernel = test::kernelText("s", "%0: !uop.ptr<i32, global>", R"(
    %zero = uop.const 0 : i32
    %one = uop.const 1 : i32
    %three = uop.const 3 : i32
    %sum = uop.range %i = %zero to %three : i32 init(%a = %zero) : i32 attributes {axis = 0 : i64, reduce} {
      %to = uop.alu add %i, %one : (i32, i32) -> i32
      %inner = uop.range %j = %zero to %to : i32 init(%b = %a) : i32 attributes {axis = 1 : i64, reduce} {
        %n = uop.alu add %b, %one : (i32, i32) -> i32
        uop.yield %n : i32
      }
      %both = uop.alu add %inner, %a : (i32, i32) -> i32
      uop.yield %both : i32
    }
    uop.store %sum, %0[%zero : i32] : i32, !uop.ptr<i32, global>)");
  expect<int32_t>(modelOf(kernel, "s", {{1, "i32"}}), {}, {11}); // 1, then 1+2+1, then 4+3+4
}

TEST_CASE("lanes that nothing reads leave no variables that compilers warn of") {
  std::string kernel = test::kernelText("l", floats({0, 1}), R"(
    %zero = uop.const 0 : i32
    %one = uop.const 1 : i32
    %x = uop.load %1[%zero : i32] : !uop.ptr<f32, global> -> vector<4xf32>
    %s = uop.load %1[%one : i32] : !uop.ptr<f32, global> -> f32
    %t = uop.load %1[%zero : i32] : !uop.ptr<f32, global> -> f32
    %pair = uop.vectorize %s, %t : f32, f32 -> vector<2xf32>
    %sum = uop.alu add %pair, %pair : (vector<2xf32>, vector<2xf32>) -> vector<2xf32>
    %a = uop.gep %x[3] : vector<4xf32> -> f32
    %b = uop.gep %sum[0] : vector<2xf32> -> f32
    %c = uop.alu mul %a, %b : (f32, f32) -> f32
    uop.store %c, %0[%zero : i32] : f32, !uop.ptr<f32, global>)");
  expect<float>(modelOf(kernel, "l", {{1, "f32"}, {4, "f32"}}), {test::tensor<float>(KILN_FLOAT32, {1, 2, 3, 4})},
                {16});
}

TEST_CASE("branches, gated stores and memory of the item") {
  std::string kernel = test::kernelText("b", "%0: !uop.ptr<i32, global>", R"(
    %zero = uop.const 0 : i32
    %two = uop.const 2 : i32
    %four = uop.const 4 : i32
    %r = uop.define "r" 4 : !uop.ptr<i32, register>
    uop.range %i = %zero to %four : i32 attributes {axis = 0 : i64} {
      %square = uop.alu mul %i, %i : (i32, i32) -> i32
      uop.store %square, %r[%i : i32] : i32, !uop.ptr<i32, register>
      uop.yield
    }
    uop.range %i = %zero to %four : i32 attributes {axis = 1 : i64} {
      %small = uop.alu cmplt %i, %two : (i32, i32) -> i1
      %x = uop.load %r[%i : i32] : !uop.ptr<i32, register> -> i32
      uop.if %small {
        uop.store %x, %0[%i : i32] : i32, !uop.ptr<i32, global>
        uop.yield
      } else {
        %minus = uop.alu neg %x : (i32) -> i32
        uop.store %minus, %0[%i : i32] : i32, !uop.ptr<i32, global>
        uop.yield
      }
      %first = uop.alu cmpeq %i, %zero : (i32, i32) -> i1
      uop.store %four, %0[%i : i32] gate %first : i1 : i32, !uop.ptr<i32, global>
      uop.yield
    })");
  expect<int32_t>(modelOf(kernel, "b", {{4, "i32"}}), {}, {4, 1, -4, -9});
}

TEST_CASE("narrow integers wrap before they are compared or widened") {
  std::string kernel = test::kernelText("w", "%0: !uop.ptr<i32, global>, %1: !uop.ptr<i8, global>", R"(
    %zero = uop.const 0 : i32
    %one = uop.const 1 : i32
    %least = uop.const 0 : i8
    %x = uop.load %1[%zero : i32] : !uop.ptr<i8, global> -> i8
    %double = uop.alu add %x, %x : (i8, i8) -> i8
    %wide = uop.alu cast %double : (i8) -> i32
    uop.store %wide, %0[%zero : i32] : i32, !uop.ptr<i32, global>
    %again = uop.alu add %x, %x : (i8, i8) -> i8
    %negative = uop.alu cmplt %again, %least : (i8, i8) -> i1
    %flag = uop.alu cast %negative : (i1) -> i32
    uop.store %flag, %0[%one : i32] : i32, !uop.ptr<i32, global>)");
  expect<int32_t>(modelOf(kernel, "w", {{2, "i32"}, {1, "i8"}}), {test::tensor<int8_t>(KILN_INT8, {100})}, {-56, 1});
}

TEST_CASE("comparisons that a dtype's range decides please compilers too") {
  std::string kernel = test::kernelText("c", "%0: !uop.ptr<i32, global>, %1: !uop.ptr<ui8, global>", R"(
    %zero = uop.const 0 : i32
    %none = uop.const 0 : ui8
    %most = uop.const 255 : ui8
    %x = uop.load %1[%zero : i32] : !uop.ptr<ui8, global> -> ui8
    %below = uop.alu cmplt %x, %none : (ui8, ui8) -> i1
    %above = uop.alu cmplt %most, %x : (ui8, ui8) -> i1
    %either = uop.alu or %below, %above : (i1, i1) -> i1
    %flag = uop.alu cast %either : (i1) -> i32
    uop.store %flag, %0[%zero : i32] : i32, !uop.ptr<i32, global>)");
  expect<int32_t>(modelOf(kernel, "c", {{1, "i32"}, {1, "ui8"}}), {test::tensor<uint8_t>(KILN_UINT8, {7})}, {0});
}

TEST_CASE("expressions deeper than compilers read are cut") {
  std::string body = "%zero = uop.const 0 : i32\n%x0 = uop.load %1[%zero : i32] : !uop.ptr<i32, global> -> i32\n"
                     "%three = uop.const 3 : i32\n%one = uop.const 1 : i32\n";
  for (int i = 0; i < 1000; ++i)
    body += "%x" + std::to_string(i + 1) + " = uop.alu " + (i % 2 ? "xor" : "add") + " %" + (i % 2 ? "one" : "three") +
            ", %x" + std::to_string(i) + " : (i32, i32) -> i32\n";
  body += "uop.store %x1000, %0[%zero : i32] : i32, !uop.ptr<i32, global>";
  int32_t want = 5;
  for (int i = 0; i < 1000; ++i)
    want = i % 2 ? want ^ 1 : want + 3;
  expect<int32_t>(modelOf(test::kernelText("deep", "%0: !uop.ptr<i32, global>, %1: !uop.ptr<i32, global>", body),
                          "deep", {{1, "i32"}, {1, "i32"}}),
                  {test::tensor<int32_t>(KILN_INT32, {5})}, {want});
}

TEST_CASE("constants at the ends of their dtypes, infinities and NaN") {
  std::string kernel = test::kernelText("k", "%0: !uop.ptr<i64, global>, %1: !uop.ptr<f32, global>", R"(
    %zero = uop.const 0 : i64
    %one = uop.const 1 : i64
    %two = uop.const 2 : i64
    %three = uop.const 3 : i64
    %least = uop.const -9223372036854775808 : i64
    %least32 = uop.const -2147483648 : i32
    %big = uop.const 5000000000 : i64
    uop.store %least, %0[%zero : i64] : i64, !uop.ptr<i64, global>
    %wide = uop.alu cast %least32 : (i32) -> i64
    uop.store %wide, %0[%one : i64] : i64, !uop.ptr<i64, global>
    uop.store %big, %0[%two : i64] : i64, !uop.ptr<i64, global>
    %x = uop.load %1[%zero : i64] : !uop.ptr<f32, global> -> f32
    %inf = uop.const 0xFF800000 : f32
    %nan = uop.const 0x7FC00000 : f32
    %less = uop.alu cmplt %inf, %x : (f32, f32) -> i1
    %odd = uop.alu cmpne %x, %nan : (f32, f32) -> i1
    %both = uop.alu and %less, %odd : (i1, i1) -> i1
    %flag = uop.alu cast %both : (i1) -> i64
    uop.store %flag, %0[%three : i64] : i64, !uop.ptr<i64, global>)");
  expect<int64_t>(modelOf(kernel, "k", {{4, "i64"}, {1, "f32"}}), {test::tensor<float>(KILN_FLOAT32, {1})},
                  {INT64_MIN, INT32_MIN, 5000000000, 1});
}
