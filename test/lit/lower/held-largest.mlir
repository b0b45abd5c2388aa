// RUN: %kiln-opt %s --kiln-optimize-kernels="opts='r_6_12: SWAP 0 1, STAGE 1 0'" --kiln-stage-lower | FileCheck %s

// In the first step no largest is held yet: the search begins at the least number, not at 0.
// CHECK: %[[LEAST:.*]] = uop.const 0xFF800000 : f32
// CHECK: %[[LATER:.*]] = uop.alu cmplt
// CHECK: %[[HELD:.*]] = uop.load %arg2{{.*}} gate %[[LATER]]
// CHECK: %[[BEFORE:.*]] = uop.alu where %[[LATER]], %[[HELD]], %[[LEAST]]
// CHECK: uop.alu max %[[BEFORE]],
kernel.func @r_6_12(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <6>, loop>, #kernel.axis<1, <12>, loop>], domain = #kiln.dims<[6, 12]>,
                index = #kiln.dims<["_x0{0..5}", "_x1{0..11}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(6,12):(12,1)"> : <f32> -> f32
  %1 = kernel.reduce max %0 over [1] : f32
  kernel.store %1, %out <"(6,1):(1,0)"> : f32, <f32>
}
