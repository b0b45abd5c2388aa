// RUN: %kiln-opt %s --kiln-optimize-kernels="opts='r_10: GROUP 0 4'" --kiln-stage-lower | FileCheck %s

// Ten terms over four items, three turns each. Points past the end count as the identity in the partial results, so the
// reduce over the partial results asks for no guard again.
// CHECK: uop.func @r_10
// CHECK: uop.range
// CHECK: uop.alu cmplt
// CHECK: uop.alu where
// CHECK: uop.barrier
// CHECK: uop.range
// CHECK-NOT: uop.alu where
// CHECK: uop.store
kernel.func @r_10(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <10>, loop>], domain = #kiln.dims<[10]>, index = #kiln.dims<["_x0{0..9}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(10):(1)"> : <f32> -> f32
  %1 = kernel.reduce max %0 over [0] : f32
  kernel.store %1, %out <"(1):(0)"> : f32, <f32>
}
