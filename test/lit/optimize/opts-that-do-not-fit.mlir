// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: UPCAST 1 2'" 2>&1 | FileCheck %s --check-prefix=REDUCED
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: UPCAST 7 2'" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: GROW 0 2'" 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: THREAD 0 2, UPCAST 2 3'" 2>&1 | FileCheck %s --check-prefix=PART
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: GROUP 1 2, LOCAL 0 4'" 2>&1 | FileCheck %s --check-prefix=HELD
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: LOCAL 0 4, STAGE 1 0'" 2>&1 | FileCheck %s --check-prefix=TOTALS

// REDUCED: kernel r_8_4: opt UPCAST 1 2: the axis is reduced: UNROLL it
// UNKNOWN: kernel r_8_4: opt UPCAST 7 2: the kernel has no axis 7
// KIND: 'GROW 0 2' is no opt; write KIND AXIS AMOUNT
// PART: opt UPCAST 2 3: the axis is a part of another, of 4 points: the amount must divide them
// HELD: opt LOCAL 0 4: memory is laid out over the axis already: splits come before STAGE and GROUP
// TOTALS: opt STAGE 1 0: the items of a group would share the totals
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %0 = graph.reduce add %x [1] : tensor<8x4xf32> to tensor<8x1xf32>
  return %0 : tensor<8x1xf32>
}
