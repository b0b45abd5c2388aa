// RUN: %kiln-opt %s --kiln-lower-kernels | FileCheck %s

// A stage has a walk of its own: its readers go along k one by one, it is filled with vectors along k, for all the rows that
// are read inside its place. Its memory is laid out as its layout says, rows innermost.
// CHECK: uop.func @r_8_16
// CHECK: uop.range
// CHECK: uop.range
// CHECK: %[[ROW:.*]] = uop.load %arg1{{.*}} -> vector<4xf32>
// CHECK: uop.gep %[[ROW]][0]
// CHECK: uop.store %{{.*}}, %arg2
// CHECK: uop.gep %[[ROW]][3]
// CHECK: uop.store %{{.*}}, %arg2
// CHECK: uop.range
// CHECK: uop.load %arg2{{.*}} -> vector<4xf32>
kernel.func @r_8_16(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>, %memory: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <2>, loop>, #kernel.axis<1, <16>, loop>, #kernel.axis<2, <4>, lane>],
                domain = #kiln.dims<[8, 16]>, index = #kiln.dims<["((_x0{0..1}*4)+_x2{0..3})", "_x1{0..15}"]>, opts = [],
                scratch = #kiln.dims<[64]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(8,16):(16,1)"> : <f32> -> f32
  %1 = kernel.stage %0 walk [#kernel.axis<3, <4>, loop>, #kernel.axis<4, <4>, loop>, #kernel.axis<5, <4>, lane>]
    index <["((_x0{0..1}*4)+_x3{0..3})", "((_x4{0..3}*4)+_x5{0..3})"]>
    layout [#kernel.part<1, 1, <16>>, #kernel.part<0, 1, <4>>] in %memory : !kernel.buffer<f32> : f32
  %2 = kernel.reduce add %1 over [1] : f32
  kernel.store %2, %out <"(8,1):(1,0)"> : f32, <f32>
}
