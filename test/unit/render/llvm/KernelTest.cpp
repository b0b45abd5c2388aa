// Kernels through LLVM, compiled in this process and called. A kernel's results are compared with numbers; things that
// it must not do need arrangements. An access with a false gate must not happen at all, so its pointer is null. And if
// only the text can show it, that index arithmetic became a pointer's or that nothing was contracted, LLVM's text is
// read.
#include "TextKernel.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

using kiln::test::TextKernel;

static bool contains(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

TEST_CASE("a dot product of integers") {
  TextKernel dot("%out: i32, %a: i32, %b: i32", R"(
    %zero = uop.const 0 : i32
    %n = uop.const 2 : i32
    %sum = uop.range %i = %zero to %n : i32 init(%acc = %zero) : i32 attributes {axis = 0, reduce} {
      %x = uop.load %a[%i : i32] : !uop.ptr<i32, global> -> i32
      %y = uop.load %b[%i : i32] : !uop.ptr<i32, global> -> i32
      %xy = uop.alu mul %x, %y : (i32, i32) -> i32
      %next = uop.alu add %acc, %xy : (i32, i32) -> i32
      uop.yield %next : i32
    }
    uop.store %sum, %out[%zero : i32] : i32, !uop.ptr<i32, global>)");
  int32_t out = 0, a[] = {1, 2}, b[] = {3, 4};
  dot.run({&out, a, b});
  CHECK(out == 11);
}

TEST_CASE("a sum in vectors, its lanes added at the end; nothing runs for an empty range") {
  TextKernel sum("%out: f32, %a: f32, %n: size{0..1000}", R"(
    %zero = uop.const 0 : i32
    %four = uop.const 4 : i32
    %f0 = uop.const 0.0 : f32
    %v0 = uop.vectorize %f0 : f32 -> vector<4xf32>
    %sum = uop.range %i = %zero to %n : i32 init(%acc = %v0) : vector<4xf32> attributes {axis = 0, reduce} {
      %at = uop.alu mul %i, %four : (i32, i32) -> i32
      %x = uop.load %a[%at : i32] : !uop.ptr<f32, global> -> vector<4xf32>
      %next = uop.alu add %acc, %x : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
      uop.yield %next : vector<4xf32>
    }
    %s0 = uop.gep %sum[0] : vector<4xf32> -> f32
    %s1 = uop.gep %sum[1] : vector<4xf32> -> f32
    %s2 = uop.gep %sum[2] : vector<4xf32> -> f32
    %s3 = uop.gep %sum[3] : vector<4xf32> -> f32
    %lo = uop.alu add %s0, %s1 : (f32, f32) -> f32
    %hi = uop.alu add %s2, %s3 : (f32, f32) -> f32
    %all = uop.alu add %lo, %hi : (f32, f32) -> f32
    uop.store %all, %out[%zero : i32] : f32, !uop.ptr<f32, global>)");
  float out = -1, a[12];
  std::iota(a, a + 12, 1.0f);
  sum.run({&out, a}, {3});
  CHECK(out == 78);
  sum.run({&out, a}, {0});
  CHECK(out == 0);
}

TEST_CASE("nested ranges carry a value through both; the inner one depends on the outer index") {
  TextKernel triangle("%out: i64, %n: size", R"(
    %zero = uop.const 0 : i32
    %z64 = uop.const 0 : i64
    %sum = uop.range %i = %zero to %n : i32 init(%a = %z64) : i64 attributes {axis = 0, reduce} {
      %row = uop.range %j = %zero to %i : i32 init(%b = %a) : i64 attributes {axis = 1, reduce} {
        %ij = uop.alu mul %i, %j : (i32, i32) -> i32
        %wide = uop.alu cast %ij : (i32) -> i64
        %next = uop.alu add %b, %wide : (i64, i64) -> i64
        uop.yield %next : i64
      }
      uop.yield %row : i64
    }
    uop.store %sum, %out[%zero : i32] : i64, !uop.ptr<i64, global>)");
  int64_t out = 0, want = 0;
  for (int64_t i = 0; i < 50; ++i)
    for (int64_t j = 0; j < i; ++j)
      want += i * j;
  triangle.run({&out}, {50});
  CHECK(out == want);
}

TEST_CASE("carried values may change places") {
  TextKernel fibonacci("%out: i32, %n: size", R"(
    %zero = uop.const 0 : i32
    %one = uop.const 1 : i32
    %r:2 = uop.range %i = %zero to %n : i32 init(%a = %zero, %b = %one) : i32, i32 attributes {axis = 0} {
      %c = uop.alu add %a, %b : (i32, i32) -> i32
      uop.yield %b, %c : i32, i32
    }
    uop.store %r#0, %out[%zero : i32] : i32, !uop.ptr<i32, global>)");
  int32_t out = 0;
  fibonacci.run({&out}, {10});
  CHECK(out == 55);
}

TEST_CASE("a maximum is NaN when an element is") {
  TextKernel maximum("%out: f32, %a: f32, %n: size", R"(
    %zero = uop.const 0 : i32
    %low = uop.const 0xFF800000 : f32
    %max = uop.range %i = %zero to %n : i32 init(%acc = %low) : f32 attributes {axis = 0, reduce} {
      %x = uop.load %a[%i : i32] : !uop.ptr<f32, global> -> f32
      %next = uop.alu max %acc, %x : (f32, f32) -> f32
      uop.yield %next : f32
    }
    uop.store %max, %out[%zero : i32] : f32, !uop.ptr<f32, global>)");
  std::vector<float> a(37, -2.0f);
  a[20] = -1;
  float out = 0;
  maximum.run({&out, a.data()}, {37});
  CHECK(out == -1);
  a[5] = NAN;
  maximum.run({&out, a.data()}, {37});
  CHECK(std::isnan(out));
  maximum.run({&out, a.data()}, {0});
  CHECK(out == -INFINITY);
}

TEST_CASE("a gate of one bool: an element that is not there is not read") {
  TextKernel shift("%out: i32, %a: i32, %n: size", R"(
    %zero = uop.const 0 : i32
    %minus = uop.const -1 : i32
    %pad = uop.const 9 : i32
    uop.range %i = %zero to %n : i32 attributes {axis = 0} {
      %at = uop.alu add %i, %minus : (i32, i32) -> i32
      %there = uop.alu cmplt %minus, %at : (i32, i32) -> i1
      %x = uop.load %a[%at : i32] gate %there : i1 else %pad : i32 : !uop.ptr<i32, global> -> i32
      %some = uop.alu cmpne %x, %pad : (i32, i32) -> i1
      uop.store %x, %out[%i : i32] gate %some : i1 : i32, !uop.ptr<i32, global>
      uop.yield
    })");
  int32_t a[] = {1, 2, 9, 4}, out[] = {-1, -1, -1, -1, -1};
  shift.run({out, a}, {4});
  CHECK(std::vector<int32_t>(out, out + 5) == std::vector<int32_t>{-1, 1, 2, -1, -1});
  shift.run({out, nullptr}, {1});
}

TEST_CASE("a gate of one bool per lane: where it is false no memory is touched") {
  TextKernel copy("%out: f32, %a: f32, %n: size", R"(
    %zero = uop.const 0 : i32
    %one = uop.const 1 : i32
    %two = uop.const 2 : i32
    %three = uop.const 3 : i32
    %lane = uop.vectorize %zero, %one, %two, %three : i32, i32, i32, i32 -> vector<4xi32>
    %ends = uop.vectorize %n : i32 -> vector<4xi32>
    %f7 = uop.const 7.0 : f32
    %pad = uop.vectorize %f7 : f32 -> vector<4xf32>
    %gate = uop.alu cmplt %lane, %ends : (vector<4xi32>, vector<4xi32>) -> vector<4xi1>
    %x = uop.load %a[%zero : i32] gate %gate : vector<4xi1> else %pad : vector<4xf32>
      : !uop.ptr<f32, global> -> vector<4xf32>
    uop.store %x, %out[%zero : i32] gate %gate : vector<4xi1> : vector<4xf32>, !uop.ptr<f32, global>
    %four = uop.const 4 : i32
    uop.store %x, %out[%four : i32] : vector<4xf32>, !uop.ptr<f32, global>)");
  float a[] = {1, 2, 3, 4}, out[] = {0, 0, 0, 0, 0, 0, 0, 0};
  copy.run({out, a}, {3});
  CHECK(std::vector<float>(out, out + 8) == std::vector<float>{1, 2, 3, 0, 1, 2, 3, 7});
  copy.run({out, nullptr}, {0});
  CHECK(out[4] == 7);
}

TEST_CASE("bools in memory are bytes, gated or not, in vectors or not") {
  TextKernel negate("%out: i1, %a: i1", R"(
    %zero = uop.const 0 : i32
    %four = uop.const 4 : i32
    %true = uop.const true
    %ones = uop.vectorize %true : i1 -> vector<4xi1>
    %x = uop.load %a[%zero : i32] : !uop.ptr<i1, global> -> vector<4xi1>
    %not = uop.alu xor %x, %ones : (vector<4xi1>, vector<4xi1>) -> vector<4xi1>
    %y = uop.load %a[%zero : i32] gate %x : vector<4xi1> else %ones : vector<4xi1> : !uop.ptr<i1, global> -> vector<4xi1>
    %both = uop.alu and %not, %y : (vector<4xi1>, vector<4xi1>) -> vector<4xi1>
    uop.store %both, %out[%zero : i32] : vector<4xi1>, !uop.ptr<i1, global>
    %s = uop.load %a[%four : i32] : !uop.ptr<i1, global> -> i1
    uop.store %s, %out[%four : i32] : i1, !uop.ptr<i1, global>)");
  uint8_t a[] = {0, 1, 1, 0, 1}, out[5] = {5, 5, 5, 5, 5};
  negate.run({out, a});
  CHECK(std::vector<int>(out, out + 5) == std::vector<int>{1, 0, 0, 1, 1});
}

TEST_CASE("memory of a group or an item is aligned and kept between loops") {
  for (std::string memory : {"register", "local"}) {
    std::string pointer = "!uop.ptr<f32, " + memory + ">";
    TextKernel reverse("%out: f32, %a: f32", R"(
      %zero = uop.const 0 : i32
      %n = uop.const 100 : i32
      %last = uop.const 99 : i32
      %minus = uop.const -1 : i32
      %tile = uop.define "tile" 100 : )" + pointer +
                                                 R"(
      uop.range %i = %zero to %n : i32 attributes {axis = 0} {
        %x = uop.load %a[%i : i32] : !uop.ptr<f32, global> -> f32
        uop.store %x, %tile[%i : i32] : f32, )" + pointer +
                                                 R"(
        uop.yield
      }
      uop.barrier
      uop.range %i = %zero to %n : i32 attributes {axis = 1} {
        %m = uop.alu mul %i, %minus : (i32, i32) -> i32
        %at = uop.alu add %m, %last : (i32, i32) -> i32
        %x = uop.load %tile[%at : i32] : )" + pointer +
                                                 R"( -> f32
        uop.store %x, %out[%i : i32] : f32, !uop.ptr<f32, global>
        uop.yield
      })");
    float a[100], out[100];
    std::iota(a, a + 100, 0.0f);
    reverse.run({out, a});
    CHECK(out[0] == 99);
    CHECK(out[98] == 1);
    CHECK(contains(reverse.llvm(/*level=*/0), "[100 x float], align 64"));
  }
}

TEST_CASE("if and else store by a condition; the chunk is the entry's") {
  TextKernel choose("%out: i32", R"(
    %chunk = uop.special chunk 0 <10> : i32
    %two = uop.const 2 : i32
    %first = uop.alu cmplt %chunk, %two : (i32, i32) -> i1
    uop.if %first {
      uop.store %chunk, %out[%chunk : i32] : i32, !uop.ptr<i32, global>
      uop.yield
    } else {
      uop.store %two, %out[%chunk : i32] : i32, !uop.ptr<i32, global>
      uop.yield
    })");
  int32_t out[4] = {};
  for (int64_t chunk = 0; chunk < 4; ++chunk)
    choose.run({out}, {}, chunk);
  CHECK(std::vector<int32_t>(out, out + 4) == std::vector<int32_t>{0, 1, 2, 2});
}

TEST_CASE("one buffer is read and written") {
  TextKernel twice("%a: f32, %n: size", R"(
    %zero = uop.const 0 : i32
    uop.range %i = %zero to %n : i32 attributes {axis = 0} {
      %x = uop.load %a[%i : i32] : !uop.ptr<f32, global> -> f32
      %y = uop.alu add %x, %x : (f32, f32) -> f32
      uop.store %y, %a[%i : i32] : f32, !uop.ptr<f32, global>
      uop.yield
    })");
  float a[] = {1, 2, 3};
  twice.run({a}, {3});
  CHECK(a[2] == 6);
  CHECK(!contains(twice.llvm(), "invariant.load"));
}

// The loop body of a kernel that loads a[i*3+1] for i below n.
static std::string strided(llvm::StringRef size) {
  return TextKernel("%out: f32, %a: f32, %n: " + size.str(), R"(
    %zero = uop.const 0 : i32
    %one = uop.const 1 : i32
    %three = uop.const 3 : i32
    uop.range %i = %zero to %n : i32 attributes {axis = 0} {
      %scaled = uop.alu mul %i, %three : (i32, i32) -> i32
      %at = uop.alu add %scaled, %one : (i32, i32) -> i32
      %x = uop.load %a[%at : i32] : !uop.ptr<f32, global> -> f32
      %y = uop.alu exp %x : (f32) -> f32
      uop.store %y, %out[%i : i32] : f32, !uop.ptr<f32, global>
      uop.yield
    })",
                    "x86-64")
      .assembly();
}

TEST_CASE("index math that cannot wrap becomes pointer arithmetic") {
  CHECK(!contains(strided("size{0..1000}"), "sarq"));
  CHECK(contains(strided("size"), "sarq")); // i*3 may wrap, so every index is computed in 32 bits and extended
}

TEST_CASE("contraction exists only as fma") {
  auto kernel = [](const char *uop) {
    return TextKernel("%out: f32, %a: f32", std::string(R"(
      %zero = uop.const 0 : i32
      %x = uop.load %a[%zero : i32] : !uop.ptr<f32, global> -> f32
      %xx = uop.alu mul %x, %x : (f32, f32) -> f32
      %y = )") + uop + R"(
      uop.store %y, %out[%zero : i32] : f32, !uop.ptr<f32, global>)",
                      "x86-64-v3")
        .assembly();
  };
  CHECK(!contains(kernel("uop.alu add %xx, %x : (f32, f32) -> f32"), "vfmadd"));
  CHECK(!contains(kernel("uop.alu mulacc %x, %x, %x : (f32, f32, f32) -> f32"), "vfmadd"));
  CHECK(contains(kernel("uop.fma %x, %x, %x : f32"), "vfmadd"));
}
