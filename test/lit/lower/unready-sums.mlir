// RUN: %kiln-opt %s --kiln-stage-lower | FileCheck %s

// Both sums go over axis 1, but the first is needed for each step of axis 2 and the second before it: they share no loop.
// CHECK: uop.range
// CHECK: uop.range {{.*}} init(%{{.*}} = %{{[^,]*}}) : f32
// CHECK: uop.range {{.*}} init(%{{.*}} = %{{[^,]*}}) : f32
// CHECK: uop.range {{.*}} init(%{{.*}} = %{{[^,]*}}) : f32
// CHECK-NOT: uop.range
kernel.func @r_4_6_5(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>, %y: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <4>, loop>, #kernel.axis<1, <6>, loop>, #kernel.axis<2, <5>, loop>],
                domain = #kiln.dims<[4, 6, 5]>, index = #kiln.dims<["_x0{0..3}", "_x1{0..5}", "_x2{0..4}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(4,6,5):(30,5,1)"> : <f32> -> f32
  %1 = kernel.load %y <"(4,6,5):(6,1,0)"> : <f32> -> f32
  %2 = kernel.reduce add %0 over [1] : f32
  %3 = kernel.reduce add %1 over [1] : f32
  %4 = kernel.alu mul %2, %2 : (f32, f32) -> f32
  %5 = kernel.reduce add %4 over [2] : f32
  %6 = kernel.alu mul %3, %5 : (f32, f32) -> f32
  kernel.store %6, %out <"(4,1,1):(1,0,0)"> : f32, <f32>
}
