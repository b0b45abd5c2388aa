// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: UPCAST 1 2'" 2>&1 | FileCheck %s --check-prefix=REDUCED
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: UPCAST 7 2'" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: GROW 0 2'" 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: THREAD 0 2, UPCAST 2 3'" 2>&1 | FileCheck %s --check-prefix=PART
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: STAGE 0 1, TILE 1 3'" 2>&1 | FileCheck %s --check-prefix=HELD
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: LOCAL 0 4, STAGE 1 0'" 2>&1 | FileCheck %s --check-prefix=TOTALS
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: SWAP 0 1, STAGE 1 0, TILE 0 4'" 2>&1 | FileCheck %s --check-prefix=MOVED
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: STAGE 0 1, LOCAL 0 4'" 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: STAGE 0 1, THREAD 2 2'" 2>&1 | FileCheck %s --check-prefix=FILLED
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: VECTOR 0 4096'" 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: VECTOR 0 256, UNROLL 1 65'" 2>&1 | FileCheck %s --check-prefix=ELEMENTS
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: STAGE 0 1, SWAP 0 2'" 2>&1 | FileCheck %s --check-prefix=APART
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: STAGE 0 v7'" 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: LOCAL 0 2, GLOBAL 0 0, STAGE 0 1, LOCAL 0 2'" 2>&1 | FileCheck %s --check-prefix=ITEMS
// RUN: not %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_4: STAGE - v1, GLOBAL 1 0'" 2>&1 | FileCheck %s --check-prefix=SAME

// REDUCED: kernel r_8_4: opt UPCAST 1 2: the axis is reduced: UNROLL it
// UNKNOWN: kernel r_8_4: opt UPCAST 7 2: the kernel has no axis 7
// KIND: 'GROW 0 2' is not an opt; did you mean 'GROUP'?
// PART: opt UPCAST 2 3: the axis is a part of another, of 4 points: the amount must divide them
// HELD: opt TILE 1 3: memory is laid out over the axis already: the amount must divide its 4 points
// TOTALS: opt STAGE 1 0: the items of a group would share totals that are held
// MOVED: opt TILE 0 4: points along axis 2 would share totals that are held
// SHARED: opt LOCAL 0 4: the items of a group would share the memory of a stage that is a chunk's
// FILLED: opt THREAD 2 2: axis 2 of a stage cannot be cut into chunks
// LANES: opt VECTOR 0 4096: a vector would have more than 256 lanes
// ELEMENTS: opt UNROLL 1 65: vectors of 256 lanes for 65 unrolled points would have more than 16384 elements
// APART: opt SWAP 0 2: no walk has both axis 0 and axis 2
// VALUE: opt STAGE 0 v7: the kernel has no such value
// ITEMS: opt LOCAL 0 2: a stage would be filled inside axis 5, whose items fill it together
// SAME: opt GLOBAL 1 0: axis 1 cannot be cut into groups, which would write the same elements
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x1xf32> {
  %0 = graph.reduce add %x [1] : tensor<8x4xf32> to tensor<8x1xf32>
  return %0 : tensor<8x1xf32>
}
