// RUN: %kiln-opt %s --kiln-optimize-kernels="opts='r_2_4_8: PREFETCH 0 2'" --kiln-stage-lower | FileCheck %s

// Each of 4 * 8 steps inside axis 0 asks for a 32nd of the 32 elements that axis 0's next step reads of %w: two steps ask for
// one cache line where there are 16 elements in it, and the last of the walk ask past the end, which is not a fault. They ask
// when all has been read and used: what a request stands between, LLVM does not make one instruction of.
// CHECK: uop.func @r_2_4_8
// CHECK: uop.range
// CHECK: uop.range
// CHECK: uop.range
// CHECK: uop.load %arg2[
// CHECK: uop.alu add {{.*}}contract
// CHECK-NEXT: uop.prefetch %arg2[
// CHECK-NEXT: uop.yield
// CHECK-NOT: uop.prefetch
kernel.func @r_2_4_8(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>, %w: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <2>, loop>, #kernel.axis<1, <4>, loop>, #kernel.axis<2, <8>, loop>],
                domain = #kiln.dims<[2, 4, 8]>, index = #kiln.dims<["_x0{0..1}", "_x1{0..3}", "_x2{0..7}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(1,4,8):(0,8,1)"> : <f32> -> f32
  %1 = kernel.load %w <"(2,1,8):(32,0,1)"> : <f32> -> f32
  %2 = kernel.alu mul %0, %1 : (f32, f32) -> f32
  %3 = kernel.reduce add %2 over [2] : f32
  kernel.store %3, %out <"(2,4,1):(4,1,0)"> : f32, <f32>
}
