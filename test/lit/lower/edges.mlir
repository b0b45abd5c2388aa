// RUN: %kiln-opt %s --kiln-optimize-kernels="opts='E_10: UPCAST 0 4'" --kiln-stage-lower | FileCheck %s --implicit-check-not=gate

// 10 in steps of 4: one test chooses between a copy for four points and one for the two that are left. Neither has gates.
// CHECK: uop.range
// CHECK: uop.if %{{.*}} {
// CHECK-COUNT-4: uop.store
// CHECK: } else {
// CHECK-COUNT-2: uop.store
// CHECK-NOT: uop.store
kernel.func @E_10(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <10>, loop>], domain = #kiln.dims<[10]>, index = #kiln.dims<["_x0{0..9}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(10):(1)"> : <f32> -> f32
  %1 = kernel.alu neg %0 : (f32) -> f32
  kernel.store %1, %out <"(10):(1)"> : f32, <f32>
}
