// RUN: %kiln-opt %s --kiln-lower-kernels | FileCheck %s

// Where a view reads, as data: 2 - 3i + 4, in lanes of two.
// CHECK-LABEL: uop.func @index
// CHECK: uop.vectorize %{{.*}}, %{{.*}} :
// CHECK: uop.store
kernel.func @index(%out: !kernel.buffer<i32>) attributes {
    domain = #kiln.dims<[8]>, axes = [#kernel.axis<0, <4>, loop>, #kernel.axis<1, <2>, lane>],
    index = #kiln.dims<["_x0{0..3}*2+_x1{0..1}"]>, opts = [#kernel.opt<VECTOR, 0, 2>], scratch = #kiln.dims<[]>,
    sizes = #kiln.dims<[]>} {
  %at = kernel.index <"(8):(-3)+21"> : i32
  kernel.store %at, %out <"(8):(1)"> : i32, <i32>
}
