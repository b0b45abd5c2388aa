// RUN: %kiln-opt %s --kiln-optimize-kernels="opts='r_n_4096: GLOBAL 0 0, STAGE 0 v2'" --kiln-lower-kernels | FileCheck %s --check-prefix=WIDE
// RUN: %kiln-opt %s --kiln-optimize-kernels="opts='r_n_4096: THREAD 0 0, STAGE 0 v2'" --kiln-lower-kernels | FileCheck %s --check-prefix=CHUNK
// RUN: sed s/1048576/1024/g %s | sed s/1048575/1023/g > %t.mlir
// RUN: %kiln-opt %t.mlir --kiln-optimize-kernels="opts='r_n_4096: GLOBAL 0 0, STAGE 0 v2'" --kiln-lower-kernels | FileCheck %s --check-prefix=NARROW

// Each work group has a share of 4096 numbers of scratch, so the last begins past 32 bits where the inputs do not: with as
// many groups as the bounds of n allow, indices have 64 bits, with 1024 they have 32.
// WIDE: uop.special group {{.*}} : i64
// WIDE: uop.store %{{.*}}, %arg3[%{{.*}} : i64]
// NARROW: uop.special group {{.*}} : i32
// NARROW: uop.store %{{.*}}, %arg3[%{{.*}} : i32]

// A chunk has all of what it is given: where its numbers lie does not depend on which chunk it is.
// CHUNK: uop.special chunk {{.*}} : i32
// CHUNK: uop.range %[[STEP:[a-z0-9]+]] =
// CHUNK: uop.store %{{[0-9]+}}, %arg3[%[[STEP]] : i32]
kernel.func @r_n_4096(%out: !kernel.buffer<f32>, %x: !kernel.buffer<f32>, %w: !kernel.buffer<f32>)
    attributes {axes = [#kernel.axis<0, <"n{1..1048576}">, loop>, #kernel.axis<1, <4096>, loop>], domain = #kiln.dims<["n{1..1048576}", 4096]>,
                index = #kiln.dims<["_x0{0..1048575}", "_x1{0..4095}"]>, opts = [], scratch = #kiln.dims<[]>, sizes = #kiln.dims<["n{1..1048576}"]>} {
  %0 = kernel.load %x <"(n{1..1048576},4096):(1,0)"> : <f32> -> f32
  %1 = kernel.load %w <"(n{1..1048576},4096):(0,1)"> : <f32> -> f32
  %2 = kernel.alu mul %0, %1 : (f32, f32) -> f32
  %3 = kernel.reduce add %2 over [1] : f32
  kernel.store %3, %out <"(n{1..1048576},1):(1,0)"> : f32, <f32>
}
