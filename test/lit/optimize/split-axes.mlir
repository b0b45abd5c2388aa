// RUN: %kiln-opt %s --kiln-normalize-axes | FileCheck %s

// A row of x is 3 heads of 4 elements that lie 20 apart: its sum walks heads and elements, and divides by nothing. What the other
// view walks by one stride it walks by two.
// CHECK: kernel.func @r_5_6_12
// CHECK-SAME: domain = #kiln.dims<[5, 6, 3, 4]>
// CHECK: kernel.load %arg1 <"(5,1,3,4):(4,0,20,1)">
// CHECK: kernel.load %arg2 <"(1,6,3,4):(0,1,24,6)">
// CHECK: kernel.reduce add %{{.*}} over [2, 3]
kernel.func @r_5_6_12(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>, %w: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <5>, loop>, #kernel.axis<1, <6>, loop>, #kernel.axis<2, <12>, loop>],
                domain = #kiln.dims<[5, 6, 12]>, index = #kiln.dims<["_x0{0..4}", "_x1{0..5}", "_x2{0..11}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(5,3,4):(4,20,1) -> (5,1,12):(12,0,1)"> : <f32> -> f32
  %1 = kernel.load %w <"(1,6,12):(0,1,6)"> : <f32> -> f32
  %2 = kernel.alu mul %0, %1 : (f32, f32) -> f32
  %3 = kernel.reduce add %2 over [2] : f32
  kernel.store %3, %out <"(5,6,1):(6,1,0)"> : f32, <f32>
}

// The same for rows as long as only a run knows, of n pictures between which there is room for as many again.
// CHECK: kernel.func @r_w_nh(
// CHECK-SAME: domain = #kiln.dims<["w", "n", "h"]>
// CHECK: kernel.load %arg1 <"(w,n,h):(1,((h*w)*2),w)">
kernel.func @r_w_nh(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <"w">, loop>, #kernel.axis<1, <"n*h">, loop>],
                domain = #kiln.dims<["w", "n*h"]>, index = #kiln.dims<["_x0{0..2147483646}", "_x1{0..4611686014132420608}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<["n", "h", "w"]>} {
  %0 = kernel.load %x <"(n,h,w):(h*w*2,w,1) -> (w,n*h):(1,w)"> : <f32> -> f32
  %1 = kernel.reduce add %0 over [1] : f32
  kernel.store %1, %out <"(w,1):(1,0)"> : f32, <f32>
}
