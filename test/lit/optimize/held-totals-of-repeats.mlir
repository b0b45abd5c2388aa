// RUN: %kiln-opt %s --kiln-optimize-kernels="opts='r_2_6_9_3: SWAP 1 3, STAGE 3 0'" | FileCheck %s
// RUN: not %kiln-opt %s --kiln-optimize-kernels="opts='r_2_6_9_3: SWAP 2 3, STAGE 3 0, SWAP 1 2'" 2>&1 | FileCheck %s --check-prefix=LATE

// Each step of axis 2 sums up the same points of axis 1, along which the result does not move: it needs totals of its own.
// CHECK: axes = [#kernel.axis<0, <2>, loop>, #kernel.axis<3, <3>, loop>, #kernel.axis<2, <9>, loop>, #kernel.axis<1, <6>, loop>]
// CHECK: kernel.reduce add {{.*}} over [3] held [2, 1]
// LATE: opt SWAP 1 2
kernel.func @r_2_6_9_3(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <2>, loop>, #kernel.axis<1, <6>, loop>, #kernel.axis<2, <9>, loop>, #kernel.axis<3, <3>, loop>],
                domain = #kiln.dims<[2, 6, 9, 3]>, index = #kiln.dims<["_x0{0..1}", "_x1{0..5}", "_x2{0..8}", "_x3{0..2}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(2,6,1,3):(18,3,0,1)"> : <f32> -> f32
  %1 = kernel.reduce add %0 over [3] : f32
  kernel.store %1, %out <"(2,6,9,1):(54,9,1,0)"> : f32, <f32>
}
