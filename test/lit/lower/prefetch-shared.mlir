// RUN: %kiln-opt %s --kiln-optimize-kernels="opts='r_2_n_32_8: VECTOR 2 32, PREFETCH 0 2'" --kiln-stage-lower | FileCheck %s

// Two lines per step are much compared with the loads: passes of axis 1, whose number is not known, share the work. If there
// are fewer than eight, each prefetches all. It goes where everything is multiplied, after the rest of a step.
// CHECK: uop.func @r_2_n_32_8
// CHECK: %[[FEW:.*]] = uop.alu cmplt %arg3,
// CHECK: uop.load %arg2[
// CHECK: uop.if %[[FEW]]
// CHECK-COUNT-2: uop.prefetch %arg2[
// CHECK: } else {
// CHECK-COUNT-1: uop.prefetch %arg2[
// CHECK-NOT: uop.prefetch
kernel.func @r_2_n_32_8(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>, %w: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <2>, loop>, #kernel.axis<1, <"n">, loop>, #kernel.axis<2, <32>, loop>,
                        #kernel.axis<3, <8>, loop>],
                domain = #kiln.dims<[2, "n", 32, 8]>,
                index = #kiln.dims<["_x0{0..1}", "_x1{0..2147483646}", "_x2{0..31}", "_x3{0..7}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<["n"]>} {
  %0 = kernel.load %x <"(1,n,1,8):(0,8,0,1)"> : <f32> -> f32
  %1 = kernel.load %w <"(2,1,32,8):(256,0,1,32)"> : <f32> -> f32
  %2 = kernel.alu mul %0, %1 : (f32, f32) -> f32
  %3 = kernel.reduce add %2 over [3] : f32
  kernel.store %3, %out <"(2,n,32,1):(n*32,32,1,0)"> : f32, <f32>
}
