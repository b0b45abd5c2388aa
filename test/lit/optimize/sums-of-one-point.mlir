// An axis has one point once it is known which of a kernel's versions runs. A sum over it is its input; with a score, its input
// times exp(score - score), which is NaN where the score is infinite.
// RUN: %kiln-opt %s --kiln-normalize-axes | FileCheck %s

// CHECK-LABEL: kernel.func @sums
// CHECK: %[[X:.*]] = kernel.load
// CHECK: %[[S:.*]] = kernel.load
// CHECK: %[[MORE:.*]] = kernel.reduce add %[[X]] over [1]
// CHECK: %[[NEG:.*]] = kernel.alu neg %[[S]]
// CHECK: %[[BELOW:.*]] = kernel.alu add %[[S]], %[[NEG]]
// CHECK: %[[WEIGHT:.*]] = kernel.alu exp %[[BELOW]]
// CHECK: %[[WEIGHED:.*]] = kernel.alu mul %[[X]], %[[WEIGHT]]
// CHECK: kernel.alu add %[[MORE]], %[[X]]
// CHECK-NOT: kernel.reduce
kernel.func @sums(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>, %s: !kernel.buffer<f32>) attributes {
  domain = #kiln.dims<[8, 1, 4]>, index = #kiln.dims<["_x0{0..7}", 0, "_x2{0..3}"]>,
  axes = [#kernel.axis<0, <8>, loop>, #kernel.axis<1, <1>, loop>, #kernel.axis<2, <4>, loop>],
  opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(8,1,4):(4,0,1)"> : <f32> -> f32
  %1 = kernel.load %s <"(8,1,4):(4,0,1)"> : <f32> -> f32
  %2 = kernel.reduce add %0 over [1, 2] : f32
  %3 = kernel.reduce add %0 over [1] : f32
  %4 = kernel.reduce add %0 scored by %1 : f32 over [1] : f32
  %5 = kernel.alu add %2, %3 : (f32, f32) -> f32
  %6 = kernel.alu add %5, %4 : (f32, f32) -> f32
  kernel.store %6, %out <"(8,1,4):(4,0,1)"> : f32, <f32>
}
