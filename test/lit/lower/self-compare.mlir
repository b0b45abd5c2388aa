// RUN: %kiln-opt %s --kiln-stage-lower | FileCheck %s

// An integer equals itself, so no comparison is left; a float need not.
// CHECK-LABEL: uop.func @E_4
// CHECK-NOT: cmpeq
// CHECK: uop.const true
// CHECK-NOT: cmpeq
// CHECK-LABEL: uop.func @E_4n1
// CHECK: uop.alu cmpeq
kernel.func @E_4(%out: !kernel.buffer<i1>, %x: !kernel.buffer<i32>)
    attributes {axes = [#kernel.axis<0, <4>, loop>], domain = #kiln.dims<[4]>, index = #kiln.dims<["_x0{0..3}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(4):(1)"> : <i32> -> i32
  %1 = kernel.alu cmpeq %0, %0 : (i32, i32) -> i1
  kernel.store %1, %out <"(4):(1)"> : i1, <i1>
}
kernel.func @E_4n1(%out: !kernel.buffer<i1>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <4>, loop>], domain = #kiln.dims<[4]>, index = #kiln.dims<["_x0{0..3}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(4):(1)"> : <f32> -> f32
  %1 = kernel.alu cmpeq %0, %0 : (f32, f32) -> i1
  kernel.store %1, %out <"(4):(1)"> : i1, <i1>
}
