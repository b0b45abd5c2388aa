// RUN: %kiln-opt %s --kiln-stage-lower | FileCheck %s

// The last of n elements is read once, ahead of the loop; where there are none it would lie before the first.
// CHECK-LABEL: uop.func @E_n_last
// CHECK: %[[SOME:.*]] = uop.alu cmplt %{{.*}}, %{{.*}} : (i64, i64) -> i1
// CHECK-NOT: uop.load
// CHECK: uop.if %[[SOME]]
// CHECK: uop.load %arg1
// CHECK-NEXT: uop.range
kernel.func @E_n_last(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <"n{0..9999999999}">, loop>], domain = #kiln.dims<["n{0..9999999999}"]>,
                index = #kiln.dims<["_x0{0..9999999998}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<["n{0..9999999999}"]>} {
  %0 = kernel.load %x <"(n{0..9999999999}):(0)+(n{0..9999999999}+-1)"> : <f32> -> f32
  kernel.store %0, %out <"(n{0..9999999999}):(1)"> : f32, <f32>
}

// At a fixed place it lies inside, whether anything reads it or not.
// CHECK-LABEL: uop.func @E_n
// CHECK-NOT: uop.if
// CHECK: uop.load %arg1
// CHECK-NEXT: uop.range
kernel.func @E_n(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <"n{0..9999999999}">, loop>], domain = #kiln.dims<["n{0..9999999999}"]>,
                index = #kiln.dims<["_x0{0..9999999998}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<["n{0..9999999999}"]>} {
  %0 = kernel.load %x <"(n{0..9999999999}):(0)+2"> : <f32> -> f32
  kernel.store %0, %out <"(n{0..9999999999}):(1)"> : f32, <f32>
}
