// RUN: %kiln-opt %s --kiln-stage-lower | FileCheck %s

// 6 rows in steps of 4 lanes: the test about them stands before the loop over what reads the rows' sums, and so do these.
// CHECK: uop.range
// CHECK: uop.if
// CHECK: uop.range {{.*}} reduce}
// CHECK: uop.range
// CHECK-NOT: reduce
// CHECK: } else {
kernel.func @r_6_5_3(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>, %y: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <2>, loop>, #kernel.axis<1, <5>, loop>, #kernel.axis<2, <3>, loop>,
                        #kernel.axis<3, <4>, lane>],
                domain = #kiln.dims<[6, 5, 3]>,
                index = #kiln.dims<["((_x0{0..1} * 4) + _x3{0..3})", "_x1{0..4}", "_x2{0..2}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(6,5,3):(3,0,1)"> : <f32> -> f32
  %1 = kernel.reduce add %0 over [2] : f32
  %2 = kernel.load %y <"(6,5,1):(5,1,0)"> : <f32> -> f32
  %3 = kernel.alu mul %1, %2 : (f32, f32) -> f32
  kernel.store %3, %out <"(6,5,1):(5,1,0)"> : f32, <f32>
}
