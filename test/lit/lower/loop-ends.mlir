// RUN: %kiln-opt %s --kiln-optimize-kernels="opts='E_n: TILE 0 64, THREAD 0 0'" --kiln-stage-lower | FileCheck %s

// Chunks of 64 points of an axis of unknown size. The last chunk's loop ends where the domain does, without a test inside.
// CHECK: uop.func @E_n({{.*}}, %[[N:arg2]]: i32)
// CHECK: %[[CHUNK:.*]] = uop.special chunk
// CHECK: %[[PASSED:.*]] = uop.alu mul %[[CHUNK]]
// CHECK: %[[REST:.*]] = uop.alu add %[[PASSED]], %[[N]]
// CHECK: %[[END:.*]] = uop.alu min %[[REST]]
// CHECK: uop.range %{{.*}} = %{{.*}} to %[[END]]
// CHECK-NOT: uop.if
// CHECK-NOT: gate
kernel.func @E_n(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <"n">, loop>], domain = #kiln.dims<["n"]>, index = #kiln.dims<["_x0{0..2147483646}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<["n"]>} {
  %0 = kernel.load %x <"(n):(1)"> : <f32> -> f32
  %1 = kernel.alu neg %0 : (f32) -> f32
  kernel.store %1, %out <"(n):(1)"> : f32, <f32>
}

// Chunks of 64 tiles of 8 points. A chunk's loop over its tiles ends where none begins in the domain any more; of the last tile
// each point is tested.
// RUN: %kiln-opt %s --kiln-optimize-kernels="opts='E_n: UPCAST 0 8, TILE 0 64, THREAD 0 0'" --kiln-stage-lower | FileCheck %s --check-prefix=TILES
// TILES: uop.func @E_n({{.*}}, %[[N:arg2]]: i32)
// TILES: %[[ALL:.*]] = uop.alu idiv
// TILES: %[[REST:.*]] = uop.alu add {{.*}}, %[[ALL]]
// TILES: %[[END:.*]] = uop.alu min %[[REST]]
// TILES: uop.range %{{.*}} = %{{.*}} to %[[END]]
// TILES: uop.if

// Five tiles of 8 points in chunks of 2: tiles divide the domain, so that the one tile of the last chunk is whole.
// RUN: %kiln-opt %s --kiln-optimize-kernels="opts='E_40: UPCAST 0 8, THREAD 0 3'" --kiln-stage-lower | FileCheck %s --check-prefix=WHOLE
// WHOLE: uop.func @E_40(
// WHOLE: %[[END:.*]] = uop.alu min
// WHOLE: uop.range %{{.*}} = %{{.*}} to %[[END]]
// WHOLE-NOT: uop.if
// WHOLE-NOT: gate
kernel.func @E_40(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <"40">, loop>], domain = #kiln.dims<["40"]>, index = #kiln.dims<["_x0{0..39}"]>,
                opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<[]>} {
  %0 = kernel.load %x <"(40):(1)"> : <f32> -> f32
  %1 = kernel.alu neg %0 : (f32) -> f32
  kernel.store %1, %out <"(40):(1)"> : f32, <f32>
}
