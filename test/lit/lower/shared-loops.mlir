// RUN: %kiln-opt %s --kiln-stage-lower | FileCheck %s

// Two sums over the same axis share its loop, and the load; the sum that needs one of them has a loop of its own.
// CHECK: uop.range
// CHECK: uop.range {{.*}} init(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : f32, f32
// CHECK-COUNT-1: uop.load
// CHECK: uop.yield
// CHECK: uop.range {{.*}} init(%{{.*}} = %{{[^,]*}}) : f32
// CHECK-NOT: uop.range
kernel.func @r_4_6(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <4>, loop>, #kernel.axis<1, <6>, loop>],
                domain = #kiln.dims<[4, 6]>, index = #kiln.dims<["_x0{0..3}", "_x1{0..5}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(4,6):(6,1)"> : <f32> -> f32
  %1 = kernel.reduce add %0 over [1] : f32
  %2 = kernel.alu mul %0, %0 : (f32, f32) -> f32
  %3 = kernel.reduce add %2 over [1] : f32
  %4 = kernel.alu mul %0, %1 : (f32, f32) -> f32
  %5 = kernel.reduce max %4 over [1] : f32
  %6 = kernel.alu mul %3, %5 : (f32, f32) -> f32
  kernel.store %6, %out <"(4,1):(1,0)"> : f32, <f32>
}
