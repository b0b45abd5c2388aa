// RUN: %kiln-opt %s --kiln-stage-lower | FileCheck %s

// What does not change in a loop is computed before it: %y is read once per row, and its square root taken there.
// CHECK: uop.func @r_3_4
// CHECK: uop.range
// CHECK: uop.load %arg2
// CHECK-NEXT: uop.alu sqrt
// CHECK-NEXT: uop.range
// CHECK: uop.load %arg1
kernel.func @r_3_4(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>, %y: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <3>, loop>, #kernel.axis<1, <4>, loop>], domain = #kiln.dims<[3, 4]>,
                index = #kiln.dims<["_x0{0..2}", "_x1{0..3}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(3,4):(4,1)"> : <f32> -> f32
  %1 = kernel.load %y <"(3,1):(1,0)"> : <f32> -> f32
  %2 = kernel.alu sqrt %1 : (f32) -> f32
  %3 = kernel.alu mul %0, %2 : (f32, f32) -> f32
  %4 = kernel.reduce add %3 over [1] : f32
  kernel.store %4, %out <"(3,1):(1,0)"> : f32, <f32>
}
