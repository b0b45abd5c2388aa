// RUN: %kiln-opt %s --kiln-lower-kernels | FileCheck %s

// A kernel becomes code under its own name: a loop for each axis, and what is computed at one point of it. The launch
// knows its grid and what it costs.
// CHECK: %[[OPERATIONS:.*]] = arith.constant 10 : i64
// CHECK: %[[BYTES:.*]] = arith.constant 80 : i64
// CHECK: host.launch @E_10({{.*}}) sizes() grid() estimates(%[[OPERATIONS]], %[[BYTES]], %[[EXPECTED:.*]])
// CHECK: uop.func @E_10
// CHECK: uop.range
// CHECK-NEXT: %[[X:.*]] = uop.load %{{.*}}[%{{.*}} : i32]
// CHECK-NEXT: %[[Y:.*]] = uop.alu neg %[[X]]
// CHECK-NEXT: uop.store %[[Y]]
// CHECK-NOT: kernel.
module {
  host.program @main attributes {inputs = [#host.port<"x", tensor<10xf32>>], outputs = [#host.port<"y", tensor<10xf32>>],
                                 weights = [], symbols = []} {
    %x = host.input 0
    %y = host.output 0
    %none = arith.constant 0 : i64
    host.launch @E_10(%y, %x) sizes() grid() estimates(%none, %none) from "['neg']"
    host.done
  }
  kernel.func @E_10(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>)
      attributes {axes = [#kernel.axis<0, <10>, loop>], domain = #kiln.dims<[10]>, index = #kiln.dims<["_x0{0..9}"]>,
                  opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
    %0 = kernel.load %x <"(10):(1)"> : <f32> -> f32
    %1 = kernel.alu neg %0 : (f32) -> f32
    kernel.store %1, %out <"(10):(1)"> : f32, <f32>
  }
}
