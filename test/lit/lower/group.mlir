// RUN: %kiln-opt %s --kiln-optimize-kernels="opts='r_64: GROUP 0 8'" --kiln-stage-lower | FileCheck %s

// Eight items sum a part each; the parts meet in local memory, after a barrier, and the first item writes the total.
// CHECK: uop.func @r_64{{.*}}local = array<i64: 8>
// CHECK: %[[MEM:.*]] = uop.define "smem0" 8 : <f32, local>
// CHECK: uop.special local 0
// CHECK: uop.range
// CHECK: uop.store %{{.*}}, %[[MEM]]
// CHECK: uop.barrier
// CHECK: uop.range
// CHECK: uop.load %[[MEM]]
// CHECK: uop.store %{{.*}}, %arg0{{.*}} gate
kernel.func @r_64(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <64>, loop>], domain = #kiln.dims<[64]>, index = #kiln.dims<["_x0{0..63}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(64):(1)"> : <f32> -> f32
  %1 = kernel.reduce add %0 over [0] : f32
  kernel.store %1, %out <"(1):(0)"> : f32, <f32>
}
