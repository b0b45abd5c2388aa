// The interpreter of uops is a device that reports what hardware does in silence: an access outside its memory, items
// that race, a barrier that not all reach. Most tests of this have a kernel that is right and one that lacks just what
// makes it so, a barrier for example. The first must compute what it should; of the second the whole message is
// compared, whichever item comes first.
#include "interp/UopInterpreter.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

#include <numeric>

using kiln::interp::UopBuffer;
using kiln::interp::UopProgram;

namespace {

struct Kernel {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<UopProgram> programs;

  explicit Kernel(const std::string &text) {
    context.loadDialect<kiln::KilnDialect, kiln::uop::UOpDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    REQUIRE(module);
    auto decoded = kiln::interp::decodeUops(*module);
    if (!decoded)
      FAIL(llvm::toString(decoded.takeError()));
    programs = std::move(*decoded);
  }
  /// "" where the launch succeeds.
  std::string launch(const std::vector<UopBuffer> &buffers, const std::vector<int64_t> &grid = {1},
                     const std::vector<int64_t> &sizes = {}) {
    return llvm::toString(programs.front().launch(buffers, sizes, grid));
  }
};

template <class T> UopBuffer buffer(std::vector<T> &elements) {
  return {elements.data(), int64_t(elements.size() * sizeof(T))};
}

/// A kernel named k: its arguments, then `local` and what else differs.
std::string kernel(const std::string &arguments, const std::string &body, const std::string &local = "1",
                   const std::string &sizes = "") {
  return "uop.func @k(" + arguments + ") attributes {sizes = #kiln.dims<[" + sizes +
         "]>, grid = #kiln.dims<[1]>, local = array<i64: " + local +
         ">, operations = #kiln.expr<0>, bytes = #kiln.expr<0>} {" + body + "uop.yield\n}";
}

const std::string kI32 = "!uop.ptr<i32, global>";
const std::string kLocal = "!uop.ptr<i32, local>";

} // namespace

TEST_CASE("a range carries an accumulator: the dot product") {
  Kernel dot(kernel("%o: " + kI32 + ", %a: " + kI32 + ", %b: " + kI32, R"mlir(
    %zero = uop.const 0 : i32
    %two = uop.const 2 : i32
    %sum = uop.range %i = %zero to %two : i32 init(%acc = %zero) : i32 attributes {axis = 0, reduce} {
      %x = uop.load %a[%i : i32] : !uop.ptr<i32, global> -> i32
      %y = uop.load %b[%i : i32] : !uop.ptr<i32, global> -> i32
      %p = uop.alu mul %x, %y : (i32, i32) -> i32
      %s = uop.alu add %acc, %p : (i32, i32) -> i32
      uop.yield %s : i32
    }
    uop.store %sum, %o[%zero : i32] : i32, !uop.ptr<i32, global>
  )mlir"));
  std::vector<int32_t> out{0}, a{1, 2}, b{3, 4};
  CHECK(dot.launch({buffer(out), buffer(a), buffer(b)}) == "");
  CHECK(out[0] == 11);
}

TEST_CASE("carried values that change places are all read first") {
  // Fibonacci: (a, b) becomes (b, a + b), eight times; then the pair swapped.
  Kernel fibonacci(kernel("%o: " + kI32, R"mlir(
    %zero = uop.const 0 : i32
    %one = uop.const 1 : i32
    %eight = uop.const 8 : i32
    %r:2 = uop.range %i = %zero to %eight : i32 init(%a = %zero, %b = %one) : i32, i32 attributes {axis = 0} {
      %s = uop.alu add %a, %b : (i32, i32) -> i32
      uop.yield %b, %s : i32, i32
    }
    %t:2 = uop.range %i = %zero to %one : i32 init(%a = %r#0, %b = %r#1) : i32, i32 attributes {axis = 1} {
      uop.yield %b, %a : i32, i32
    }
    uop.store %t#0, %o[%zero : i32] : i32, !uop.ptr<i32, global>
    uop.store %t#1, %o[%one : i32] : i32, !uop.ptr<i32, global>
  )mlir"));
  std::vector<int32_t> out(2);
  CHECK(fibonacci.launch({buffer(out)}) == "");
  CHECK(out == std::vector<int32_t>{34, 21});
}

TEST_CASE("an empty range gives its inits, and a range's bounds may be sizes") {
  Kernel count(kernel("%o: " + kI32 + ", %n: i64", R"mlir(
    %zero = uop.const 0 : i64
    %seven = uop.const 7 : i32
    %one = uop.const 1 : i32
    %c = uop.range %i = %zero to %n : i64 init(%a = %seven) : i32 attributes {axis = 0} {
      %s = uop.alu add %a, %one : (i32, i32) -> i32
      uop.yield %s : i32
    }
    uop.store %c, %o[%zero : i64] : i32, !uop.ptr<i32, global>
  )mlir",
                      "1", "\"n\""));
  std::vector<int32_t> out(1);
  CHECK(count.launch({buffer(out)}, {1}, {0}) == "");
  CHECK(out[0] == 7);
  CHECK(count.launch({buffer(out)}, {1}, {3}) == "");
  CHECK(out[0] == 10);
  CHECK(count.launch({buffer(out)}, {1}, {}) == "kernel 'k' takes 1 buffers and 1 sizes, not 1 and 0");
}

TEST_CASE("groups, items and chunks know where they are") {
  Kernel where(kernel("%o: " + kI32, R"mlir(
    %g = uop.special group 0 <3> : i32
    %h = uop.special chunk 1 <2> : i32
    %l = uop.special local 0 <2> : i32
    %two = uop.const 2 : i32
    %six = uop.const 6 : i32
    %hundred = uop.const 100 : i32
    %a = uop.alu mul %g, %two : (i32, i32) -> i32
    %b = uop.alu mul %h, %six : (i32, i32) -> i32
    %c = uop.alu add %a, %b : (i32, i32) -> i32
    %at = uop.alu add %c, %l : (i32, i32) -> i32
    %v = uop.alu mulacc %at, %hundred, %l : (i32, i32, i32) -> i32
    uop.store %v, %o[%at : i32] : i32, !uop.ptr<i32, global>
  )mlir",
                      "2"));
  std::vector<int32_t> out(12, -1);
  CHECK(where.launch({buffer(out)}, {3, 2}) == "");
  for (int i = 0; i < 12; ++i)
    CHECK(out[i] == i * 100 + i % 2);
  std::vector<int32_t> none(1, -1);
  CHECK(where.launch({buffer(none)}, {0, 2}) == "");
  CHECK(none[0] == -1);
}

TEST_CASE("vectors load, compute, splat, split and store lane by lane") {
  Kernel vectors(kernel("%o: !uop.ptr<f32, global>, %a: !uop.ptr<f32, global>", R"mlir(
    %zero = uop.const 0 : i32
    %four = uop.const 4 : i32
    %half = uop.const 0.5 : f32
    %x = uop.load %a[%zero : i32] : !uop.ptr<f32, global> -> vector<4xf32>
    %h = uop.vectorize %half : f32 -> vector<4xf32>
    %y = uop.fma %x, %x, %h : vector<4xf32>
    uop.store %y, %o[%zero : i32] : vector<4xf32>, !uop.ptr<f32, global>
    %l = uop.gep %y[3] : vector<4xf32> -> f32
    %m = uop.gep %x[1] : vector<4xf32> -> f32
    %p = uop.vectorize %l, %m : f32, f32 -> vector<2xf32>
    uop.store %p, %o[%four : i32] : vector<2xf32>, !uop.ptr<f32, global>
  )mlir"));
  std::vector<float> out(6), a{1, 2, 3, 4};
  CHECK(vectors.launch({buffer(out), buffer(a)}) == "");
  CHECK(out == std::vector<float>{1.5, 4.5, 9.5, 16.5, 16.5, 2});
}

TEST_CASE("fma rounds once, mulacc twice") {
  Kernel rounding(kernel("%o: !uop.ptr<f32, global>, %a: !uop.ptr<f32, global>", R"mlir(
    %zero = uop.const 0 : i32
    %one = uop.const 1 : i32
    %m1 = uop.const -1.0 : f32
    %x = uop.load %a[%zero : i32] : !uop.ptr<f32, global> -> f32
    %f = uop.fma %x, %x, %m1 : f32
    %g = uop.alu mulacc %x, %x, %m1 : (f32, f32, f32) -> f32
    uop.store %f, %o[%zero : i32] : f32, !uop.ptr<f32, global>
    uop.store %g, %o[%one : i32] : f32, !uop.ptr<f32, global>
  )mlir"));
  std::vector<float> out(2), a{1 + 0x1p-12f};
  CHECK(rounding.launch({buffer(out), buffer(a)}) == "");
  CHECK(out == std::vector<float>{0x1p-11f + 0x1p-24f, 0x1p-11f});
}

TEST_CASE("a gate keeps an access from memory, for all lanes or each") {
  Kernel gates(kernel("%o: " + kI32 + ", %a: " + kI32, R"mlir(
    %far = uop.const 1000000 : i32
    %zero = uop.const 0 : i32
    %two = uop.const 2 : i32
    %no = uop.const false
    %yes = uop.const true
    %nine = uop.const 9 : i32
    %x = uop.load %a[%far : i32] gate %no : i1 else %nine : i32 : !uop.ptr<i32, global> -> i32
    uop.store %x, %o[%zero : i32] : i32, !uop.ptr<i32, global>
    uop.store %x, %o[%far : i32] gate %no : i1 : i32, !uop.ptr<i32, global>
    %g = uop.vectorize %yes, %no : i1, i1 -> vector<2xi1>
    %nines = uop.vectorize %nine : i32 -> vector<2xi32>
    %one = uop.const 1 : i32
    %y = uop.load %a[%one : i32] gate %g : vector<2xi1> else %nines : vector<2xi32> : !uop.ptr<i32, global> -> vector<2xi32>
    uop.store %y, %o[%one : i32] : vector<2xi32>, !uop.ptr<i32, global>
    %three = uop.const 3 : i32
    uop.store %nines, %o[%three : i32] gate %g : vector<2xi1> : vector<2xi32>, !uop.ptr<i32, global>
  )mlir"));
  std::vector<int32_t> out(4, -1), a{5, 6};
  CHECK(gates.launch({buffer(out), buffer(a)}) == "");
  CHECK(out == std::vector<int32_t>{9, 6, 9, 9});
}

TEST_CASE("if runs one region") {
  Kernel branch(kernel("%o: " + kI32, R"mlir(
    %l = uop.special local 0 <3> : i32
    %one = uop.const 1 : i32
    %ten = uop.const 10 : i32
    %twenty = uop.const 20 : i32
    %c = uop.alu cmplt %l, %one : (i32, i32) -> i1
    uop.if %c {
      uop.store %ten, %o[%l : i32] : i32, !uop.ptr<i32, global>
      uop.yield
    } else {
      uop.store %twenty, %o[%l : i32] : i32, !uop.ptr<i32, global>
      uop.yield
    }
    uop.if %c {
      uop.store %one, %o[%l : i32] : i32, !uop.ptr<i32, global>
      uop.yield
    }
  )mlir",
                       "3"));
  std::vector<int32_t> out(3);
  CHECK(branch.launch({buffer(out)}) == "");
  CHECK(out == std::vector<int32_t>{1, 20, 20});
}

//===----------------------------------------------------------------------===//
// Local memory and barriers
//===----------------------------------------------------------------------===//

/// Each of four items leaves a number in local memory; then item 0 adds them up.
static std::string groupSum(const std::string &barrier) {
  return kernel("%o: " + kI32 + ", %a: " + kI32, R"mlir(
    %m = uop.define "smem0" 4 : !uop.ptr<i32, local>
    %l = uop.special local 0 <4> : i32
    %zero = uop.const 0 : i32
    %four = uop.const 4 : i32
    %g = uop.special group 0 <2> : i32
    %at = uop.alu mulacc %g, %four, %l : (i32, i32, i32) -> i32
    %x = uop.load %a[%at : i32] : !uop.ptr<i32, global> -> i32
    uop.store %x, %m[%l : i32] : i32, !uop.ptr<i32, local>
  )mlir" + barrier + R"mlir(
    %c = uop.alu cmpeq %l, %zero : (i32, i32) -> i1
    uop.if %c {
      %sum = uop.range %i = %zero to %four : i32 init(%acc = %zero) : i32 attributes {axis = 0, reduce} {
        %y = uop.load %m[%i : i32] : !uop.ptr<i32, local> -> i32
        %s = uop.alu add %acc, %y : (i32, i32) -> i32
        uop.yield %s : i32
      }
      uop.store %sum, %o[%g : i32] : i32, !uop.ptr<i32, global>
      uop.yield
    }
  )mlir",
                "4");
}

TEST_CASE("with a barrier the items of a group see what the others wrote") {
  Kernel sum(groupSum("uop.barrier"));
  std::vector<int32_t> out(2), a{1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(sum.launch({buffer(out), buffer(a)}, {2}) == "");
  CHECK(out == std::vector<int32_t>{10, 26});
}

TEST_CASE("without the barrier the race is reported, whoever runs first") {
  // Item 0 reads before item 1 has run; items 1 to 3, summing, would read after item 0 has.
  Kernel early(groupSum(""));
  std::vector<int32_t> out(2), a{1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(early.launch({buffer(out), buffer(a)}, {2}) ==
        "kernel 'k': item (1, 0, 0) of group (0, 0, 0) writes element 1 of 'smem0', which item (0, 0, 0) read with no "
        "barrier between: a race");
  std::string text = groupSum("");
  text.replace(text.find("cmpeq %l, %zero"), 15, "cmplt %zero, %l");
  Kernel late(text);
  CHECK(late.launch({buffer(out), buffer(a)}, {2}) ==
        "kernel 'k': item (1, 0, 0) of group (0, 0, 0) reads element 0 of 'smem0', which item (0, 0, 0) wrote with no "
        "barrier between: a race");
}

TEST_CASE("a write after a read needs a barrier too") {
  auto text = [](const std::string &barrier) {
    return kernel("%o: " + kI32, R"mlir(
      %m = uop.define "smem0" 1 : !uop.ptr<i32, local>
      %l = uop.special local 0 <2> : i32
      %zero = uop.const 0 : i32
      %one = uop.const 1 : i32
      %first = uop.alu cmpeq %l, %zero : (i32, i32) -> i1
      %last = uop.alu cmpeq %l, %one : (i32, i32) -> i1
      uop.store %zero, %m[%zero : i32] gate %first : i1 : i32, !uop.ptr<i32, local>
      uop.barrier
      %x = uop.load %m[%zero : i32] : !uop.ptr<i32, local> -> i32
      uop.store %x, %o[%l : i32] : i32, !uop.ptr<i32, global>
    )mlir" + barrier + "uop.store %one, %m[%zero : i32] gate %last : i1 : i32, !uop.ptr<i32, local>\n",
                  "2");
  };
  std::vector<int32_t> out(2);
  CHECK(Kernel(text("uop.barrier\n")).launch({buffer(out)}) == "");
  CHECK(Kernel(text("")).launch({buffer(out)}) ==
        "kernel 'k': item (1, 0, 0) of group (0, 0, 0) writes element 0 of 'smem0', which item (0, 0, 0) read with no "
        "barrier between: a race");
}

TEST_CASE("a shuffle gives each item what another has, and orders no memory") {
  auto text = [](const std::string &bit, const std::string &items) {
    return kernel("%o: " + kI32,
                  "%l = uop.special local 0 <" + items + R"mlir(> : i32
      %ten = uop.const 10 : i32
      %mine = uop.alu mul %l, %ten : (i32, i32) -> i32
      %other = uop.shuffle %mine xor )mlir" +
                      bit + R"mlir( : i32
      uop.store %other, %o[%l : i32] : i32, !uop.ptr<i32, global>
    )mlir",
                  items);
  };
  std::vector<int32_t> out(6);
  CHECK(Kernel(text("1", "6")).launch({buffer(out)}) == "");
  CHECK(out == std::vector<int32_t>{10, 0, 30, 20, 50, 40});

  std::string race = text("1", "6");
  race.insert(race.find("%ten"), R"mlir(%m = uop.define "smem0" 6 : !uop.ptr<i32, local>
      uop.store %l, %m[%l : i32] : i32, !uop.ptr<i32, local>
      )mlir");
  race.insert(race.find("uop.store %other"), R"mlir(%zero = uop.const 0 : i32
      %first = uop.load %m[%zero : i32] : !uop.ptr<i32, local> -> i32
      )mlir");
  CHECK(llvm::StringRef(Kernel(race).launch({buffer(out)})).contains("with no barrier between: a race"));
}

TEST_CASE("a barrier in a loop: the items keep step") {
  // Each turn, every item adds its left neighbour's number of the turn before; two buffers and one barrier a turn.
  Kernel steps(kernel("%o: " + kI32, R"mlir(
    %m = uop.define "smem0" 6 : !uop.ptr<i32, local>
    %l = uop.special local 0 <3> : i32
    %zero = uop.const 0 : i32
    %two = uop.const 2 : i32
    %three = uop.const 3 : i32
    %one = uop.const 1 : i32
    %r = uop.range %t = %zero to %three : i32 init(%v = %l) : i32 attributes {axis = 0} {
      %odd = uop.alu mod %t, %two : (i32, i32) -> i32
      %mine = uop.alu mulacc %odd, %three, %l : (i32, i32, i32) -> i32
      uop.store %v, %m[%mine : i32] : i32, !uop.ptr<i32, local>
      uop.barrier
      %k = uop.alu add %l, %two : (i32, i32) -> i32
      %left = uop.alu mod %k, %three : (i32, i32) -> i32
      %its = uop.alu mulacc %odd, %three, %left : (i32, i32, i32) -> i32
      %w = uop.load %m[%its : i32] : !uop.ptr<i32, local> -> i32
      %s = uop.alu add %v, %w : (i32, i32) -> i32
      uop.yield %s : i32
    }
    uop.store %r, %o[%l : i32] : i32, !uop.ptr<i32, global>
  )mlir",
                      "3"));
  std::vector<int32_t> out(3);
  CHECK(steps.launch({buffer(out)}) == "");
  // 0 1 2 -> 2 1 3 -> 5 3 4 -> 9 8 7
  CHECK(out == std::vector<int32_t>{9, 8, 7});
}

TEST_CASE("a barrier that not every item reaches is an error") {
  Kernel divergent(kernel("%o: " + kI32, R"mlir(
    %l = uop.special local 0 <2> : i32
    %zero = uop.const 0 : i32
    %c = uop.alu cmpeq %l, %zero : (i32, i32) -> i1
    uop.if %c {
      uop.barrier
      uop.yield
    }
  )mlir",
                          "2"));
  std::vector<int32_t> out(1);
  CHECK(divergent.launch({buffer(out)}) == "kernel 'k': item (0, 0, 0) of group (0, 0, 0) waits at a barrier that item "
                                           "(1, 0, 0) does not reach");
}

TEST_CASE("two barriers in two branches are not one") {
  Kernel divergent(kernel("%o: " + kI32, R"mlir(
    %l = uop.special local 0 <2> : i32
    %zero = uop.const 0 : i32
    %c = uop.alu cmpeq %l, %zero : (i32, i32) -> i1
    uop.if %c {
      uop.barrier
      uop.yield
    } else {
      uop.barrier
      uop.yield
    }
  )mlir",
                          "2"));
  std::vector<int32_t> out(1);
  CHECK(divergent.launch({buffer(out)}) ==
        "kernel 'k': item (1, 0, 0) of group (0, 0, 0) waits at another barrier than item (0, 0, 0)");
}

TEST_CASE("local memory is fresh in every group, register memory in every item") {
  Kernel fresh(kernel("%o: " + kI32, R"mlir(
    %m = uop.define "smem0" 1 : !uop.ptr<i32, local>
    %g = uop.special group 0 <2> : i32
    %zero = uop.const 0 : i32
    %c = uop.alu cmpeq %g, %zero : (i32, i32) -> i1
    uop.store %zero, %m[%zero : i32] gate %c : i1 : i32, !uop.ptr<i32, local>
    %x = uop.load %m[%zero : i32] : !uop.ptr<i32, local> -> i32
    uop.store %x, %o[%g : i32] : i32, !uop.ptr<i32, global>
  )mlir"));
  std::vector<int32_t> out(2);
  CHECK(fresh.launch({buffer(out)}, {2}) ==
        "kernel 'k': item (0, 0, 0) of group (1, 0, 0) reads element 0 of 'smem0', which nothing has written");

  Kernel own(kernel("%o: " + kI32, R"mlir(
    %m = uop.define "tile0" 1 : !uop.ptr<i32, register>
    %l = uop.special local 0 <2> : i32
    %zero = uop.const 0 : i32
    uop.store %l, %m[%zero : i32] : i32, !uop.ptr<i32, register>
    uop.barrier
    %x = uop.load %m[%zero : i32] : !uop.ptr<i32, register> -> i32
    uop.store %x, %o[%l : i32] : i32, !uop.ptr<i32, global>
  )mlir",
                    "2"));
  CHECK(own.launch({buffer(out)}) == "");
  CHECK(out == std::vector<int32_t>{0, 1});
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

static std::string accessAt(const std::string &index, const std::string &access) {
  return kernel("%o: " + kI32, "%i = uop.const " + index + " : i64\n %x = uop.const 1 : i32\n" + access);
}

TEST_CASE("an access outside its memory is an error") {
  std::vector<int32_t> out(3);
  std::string load = "%y = uop.load %o[%i : i64] : !uop.ptr<i32, global> -> i32\n";
  std::string store = "uop.store %x, %o[%i : i64] : i32, !uop.ptr<i32, global>\n";
  std::string pair = "%y = uop.load %o[%i : i64] : !uop.ptr<i32, global> -> vector<2xi32>\n";
  std::string where = "kernel 'k': item (0, 0, 0) of group (0, 0, 0) ";
  CHECK(Kernel(accessAt("3", load)).launch({buffer(out)}) == where + "reads element 3 of 'data0', which has 3");
  CHECK(Kernel(accessAt("-1", store)).launch({buffer(out)}) == where + "writes element -1 of 'data0', which has 3");
  CHECK(Kernel(accessAt("2", pair)).launch({buffer(out)}) == where + "reads element 3 of 'data0', which has 3");
  CHECK(Kernel(accessAt("2", load)).launch({buffer(out)}) == "");
}

TEST_CASE("two groups that write one element race") {
  std::vector<int32_t> out(1);
  Kernel same(accessAt("0", "uop.store %x, %o[%i : i64] : i32, !uop.ptr<i32, global>\n"));
  CHECK(same.launch({buffer(out)}, {1}) == "");
  CHECK(same.launch({buffer(out)}, {2}) ==
        "kernel 'k': item (0, 0, 0) of group (1, 0, 0) writes element 0 of 'data0', which an item of group number 0 "
        "wrote with no barrier between: a race");
}

TEST_CASE("a row that is not defined for the dtype is found when decoding") {
  mlir::MLIRContext context;
  context.loadDialect<kiln::KilnDialect, kiln::uop::UOpDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kernel("%o: !uop.ptr<f32, global>", R"mlir(
    %x = uop.const 1.0 : f32
    %y = uop.alu shl %x, %x : (f32, f32) -> f32
  )mlir"),
                                                        &context);
  REQUIRE(module);
  auto decoded = kiln::interp::decodeUops(*module);
  REQUIRE_FALSE(bool(decoded));
  CHECK(llvm::toString(decoded.takeError()) == "kernel 'k': shl is not defined for f32");
}

TEST_CASE("a matrix is read and written row by row, each within its memory") {
  const std::string kBytes = "!uop.ptr<i8, global>";
  auto multiply = [&](const std::string &pitch) {
    return kernel("%o: " + kI32 + ", %a: " + kBytes + ", %b: " + kBytes, R"mlir(
    %zero = uop.const 0 : i32
    %wide = uop.const 8 : i32
    %pitch = uop.const )mlir" + pitch + R"mlir( : i32
    %none = uop.const dense<0> : vector<2x2xi32>
    %x = uop.load_matrix %a[%zero : i32] pitch %pitch : i32 : !uop.ptr<i8, global> -> vector<2x4xi8>
    %y = uop.load_matrix %b[%zero : i32] pitch %wide : i32 : !uop.ptr<i8, global> -> vector<1x8xi8>
    %s = uop.wmma "tdpbssd" %x, %y, %none : vector<2x4xi8>, vector<1x8xi8> -> vector<2x2xi32>
    uop.store_matrix %s, %o[%zero : i32] pitch %pitch : i32 : vector<2x2xi32>, !uop.ptr<i32, global>
  )mlir");
  };
  std::vector<int32_t> out(7, -1);
  std::vector<int8_t> a{1, 2, 3, 4, 99, 0, 0, 0, -1}, b{1, 1, 1, 1, 1, 0, 0, 2};
  CHECK(Kernel(multiply("5")).launch({buffer(out), buffer(a), buffer(b)}) == "");
  CHECK(out == std::vector<int32_t>{10, 9, -1, -1, -1, -1, -2});
  CHECK(Kernel(multiply("6")).launch({buffer(out), buffer(a), buffer(b)}) ==
        "kernel 'k': item (0, 0, 0) of group (0, 0, 0) reads element 9 of 'data1', which has 9");
}

TEST_CASE("a launch counts the turns of its local memory, item by item and to the barrier") {
  Kernel turned(kernel("%o: " + kI32, R"mlir(
    %room = uop.define "room" 64 : !uop.ptr<i32, local>
    %me = uop.special local 0 <32> : i32
    %two = uop.const 2 : i32
    %at = uop.alu mul %me, %two : (i32, i32) -> i32
    uop.store %me, %room[%at : i32] : i32, !uop.ptr<i32, local>
    uop.barrier
    %mine = uop.load %room[%at : i32] : !uop.ptr<i32, local> -> i32
    uop.store %mine, %o[%me : i32] : i32, !uop.ptr<i32, global>
  )mlir",
                       "32"));
  std::vector<int32_t> out(32);
  std::vector<kiln::interp::LocalTurns> turns;
  REQUIRE(!turned.programs.front().launch({buffer(out)}, {}, {1}, &turns));
  REQUIRE(turns.size() == 1);
  CHECK(turns[0].memory == "room");
  CHECK(turns[0].writes == kiln::interp::BankTurns{2, 1});
  CHECK(turns[0].reads == kiln::interp::BankTurns{2, 1});
}
