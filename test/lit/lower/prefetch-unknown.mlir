// RUN: %kiln-opt %s --kiln-optimize-kernels="opts='r_2_n_8: PREFETCH 0 2'" --kiln-stage-lower | FileCheck %s

// How often axis 1 is walked inside axis 0 is not known: each time asks for all that axis 0's next step reads.
// CHECK: uop.func @r_2_n_8
// CHECK: uop.load %arg2[
// CHECK: uop.prefetch %arg2[
// CHECK-NOT: uop.prefetch
kernel.func @r_2_n_8(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>, %w: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <2>, loop>, #kernel.axis<1, <"n">, loop>, #kernel.axis<2, <8>, loop>],
                domain = #kiln.dims<[2, "n", 8]>, index = #kiln.dims<["_x0{0..1}", "_x1{0..2147483646}", "_x2{0..7}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<["n"]>} {
  %0 = kernel.load %x <"(1,n,8):(0,8,1)"> : <f32> -> f32
  %1 = kernel.load %w <"(2,1,8):(8,0,1)"> : <f32> -> f32
  %2 = kernel.alu mul %0, %1 : (f32, f32) -> f32
  %3 = kernel.reduce add %2 over [2] : f32
  kernel.store %3, %out <"(2,n,1):(n,1,0)"> : f32, <f32>
}
