#include "TextKernel.h"

#include <catch2/catch.hpp>
#include <cmath>

using kiln::test::TextKernel;

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
