// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_n_6_4: LOCAL 1 2, STAGE - 1'" 2>&1 | FileCheck %s
// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_n_6_4: LOCAL 1 2, STAGE 0 1'" | FileCheck %s --check-prefix=ROW

// What the items of a group share lies in local memory, which is declared with a number: a row of four is held, n rows are not.
// CHECK: opt STAGE - 1: the items of a group would share memory whose size only a run knows
// ROW: kernel.stage {{.*}} layout [#kernel.part<
module attributes {kiln.symbols = [#kiln.symbol<"n", 1 to 100, default 1>]} {
  func.func @main(%x: tensor<?x4x6xf32, #kiln.dims<["n{1..100}", 4, 6]>>) -> tensor<?x1x6xf32, #kiln.dims<["n{1..100}", 1, 6]>> {
    %0 = graph.reduce add %x [1] : tensor<?x4x6xf32, #kiln.dims<["n{1..100}", 4, 6]>> to tensor<?x1x6xf32, #kiln.dims<["n{1..100}", 1, 6]>>
    return %0 : tensor<?x1x6xf32, #kiln.dims<["n{1..100}", 1, 6]>>
  }
}
