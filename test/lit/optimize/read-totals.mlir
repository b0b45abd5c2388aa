// RUN: not %kiln-opt %s --kiln-optimize-kernels="opts='r_6_12: SWAP 0 1, STAGE 1 0'" 2>&1 | FileCheck %s

// A value that each of a row's points needs the row's sum for cannot be inside the loop that sums it up.
// CHECK: kernel r_6_12: opt STAGE 1 0: totals that are held would be read inside axis 1, before they are complete
kernel.func @r_6_12(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <6>, loop>, #kernel.axis<1, <12>, loop>], domain = #kiln.dims<[6, 12]>,
                index = #kiln.dims<["_x0{0..5}", "_x1{0..11}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(6,12):(12,1)"> : <f32> -> f32
  %1 = kernel.reduce add %0 over [1] : f32
  %2 = kernel.alu mul %0, %1 : (f32, f32) -> f32
  kernel.store %2, %out <"(6,12):(12,1)"> : f32, <f32>
}
