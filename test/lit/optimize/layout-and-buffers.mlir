// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_16_32: VECTOR 1 16, TILE 2 8, STAGE 2 2, TILE 5 4, LAYOUT 6 5 7 PAD 4'" | FileCheck %s --check-prefix=PAD
// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_16_32: VECTOR 1 16, TILE 2 8, STAGE 2 2, LAYOUT 5 6 XOR 8 2'" | FileCheck %s --check-prefix=XOR
// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_16_32: VECTOR 1 16, TILE 2 8, STAGE 2 2, BUFFERS 5 3'" | FileCheck %s --check-prefix=BUFFERS
// RUN: %kiln-opt %s --kiln-stage-view --kiln-form-kernels --kiln-normalize-axes \
// RUN:   --kiln-optimize-kernels="opts='r_8_16_32: VECTOR 1 16, TILE 2 8, STAGE 2 2, BUFFERS 5 3, BUFFERS 5 1'" | FileCheck %s --check-prefix=ONE

// Memory goes along the stage's current axes, also along the parts of one that was split, in any order. The elements left
// free after each run are memory too.
// PAD: #kernel.opt<LAYOUT, 6, 0 runs [#kernel.run<6>, #kernel.run<5>, #kernel.run<7 pad 4>]>
// PAD-SAME: scratch = #kiln.dims<[256]>
// PAD: layout [#kernel.part<1, 1, <16>>, #kernel.part<2, 4, <2> pad 4>, #kernel.part<2, 1, <4>>] in

// The rows of the swizzle are runs of the axis that it is said of.
// XOR: #kernel.opt<LAYOUT, 5, 0 runs [#kernel.run<5>, #kernel.run<6 xor 8 of 2>]>
// XOR-SAME: scratch = #kiln.dims<[128]>
// XOR: layout [#kernel.part<2, 1, <8>>, #kernel.part<1, 1, <16>>] swizzle <8 of 2 in 16> in

// The loop that buffers are filled ahead of is the innermost around the stage.
// BUFFERS: scratch = #kiln.dims<[384]>
// BUFFERS: layout [#kernel.part<2, 1, <8>>, #kernel.part<1, 1, <16>>] buffers <3 along 2> in

// ONE: scratch = #kiln.dims<[128]>
// ONE-NOT: buffers
func.func @main(%a: tensor<8x32xf32>, %b: tensor<32x16xf32>) -> tensor<8x16x1xf32> {
  %0 = graph.view %a <"(8,16,32):(32,0,1)"> : tensor<8x32xf32> to tensor<8x16x32xf32>
  %1 = graph.view %b <"(8,16,32):(0,1,16)"> : tensor<32x16xf32> to tensor<8x16x32xf32>
  %2 = graph.alu mul %0, %1 : (tensor<8x16x32xf32>, tensor<8x16x32xf32>) -> tensor<8x16x32xf32>
  %3 = graph.reduce add %2 [2] : tensor<8x16x32xf32> to tensor<8x16x1xf32>
  return %3 : tensor<8x16x1xf32>
}
