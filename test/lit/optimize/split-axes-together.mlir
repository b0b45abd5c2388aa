// RUN: %kiln-opt %s --kiln-normalize-axes | FileCheck %s

// A row is one of `length` of a batch and its elements lie head by head: neither split alone makes one view of the two, both
// together do, and nothing is left to divide by in the sum's loop.
// CHECK: domain = #kiln.dims<["batch", "length", 6, 3, 4]>
// CHECK: kernel.load %arg1 <"(batch,length,1,3,4):((length*12),4,0,(length*4),1)">
// CHECK: kernel.reduce add %{{.*}} over [3, 4]
// CHECK: kernel.store %{{.*}}, %arg0 <"(batch,length,6,1,1):((length*6),6,1,0,0)">
module attributes {kiln.symbols = [#kiln.symbol<"batch", 0 to 8, default 1>, #kiln.symbol<"length", 0 to 9, default 1>]} {
kernel.func @r(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>, %w: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <"(batch*length)">, loop>, #kernel.axis<1, <6>, loop>, #kernel.axis<2, <12>, loop>],
                domain = #kiln.dims<["(batch*length)", 6, 12]>, index = #kiln.dims<["_x0{0..71}", "_x1{0..5}", "_x2{0..11}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<["batch", "length"]>} {
  %0 = kernel.load %x <"(batch,length,3,4):((length*12),4,(length*4),1) -> ((batch*length),1,12):(12,0,1)"> : <f32> -> f32
  %1 = kernel.load %w <"(1,6,12):(0,1,6)"> : <f32> -> f32
  %2 = kernel.alu mul %0, %1 : (f32, f32) -> f32
  %3 = kernel.reduce add %2 over [2] : f32
  kernel.store %3, %out <"((batch*length),6,1):(6,1,0)"> : f32, <f32>
}
}
