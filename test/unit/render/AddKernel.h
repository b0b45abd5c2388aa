//===- AddKernel.h - The kernel of models that are run as C and as LLVM's code ----===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace kiln::test {

/// Adds b[0] to every a of n, one chunk per element.
inline constexpr llvm::StringLiteral kAddKernel = R"(
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
/// The type of a and of the sum, and n.
inline constexpr char kAddVector[] = R"(tensor<?xf32, #kiln.dims<["n{0..1000}"]>>)";
inline constexpr char kAddSymbol[] = R"(#kiln.symbol<"n", 0 to 1000, default 4>)";

} // namespace kiln::test
