// RUN: %kiln-opt %s --kiln-fold-arithmetic=reals=true | FileCheck %s
// RUN: %kiln-opt %s --kiln-fold-arithmetic | FileCheck %s --check-prefix=FLOATS

// Of real numbers x / x is 1, so the sum of 16 is 16, and no axis goes over them any more. The kernel keeps its name.
// CHECK: kernel.func @r_4_16(
// CHECK-SAME: domain = #kiln.dims<[4]>
// CHECK: %[[SUM:.*]] = kernel.const 1.600000e+01 : f32
// CHECK-NOT: kernel.reduce
// CHECK: kernel.store %[[SUM]], %{{.*}} <"(4):(1)">
// FLOATS: kernel.reduce add
kernel.func @r_4_16(%out: !kernel.buffer<f32>, %in: !kernel.buffer<f32>) attributes {
    domain = #kiln.dims<[4, 16]>, axes = [#kernel.axis<0, <4>, loop>, #kernel.axis<1, <16>, loop>],
    index = #kiln.dims<["_x0{0..3}", "_x1{0..15}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %x = kernel.load %in <"(4,16):(16,1)"> : <f32> -> f32
  %r = kernel.alu recip %x : (f32) -> f32
  %one = kernel.alu mul %x, %r : (f32, f32) -> f32
  %sum = kernel.reduce add %one over [1] : f32
  kernel.store %sum, %out <"(4,1):(1,0)"> : f32, <f32>
}

// Their largest is 1, next to a sum of others, which keeps the axis.
// CHECK: kernel.func @r2_4_16(
// CHECK-SAME: domain = #kiln.dims<[4, 16]>
// CHECK: %[[LARGEST:.*]] = kernel.const 1.000000e+00 : f32
// CHECK: kernel.reduce add
// CHECK: kernel.store %[[LARGEST]]
kernel.func @r2_4_16(%out: !kernel.buffer<f32>, %total: !kernel.buffer<f32>, %in: !kernel.buffer<f32>) attributes {
    domain = #kiln.dims<[4, 16]>, axes = [#kernel.axis<0, <4>, loop>, #kernel.axis<1, <16>, loop>],
    index = #kiln.dims<["_x0{0..3}", "_x1{0..15}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %x = kernel.load %in <"(4,16):(16,1)"> : <f32> -> f32
  %r = kernel.alu recip %x : (f32) -> f32
  %one = kernel.alu mul %x, %r : (f32, f32) -> f32
  %sum = kernel.reduce add %x over [1] : f32
  %largest = kernel.reduce max %one over [1] : f32
  kernel.store %largest, %out <"(4,1):(1,0)"> : f32, <f32>
  kernel.store %sum, %total <"(4,1):(1,0)"> : f32, <f32>
}
