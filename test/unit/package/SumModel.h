//===- SumModel.h - The model that the artefacts' tests package -----------------===//
#pragma once

#include "test/unit/render/llvm/TextModel.h"

namespace kiln::test {

/// sum = a + w + v over three floats. `a` has the default 1 2 3, w is 0.5 for each, v's data is `weight`.
inline TextModel sumModel(const std::string &weight, llvm::StringRef folder) {
  auto load = [](const std::string &name, const std::string &from) {
    return "%" + name + " = uop.load %" + from + "[%i : i32] : !uop.ptr<f32, global> -> f32\n";
  };
  return TextModel(R"(
    uop.func @E_3(%out: !uop.ptr<f32, global>, %a: !uop.ptr<f32, global>, %w: !uop.ptr<f32, global>,
                  %v: !uop.ptr<f32, global>)
        attributes {sizes = #kiln.dims<[]>, grid = #kiln.dims<[3]>, local = array<i64: 1>,
                    operations = #kiln.expr<6>, bytes = #kiln.expr<48>} {
      %i = uop.special chunk 0 <3> : i32
      )" + load("x", "a") +
                       load("y", "w") + load("z", "v") + R"(
      %xy = uop.alu add %x, %y : (f32, f32) -> f32
      %xyz = uop.alu add %xy, %z : (f32, f32) -> f32
      uop.store %xyz, %out[%i : i32] : f32, !uop.ptr<f32, global>
      uop.yield
    }
    host.program @model attributes {
        inputs = [#host.port<"a", tensor<3xf32>, dense<[1.0, 2.0, 3.0]> : tensor<3xf32>>],
        outputs = [#host.port<"sum", tensor<3xf32>>],
        weights = [#host.weight<"w", tensor<3xf32>, dense<0.5> : tensor<3xf32>>,
                   #host.weight<"v", tensor<3xf32>, )" +
                       weight + R"(>],
        symbols = []} {
      %a = host.input 0
      %w = host.weight 0
      %v = host.weight 1
      %n = arith.constant 3 : i64
      %out = host.output 0 dims(%n)
      host.launch @E_3(%out, %a, %w, %v) sizes() grid(%n) estimates(%n, %n) from "['sum']"
      host.done
    })",
                   folder);
}

} // namespace kiln::test
